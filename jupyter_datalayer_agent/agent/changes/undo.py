"""Undo and keep: decisions on the changes that a turn made to documents.

Undo is atomic: every document is locked and checked before the first one is changed, and if one
cannot be changed, those before it are restored.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from ...notebook.document import DocumentError
from ...notebook.edits.cell_state import is_blank
from ...notebook.edits.checkpoints import WHOLE_DOCUMENT, CheckpointsInMemory, Names, Recorder
from ...notebook.edits.undo import NotebookState, Span, Undone, edits_between, undo
from ...notebook.files.kinds import is_lexical
from ...notebook.files.restore import Contested, TextSpan, restored
from ...notebook.files.text_files import FileText, TextFiles
from ...notebook.files.text_state import NotText, TextState
from ...notebook.locks import LockedTooLong
from ...notebook.service import NotebookService
from ...protocol import events
from ...protocol.cells import CellEdit
from ...protocol.errors import AgentError
from ...protocol.events import UndoConflict
from ...protocol.ops import Keep, Undo
from ...protocol.tools import Change
from ...store.records import ChangeState, Place
from ..history import Item, user_item
from ..state import SessionState
from .checkpoints import DocumentChanges, open_changes, text_digest

# Undoes a turn's changes to a text file: planned, written, and reversed if another document fails.


@dataclass
class FilePlan:
    """What an undo does with one file in its current state: ``text`` is written, or it is
    ``removed``, or left unchanged because of ``conflicts``."""

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
        # Something else has rewritten it, which the user decides about like any other change.
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
    """The file without the turn's changes. Lexical documents are restored block by block, and all
    others line by line. Contested blocks stay, each with a conflict."""
    if not is_lexical(path):
        return restored(spans, now), []
    from ...notebook.lexical.convert import blocks_markdown
    from ...notebook.lexical.merge import BlocksReverted

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
    """The text as a message shows it: for a Lexical document its Markdown, without outputs."""
    if not is_lexical(path):
        return content
    from ...notebook.lexical.convert import document_markdown
    from ...notebook.lexical.editor_state import EditorState, NotLexical

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
    """Restore what an undo took from the file. Raises ``DocumentError``."""
    now = await files.read_own(path)
    if before is None:
        raise DocumentError("internal", f"{path} was restored, and stays.")
    await files.write(now, before.state)


# What an undo does to each document, and how it is reported to the page and to the model.


NAMED_CELLS = 30
KERNEL_NOTE = "Variables and files they created remain; restart the kernel to clear variables"


@dataclass
class UndoPlan:
    """What an undo changes in one document in its current state.

    ``removed``: the turn created the document, and no one else added anything. ``problem`` is what
    went wrong with a change that was still made: it may not be saved. ``file`` is the plan for a
    text file.
    """

    changes: DocumentChanges
    undone: Undone
    edits: list[CellEdit] = field(default_factory=list)
    removed: bool = False
    conflicts: list[UndoConflict] = field(default_factory=list)
    problem: str | None = None
    file: FilePlan | None = None


def settled_by(plans: Sequence[UndoPlan], *, whole: bool) -> dict[Place, ChangeState]:
    settled: dict[Place, ChangeState] = {}
    for plan in plans:
        changes = plan.changes
        for cell_id in plan.undone.settled:
            settled[changes.path, cell_id] = "undone"
        ended = plan.removed or (whole and not plan.conflicts)
        if changes.made and ended and changes.made_text is None:
            gone = plan.removed or WHOLE_DOCUMENT in plan.undone.settled
            settled[changes.path, WHOLE_DOCUMENT] = "undone" if gone else "kept"
    return settled


def event_of(
    op: Undo, plans: Sequence[UndoPlan], made: list[Change], settled: dict[Place, ChangeState]
) -> events.ChangesUndone:
    conflicts = [conflict for plan in plans for conflict in plan.conflicts]
    ran = any(
        record.left is not None and record.left.ran
        for plan in plans
        for span in plan.changes.spans
        for cell_id, record in span.cells.items()
        if (plan.changes.path, cell_id) in settled
    )
    is_all = op.cell_ids is None and op.paths is None and not conflicts
    ids, files = named(settled, is_all=is_all)
    notes = [plan.problem for plan in plans if plan.problem] + ([KERNEL_NOTE] if ran else [])
    return events.ChangesUndone(
        of_turn_id=op.turn_id,
        changes=made,
        conflicts=conflicts,
        cell_ids=ids,
        files=files,
        note=" ".join(notes) or None,
    )


def named(
    settled: Mapping[Place, ChangeState], *, is_all: bool
) -> tuple[list[str] | None, list[str] | None]:
    """The cells that are settled, None for all of the turn's, and the whole documents."""
    files = [path for path, cell_id in settled if not cell_id] or None
    if is_all:
        return None, files
    return [cell_id for _, cell_id in settled if cell_id], files


def note_of(plans: Sequence[UndoPlan]) -> list[Item]:
    """A note to the model, which would otherwise assume that its changes are still there."""
    reverted = []
    for plan in plans:
        path, ids = plan.changes.path, [each for each in plan.undone.settled if each]
        if plan.removed:
            reverted.append(f"{path}, which you made, is deleted")
        elif plan.file is not None and plan.undone.settled:
            reverted.append(f"{path} is as it was before your changes")
        elif ids:
            more = f" and {len(ids) - NAMED_CELLS} more" if len(ids) > NAMED_CELLS else ""
            named = ", ".join(ids[:NAMED_CELLS])
            reverted.append(
                f"in {path} the cells {named}{more} are as they were before your changes"
            )
    if not reverted:
        return []
    return [
        user_item(
            f"[The user took changes of yours back: {'; '.join(reverted)}. Variables in the "
            "kernel are as they were left. Read again before you change or run any of it.]"
        )
    ]


def beside_text(path: str, edits: Sequence[CellEdit], changes: Sequence[Change]) -> list[Change]:
    """Changes that report cells of which an undo restored only outputs or metadata."""
    known = {each.cell_id for each in changes}
    return [
        Change(
            path=path,
            op="update",
            cell_id=each.cell_id,
            before=each.source,
            after=each.source,
            cell_type=each.type,
        )
        for each in edits
        if each.op == "update" and each.cell is not None and each.cell_id not in known
    ]


log = logging.getLogger(__name__)

LOCK_SECONDS = 5.0
# A batch is refused if someone types in one of its cells between the check and the change.
TRIES = 3


async def keep(session: SessionState, op: Keep) -> None:
    """Settle changes as they are. Raises ``AgentError`` if there are none to settle."""
    changes = await _to_decide(session, op)
    settled: dict[Place, ChangeState] = {
        (each.path, cell_id): "kept"
        for each in changes
        for cell_id in each.ids
        if op.cell_ids is None or cell_id in op.cell_ids
    }
    ids, files = named(settled, is_all=op.cell_ids is None and op.paths is None)
    event = events.ChangesKept(of_turn_id=op.turn_id, cell_ids=ids, files=files)
    await _settle(session, op.turn_id, settled, event)


async def take_back(session: SessionState, op: Undo) -> None:
    """Undo changes, and report what was changed and what was left. Raises ``AgentError``."""
    changes = await _to_decide(session, op)
    notebooks = session.runtime.notebooks
    async with AsyncExitStack() as locks:
        for each in sorted(changes, key=lambda each: each.path):
            try:
                await locks.enter_async_context(notebooks.lock(each.path, LOCK_SECONDS))
            except LockedTooLong as error:
                raise AgentError(
                    "turn_in_progress",
                    f"Cells of {each.path} are running for another conversation. Nothing was "
                    "undone. Try again when they have finished.",
                ) from error
        undoing = _Undoing(notebooks, op.cell_ids, op.overwrite)
        plans = await undoing.carry_out(changes)
        settled = settled_by(plans, whole=op.cell_ids is None)
        event = event_of(op, plans, undoing.made, settled)
        note = note_of(plans)

        def remember() -> None:
            for item in note:
                session.history.note(item)
            for plan in plans:
                session.seen.forget(plan.changes.path, plan.undone.settled)
                if plan.removed and plan.changes.path in session.created:
                    session.created.remove(plan.changes.path)

        try:
            await _settle(session, op.turn_id, settled, event, note, remember)
        except AgentError as error:
            await undoing.reverse(error.message)
            raise


async def _to_decide(session: SessionState, op: Undo | Keep) -> list[DocumentChanges]:
    """The documents with open changes that the op is about."""
    if session.turn is not None:
        raise AgentError(
            "turn_in_progress",
            "A turn is running. Wait for it to end, or stop it, then decide on the changes.",
        )
    store = session.runtime.store
    await session.runtime.notebooks.renames.recorded()
    changes = [
        each
        for each in await open_changes(store, op.turn_id)
        if (op.cell_ids is None or set(op.cell_ids) & set(each.ids))
        and (op.paths is None or each.path in op.paths)
    ]
    if changes:
        return changes
    states = {
        state
        for (path, cell_id), state in (await store.checkpoints.states(op.turn_id)).items()
        if (op.cell_ids is None or cell_id in op.cell_ids)
        and (op.paths is None or path in op.paths)
    }
    if not states:
        raise AgentError("not_found", "The turn made no changes there that can be undone.")
    done = " or ".join(sorted({"kept": "kept", "undone": "undone"}[each] for each in states))
    raise AgentError("invalid_request", f"These changes are already {done}; nothing was changed.")


class _Undoing:
    """One undo in all its documents. ``made`` are the changes that it made to them."""

    def __init__(
        self, notebooks: NotebookService, wanted: Collection[str] | None, overwrite: bool
    ) -> None:
        self.made: list[Change] = []
        self._plain = notebooks
        self._before = CheckpointsInMemory()
        self._notebooks = notebooks.recording(Recorder(self._before))
        self._wanted = wanted
        self._overwrite = overwrite
        self._changed: list[str] = []
        self._files: dict[str, FileText | None] = {}

    async def carry_out(self, changes: Sequence[DocumentChanges]) -> list[UndoPlan]:
        """Plan everything, then change it. Raises ``AgentError`` if nothing could be done."""
        try:
            plans = [await self._plan(each) for each in changes]
        except DocumentError as error:
            raise _refusal(error) from error
        try:
            # Documents are removed last, since that cannot be reversed here.
            for plan in sorted(plans, key=lambda plan: plan.removed):
                await self._apply(plan)
        except DocumentError as error:
            await self.reverse(error.message)
            raise _refusal(error) from error
        return plans

    async def _plan(self, changes: DocumentChanges) -> UndoPlan:
        if changes.made and not await self._plain.exists(changes.path):
            # It is already as it was before the turn.
            ids = [each for each in changes.ids if self._wanted is None or each in self._wanted]
            return UndoPlan(changes, Undone(NotebookState([], {}), [], ids, set()))
        if changes.is_text:
            return await self._plan_file(changes)
        document = await self._plain.open(changes.path)
        notebook = await document.read([each for each in changes.ids if each], whole=True)
        names = Names()
        if not notebook.ids_kept:
            notebook = await document.read(whole=True)
            names = Names.recorded(changes.spans, notebook.cells)
        cells = {cell.id: cell.cell for cell in notebook.cells if cell.cell is not None}
        now = names.given(NotebookState(list(notebook.order or ()), cells), changes.ids)
        undone = undo(changes.spans, now, self._wanted, overwrite=self._overwrite)
        removed = await self._may_be_removed(changes, undone)
        return UndoPlan(
            changes=changes,
            undone=undone,
            edits=[] if removed else names.edits(edits_between(now, undone)),
            removed=removed,
            conflicts=[
                UndoConflict(
                    path=changes.path,
                    cell_id=each.cell_id,
                    before=each.before,
                    after=each.after,
                    now=each.now,
                )
                for each in undone.conflicts
            ],
        )

    async def _plan_file(self, changes: DocumentChanges) -> UndoPlan:
        file = await plan_file(self._plain.text_files, changes, self._overwrite)
        settled = [] if file.conflicts else [WHOLE_DOCUMENT]
        undone = Undone(NotebookState([], {}), [], settled, set())
        return UndoPlan(changes, undone, removed=file.removed, conflicts=file.conflicts, file=file)

    async def _may_be_removed(self, changes: DocumentChanges, undone: Undone) -> bool:
        """Whether the turn created the notebook and no one else added anything to it. Overwriting
        the last conflict in it completes the undo that began it.
        """
        last = self._overwrite and not set(changes.ids) - {WHOLE_DOCUMENT, *(self._wanted or ())}
        whole = self._wanted is None or last
        if not changes.made or not whole or undone.conflicts:
            return False
        others = [each for each in undone.state.order if each not in undone.state.cells]
        cells = list(undone.state.cells.values())
        if others:
            document = await self._plain.open(changes.path)
            read = await document.read(others, whole=True)
            cells += [cell.cell for cell in read.cells if cell.cell is not None]
        return all(is_blank(cell) for cell in cells)

    async def _apply(self, plan: UndoPlan) -> None:
        path = plan.changes.path
        if plan.removed:
            await self._plain.delete(path)
            self.made.append(Change(path=path, op="delete"))
            return
        if plan.file is not None:
            await self._apply_file(plan, plan.file)
            return
        for attempt in range(TRIES):
            if not plan.edits:
                return
            try:
                document = await self._notebooks.open(path)
                applied = await document.edit(plan.edits)
            except DocumentError as error:
                again = await self._plan(plan.changes)
                if again.removed or (again.edits and (error.code != "stale" or attempt == 2)):
                    raise
                # Someone typed meanwhile, or the change is in the page and could not be saved.
                if not again.edits:
                    plan.problem = error.message
                    self._changed.append(path)
                plan.undone, plan.edits = again.undone, again.edits
                plan.conflicts = again.conflicts
                continue
            self._changed.append(path)
            self.made += [*applied.changes, *beside_text(path, plan.edits, applied.changes)]
            return

    async def _apply_file(self, plan: UndoPlan, file: FilePlan) -> None:
        path = plan.changes.path
        for attempt in range(TRIES):
            try:
                change = await write_file(self._plain.text_files, path, file)
            except DocumentError as error:
                # Someone typed meanwhile.
                if error.code != "stale" or attempt == TRIES - 1:
                    raise
                again = await self._plan_file(plan.changes)
                plan.undone, plan.conflicts, plan.file = again.undone, again.conflicts, again.file
                file = again.file or file
                continue
            if change is not None:
                self._files[path] = file.now
                self.made.append(change)
            return

    async def reverse(self, why: str) -> None:
        """Restore the documents. Raises ``AgentError`` if that fails too."""
        left = []
        for path in [*reversed(self._files), *reversed(self._changed)]:
            try:
                if path in self._files:
                    await reverse_file(self._plain.text_files, path, self._files[path])
                else:
                    await self._reverse(path, self._before.spans(path))
            except DocumentError:
                log.exception("%s could not be given back what an undo took", path)
                left.append(path)
        self._changed.clear()
        self._files.clear()
        left += [
            change.path for change in self.made if change.op == "delete" and not change.cell_id
        ]
        if left:
            raise AgentError(
                "internal",
                f"The undo failed: {why} It still took effect in {', '.join(left)}, and in no "
                "other document.",
            )

    async def _reverse(self, path: str, spans: Sequence[Span]) -> None:
        document = await self._plain.open(path)
        ids = [cell_id for span in spans for cell_id in span.cells]
        notebook = await document.read(ids, whole=True)
        cells = {cell.id: cell.cell for cell in notebook.cells if cell.cell is not None}
        now = NotebookState(list(notebook.order or ()), cells)
        await document.edit(edits_between(now, undo(spans, now)))


def _refusal(error: DocumentError) -> AgentError:
    if error.code == "not_found":
        return AgentError(
            "not_found",
            f"Nothing was undone: {error.message} It may have been renamed or deleted since.",
        )
    return AgentError("internal", f"Nothing was undone: {error.message}")


async def _settle(
    session: SessionState,
    turn_id: str,
    settled: dict[Place, ChangeState],
    event: events.BaseEvent,
    items: Sequence[Item] = (),
    remember: Callable[[], None] = lambda: None,
) -> None:
    """Store what was decided; ``remember`` updates the memory before it is emitted."""
    await session.runtime.store.checkpoints.settle(
        session.id, turn_id, settled, events=[event], items=items
    )
    remember()
