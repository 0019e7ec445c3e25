"""Undo of a turn's changes to a text file: planned, written, and reversed if another one fails."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from ...notebook.document import DocumentError
from ...notebook.files.restore import Contested, restored
from ...notebook.files.text_files import FileText, TextFiles
from ...notebook.files.text_state import TextState
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
        if error.code != "not_found" or before is None:
            raise
        if overwrite:
            return FilePlan(text=before)
        return FilePlan(conflicts=[_conflict(changes, None)])
    try:
        text = await asyncio.to_thread(restored, changes.texts, now.state)
        if before is None and text_digest(text.raw) != changes.made_text:
            raise Contested
    except Contested:
        if not overwrite:
            return FilePlan(conflicts=[_conflict(changes, now)])
        if before is not None:
            return FilePlan(now=now, text=now.state.with_content(before.content))
        return FilePlan(removed=True)
    if before is None:
        return FilePlan(removed=True)
    return FilePlan(now=now, text=None if text.raw == now.state.raw else text)


def _conflict(changes: DocumentChanges, now: FileText | None) -> UndoConflict:
    spans = changes.texts
    known = bool(spans) and not changes.made
    return UndoConflict(
        path=changes.path,
        cell_id="",
        before=spans[0].before.content if known else None,
        after=spans[-1].left.content if known else None,
        now=None if now is None else now.content,
    )


async def write_file(files: TextFiles, path: str, plan: FilePlan) -> Change | None:
    """Carry out the plan of a file that is not removed. Raises ``DocumentError``."""
    if plan.text is None:
        return None
    if plan.now is None:
        after = await files.restore(path, plan.text)
        return Change(path=path, op="create", after=after.content)
    after = await files.write(plan.now, plan.text)
    return Change(path=path, op="update", before=plan.now.content, after=after.content)


async def reverse_file(files: TextFiles, path: str, before: FileText | None) -> None:
    """Give the file back what an undo took. Raises ``DocumentError``."""
    now = await files.read_own(path)
    if before is None:
        raise DocumentError("internal", f"{path} was restored, and stays.")
    await files.write(now, before.state)
