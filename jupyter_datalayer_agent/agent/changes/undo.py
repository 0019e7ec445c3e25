"""Undo and keep: decisions on the changes that a turn made to documents.

An undo is atomic: every document is locked and checked before the first one is changed, and if one
of them cannot be changed, those before it are restored.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import AsyncExitStack

from ...notebook.document import DocumentError
from ...notebook.edits.cell_state import is_blank
from ...notebook.edits.checkpoints import WHOLE_DOCUMENT, CheckpointsInMemory, Recorder
from ...notebook.edits.recorded_names import Names
from ...notebook.edits.undo import NotebookState, Span, Undone, edits_between, undo
from ...notebook.files.text_files import FileText
from ...notebook.locks import LockedTooLong
from ...notebook.service import NotebookService
from ...protocol import events
from ...protocol.errors import AgentError
from ...protocol.events import UndoConflict
from ...protocol.ops import Keep, Undo
from ...protocol.tools import Change
from ...store.records import ChangeState, Place
from ..history.history import Item
from ..state import SessionState
from .checkpoints import DocumentChanges, open_changes
from .undo_files import FilePlan, plan_file, reverse_file, write_file
from .undo_outcome import UndoPlan, beside_text, event_of, named, note_of, settled_by

log = logging.getLogger(__name__)

LOCK_SECONDS = 5.0
# A batch is refused when somebody types in one of its cells between the check and the change.
TRIES = 3


async def keep(session: SessionState, op: Keep) -> None:
    """Settle changes as they are. Raises ``AgentError`` where nothing is open."""
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
    """Undo changes, and emit what was changed and what was left. Raises ``AgentError``."""
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
                    "undone; try again when they have finished.",
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
            "A turn is running. Wait for its end or stop it, then decide on the changes.",
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
        raise AgentError("not_found", "The turn changed nothing there that could be undone.")
    done = " or ".join(sorted({"kept": "kept", "undone": "undone"}[each] for each in states))
    raise AgentError("invalid_request", f"These changes are already {done}; nothing was changed.")


class _Undoing:
    """One undo across its documents. ``made`` are the changes that it made to them."""

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
        """Plan all, then change all. Raises ``AgentError`` when nothing could be done."""
        try:
            plans = [await self._plan(each) for each in changes]
        except DocumentError as error:
            raise _refusal(error) from error
        try:
            # Documents are removed last: that cannot be reversed here.
            for plan in sorted(plans, key=lambda plan: plan.removed):
                await self._apply(plan)
        except DocumentError as error:
            await self.reverse(error.message)
            raise _refusal(error) from error
        return plans

    async def _plan(self, changes: DocumentChanges) -> UndoPlan:
        if changes.made and not await self._plain.exists(changes.path):
            # It is as it was before the turn.
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
        """Whether the turn created the notebook and nothing in it is from anybody else. Overwriting
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
                # Somebody typed meanwhile; or the change is in the page and could not be saved.
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
                # Somebody typed meanwhile.
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
                f"The undo failed: {why} It was carried out in {', '.join(left)} all the same, "
                "and in no other document.",
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
