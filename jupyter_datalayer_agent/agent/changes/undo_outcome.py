"""What an undo does to each document, and what is said of it: to the page and to the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...notebook.edits.checkpoints import WHOLE_DOCUMENT
from ...notebook.edits.undo import Undone
from ...protocol import events
from ...protocol.cells import CellEdit
from ...protocol.events import UndoConflict
from ...protocol.ops import Undo
from ...protocol.tools import Change
from ...store.records import ChangeState, Place
from ..history.history import Item, user_item
from .checkpoints import DocumentChanges
from .undo_files import FilePlan

NAMED_CELLS = 30
KERNEL_NOTE = "Variables and files they created remain; restart the kernel to clear variables"


@dataclass
class UndoPlan:
    """What an undo changes in one document, as it is now.

    ``removed``: the turn created the document, and nobody else added anything. ``problem`` is what
    went wrong with a change that was made all the same: it may not be saved. ``file`` is the plan
    for a text file.
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
    """The cells that are settled, None for all of the turn's, and the documents as a whole."""
    files = [path for path, cell_id in settled if not cell_id] or None
    if is_all:
        return None, files
    return [cell_id for _, cell_id in settled if cell_id], files


def note_of(plans: Sequence[UndoPlan]) -> list[Item]:
    """A note to the model, which would otherwise believe that its changes are still there."""
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
    """Of the cells of which an undo restored outputs or metadata alone, that they were restored."""
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
