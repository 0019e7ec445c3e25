"""Undo and keep: decisions on the changes that a turn made to documents.

An undo is atomic: every document is locked and checked before the first one is changed, and if one
of them cannot be changed, those before it are restored.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from ...notebook.document import DocumentError
from ...notebook.edits.cell_state import is_blank
from ...notebook.edits.checkpoints import WHOLE_DOCUMENT, CheckpointsInMemory, Recorder
from ...notebook.edits.undo import NotebookState, Span, Undone, edits_between, undo
from ...notebook.locks import LockedTooLong
from ...notebook.service import NotebookService
from ...protocol import events
from ...protocol.cells import CellEdit
from ...protocol.errors import AgentError
from ...protocol.events import UndoConflict
from ...protocol.ops import AskAgain, ChooseAnswer, GoBack, Keep, Synthesise, Undo
from ...protocol.tools import Change
from ...store.records import ChangeState, Place
from ..history.history import Item, user_item
from ..state import SessionState
from .checkpoints import DocumentChanges, open_changes, text_digest

log = logging.getLogger(__name__)

LOCK_SECONDS = 5.0
# A batch is refused when somebody types in one of its cells between the check and the change.
TRIES = 3
NAMED_CELLS = 30
KERNEL_NOTE = "Variables and files they created remain; restart the kernel to clear variables"


@dataclass
class UndoPlan:
    """What an undo changes in one document, as it is now.

    ``removed``: the turn created the document, and nobody else added anything. ``problem`` is what
    went wrong with a change that was made all the same: it may not be saved.
    """

    changes: DocumentChanges
    undone: Undone
    edits: list[CellEdit] = field(default_factory=list)
    removed: bool = False
    conflicts: list[UndoConflict] = field(default_factory=list)
    problem: str | None = None


OfTurn = Undo | Keep | GoBack | AskAgain | Synthesise | ChooseAnswer


async def check(session: SessionState, op: OfTurn) -> None:
    """Raises ``AgentError`` ``not_found`` unless the op is about a turn of this session."""
    if await session.services.store.turn_reader.session_of(op.turn_id) != session.id:
        raise AgentError("not_found", f"There is no turn {op.turn_id} in this session.")


async def keep(session: SessionState, op: Keep) -> None:
    """Settle changes as they are. Raises ``AgentError`` where nothing is open."""
    changes = await _to_decide(session, op)
    settled: dict[Place, ChangeState] = {
        (each.path, cell_id): "kept"
        for each in changes
        for cell_id in each.ids
        if op.cell_ids is None or cell_id in op.cell_ids
    }
    event = events.ChangesKept(of_turn_id=op.turn_id, cell_ids=op.cell_ids)
    await _settle(session, op.turn_id, settled, event)


async def take_back(session: SessionState, op: Undo) -> None:
    """Undo changes, and emit what was changed and what was left. Raises ``AgentError``."""
    changes = await _to_decide(session, op)
    notebooks = session.services.notebooks
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
        settled = _settled(plans, whole=op.cell_ids is None)
        event = _event(op, plans, undoing.made, settled)
        note = _note(plans)

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
    await check(session, op)
    if session.turn is not None:
        raise AgentError(
            "turn_in_progress",
            "A turn is running. Wait for its end or stop it, then decide on the changes.",
        )
    store = session.services.store
    changes = [
        each
        for each in await open_changes(store, op.turn_id)
        if op.cell_ids is None or set(op.cell_ids) & set(each.ids)
    ]
    if changes:
        return changes
    states = {
        state
        for (_, cell_id), state in (await store.checkpoints.states(op.turn_id)).items()
        if op.cell_ids is None or cell_id in op.cell_ids
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
        if changes.made_text is not None:
            return await self._plan_file(changes, changes.made_text)
        document = await self._plain.open(changes.path)
        notebook = await document.read([each for each in changes.ids if each], whole=True)
        cells = {cell.id: cell.cell for cell in notebook.cells if cell.cell is not None}
        now = NotebookState(list(notebook.order or ()), cells)
        undone = undo(changes.spans, now, self._wanted, overwrite=self._overwrite)
        removed = await self._may_be_removed(changes, undone)
        return UndoPlan(
            changes=changes,
            undone=undone,
            edits=[] if removed else edits_between(now, undone),
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

    async def _plan_file(self, changes: DocumentChanges, made_text: str) -> UndoPlan:
        now = await self._plain.text_of(changes.path)
        undone = Undone(NotebookState([], {}), [], [WHOLE_DOCUMENT], set())
        if self._overwrite or text_digest(now) == made_text:
            return UndoPlan(changes, undone, removed=True)
        undone.settled = []
        conflict = UndoConflict(path=changes.path, cell_id=WHOLE_DOCUMENT, now=now)
        return UndoPlan(changes, undone, conflicts=[conflict])

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
            self.made += applied.changes
            return

    async def reverse(self, why: str) -> None:
        """Restore the documents. Raises ``AgentError`` if that fails too."""
        left = []
        for path in reversed(self._changed):
            try:
                await self._reverse(path, self._before.spans(path))
            except DocumentError:
                log.exception("%s could not be given back what an undo took", path)
                left.append(path)
        self._changed.clear()
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


def _settled(plans: Sequence[UndoPlan], *, whole: bool) -> dict[Place, ChangeState]:
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


def _event(
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
    ids = None if op.cell_ids is None and not conflicts else [each for _, each in settled if each]
    notes = [plan.problem for plan in plans if plan.problem] + ([KERNEL_NOTE] if ran else [])
    return events.ChangesUndone(
        of_turn_id=op.turn_id,
        changes=made,
        conflicts=conflicts,
        cell_ids=ids,
        note=" ".join(notes) or None,
    )


def _note(plans: Sequence[UndoPlan]) -> list[Item]:
    """A note to the model, which would otherwise believe that its changes are still there."""
    reverted = []
    for plan in plans:
        path, ids = plan.changes.path, [each for each in plan.undone.settled if each]
        if plan.removed:
            reverted.append(f"{path}, which you made, is deleted")
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
            "kernel are as they were left. Read the cells again before you change or run them.]"
        )
    ]


async def _settle(
    session: SessionState,
    turn_id: str,
    settled: dict[Place, ChangeState],
    event: events.BaseEvent,
    items: Sequence[Item] = (),
    remember: Callable[[], None] = lambda: None,
) -> None:
    """Store what was decided; ``remember`` updates the memory before it is emitted."""
    await session.services.store.checkpoints.settle(
        session.id, turn_id, settled, events=[event], items=items
    )
    remember()
