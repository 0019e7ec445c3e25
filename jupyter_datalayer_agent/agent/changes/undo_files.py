"""Undo of a turn's changes to a text file: planned, written, and reversed if another one fails."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...notebook.document import DocumentError
from ...notebook.files.kinds import is_lexical
from ...notebook.files.restore import Contested, TextSpan, restored
from ...notebook.files.text_files import FileText, TextFiles
from ...notebook.files.text_state import NotText, TextState
from ...protocol.events import UndoConflict
from ...protocol.tools import Change
from .checkpoints import DocumentChanges, text_digest


@dataclass
class FilePlan:
    """What an undo does with one file, as it is now: ``text`` is written, or it is ``removed``, or
    left as it is with ``conflicts``."""

    removed: bool = False
    now: FileText | None = None
    text: TextState | None = None
    conflicts: list[UndoConflict] = field(default_factory=list)


async def plan_file(files: TextFiles, changes: DocumentChanges, overwrite: bool) -> FilePlan:
    """Compare the file with what the turn found and left. Raises ``DocumentError``."""
    path = changes.path
    before = None if changes.made else changes.texts[0].before
    try:
        now = await files.read_own(path)
    except DocumentError as error:
        # Something else has written it anew: that is the user's to decide, as any other change.
        is_no_text = error.code == "too_large" or isinstance(error.__cause__, NotText)
        if not is_no_text and (error.code != "not_found" or before is None):
            raise
        if overwrite:
            return FilePlan(removed=before is None, text=before)
        shown = f"[{error.message}]" if is_no_text else None
        return FilePlan(conflicts=[_conflict(changes, shown)])
    try:
        text, contested = await asyncio.to_thread(
            _restored, path, changes.texts, now.state, overwrite
        )
        if before is None and text_digest(text.raw) != changes.made_text:
            raise Contested
    except Contested:
        if not overwrite:
            return FilePlan(conflicts=[_conflict(changes, _said(path, now.content))])
        if before is not None:
            return FilePlan(now=now, text=now.state.with_content(before.content))
        return FilePlan(removed=True)
    if before is None:
        return FilePlan(removed=True)
    return FilePlan(now=now, text=None if text.raw == now.state.raw else text, conflicts=contested)


def _restored(
    path: str, spans: Sequence[TextSpan], now: TextState, overwrite: bool
) -> tuple[TextState, list[UndoConflict]]:
    """The file without the turn's changes. Lexical documents are restored block by block: of
    contested blocks, which stay, there is a conflict. All others are restored line by line."""
    if not is_lexical(path):
        return restored(spans, now), []
    from ...notebook.lexical.merge import BlocksReverted
    from ...notebook.lexical.whole_markdown import blocks_markdown

    reverted = BlocksReverted(overwrite)
    text = restored(spans, now, reverted)
    if overwrite or not reverted.contested:
        return text, []
    before, after, current = (
        blocks_markdown([text for each in reverted.contested for text in getattr(each, side)])
        for side in ("before", "left", "now")
    )
    return text, [UndoConflict(path=path, cell_id="", before=before, after=after, now=current)]


def _conflict(changes: DocumentChanges, now: str | None) -> UndoConflict:
    spans = changes.texts
    known = bool(spans) and not changes.made
    return UndoConflict(
        path=changes.path,
        cell_id="",
        before=_said(changes.path, spans[0].before.content) if known else None,
        after=_said(changes.path, spans[-1].left.content) if known else None,
        now=now,
    )


def _said(path: str, content: str) -> str:
    """What a message shows of a text: for a Lexical document its Markdown, without outputs."""
    if not is_lexical(path):
        return content
    from ...notebook.lexical.editor_state import EditorState, NotLexical
    from ...notebook.lexical.whole_markdown import document_markdown

    try:
        return document_markdown(EditorState.parse(content))
    except NotLexical:
        return content


async def write_file(files: TextFiles, path: str, plan: FilePlan) -> Change | None:
    """Carry out the plan of a file that is not removed. Raises ``DocumentError``."""
    if plan.text is None:
        return None
    if plan.now is None:
        after = await files.restore(path, plan.text)
        return Change(path=path, op="create", after=_said(path, after.content))
    after = await files.write(plan.now, plan.text)
    before = _said(path, plan.now.content)
    return Change(path=path, op="update", before=before, after=_said(path, after.content))


async def reverse_file(files: TextFiles, path: str, before: FileText | None) -> None:
    """Give the file back what an undo took. Raises ``DocumentError``."""
    now = await files.read_own(path)
    if before is None:
        raise DocumentError("internal", f"{path} was restored, and stays.")
    await files.write(now, before.state)
