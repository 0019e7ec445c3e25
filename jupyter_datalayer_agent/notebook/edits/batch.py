"""A batch of edits on a list of nbformat cells: pure, and applied whole or not at all.

Cells are found by id, never by index. What an edit does not name (metadata, attachments, outputs,
execution count) stays as it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from typing_extensions import assert_never

from ...protocol.cells import (
    CellEdit,
    CellPosition,
    DeleteCell,
    InsertCell,
    MoveCell,
    PageCell,
    SetOutputs,
    UpdateCell,
    line_feeds,
)
from ...protocol.context import CellType
from ...protocol.tools import Change
from ..agent_mark import is_held_back, made_by_agent, may_load
from ..document import DocumentError

# Cells that are locked: by nbformat's ``editable`` and ``deletable``, or by nbgrader.
#
# As in JupyterLab a lock is about a cell's text and about the cell itself: a locked cell can be run
# and moved, and its outputs can be cleared.


Lock = Literal["editable", "deletable"]
_WORDS: dict[Lock, tuple[str, str]] = {
    "editable": ("changed", "not editable"),
    "deletable": ("deleted", "not deletable"),
}


def lock_of(cell: Mapping[str, Any], lock: Lock) -> str | None:
    """The metadata that locks the cell, as it is written; None if it is not locked."""
    metadata = cell.get("metadata", {})
    if metadata.get(lock) is False:
        return f'"{lock}": false'
    nbgrader = metadata.get("nbgrader")
    if isinstance(nbgrader, Mapping) and nbgrader.get("locked") is True:
        return '"nbgrader": {"locked": true}'
    return None


def check_unlocked(cell: Mapping[str, Any], index: int, lock: Lock) -> None:
    """Raise ``DocumentError`` for a cell that may not be edited, or deleted."""
    found = lock_of(cell, lock)
    if found is None:
        return
    verb, meaning = _WORDS[lock]
    raise DocumentError(
        "not_allowed",
        f"Cell {index + 1} ({cell['id']}) is locked and cannot be {verb}: its metadata has "
        f"{found}, {meaning}. Nothing was changed.",
        "Leave the cell as it is, and put new code in a cell of its own. If the change is needed, "
        "ask the user to remove that lock first (in JupyterLab: Property Inspector, Advanced "
        "Tools, Cell Metadata).",
    )


Cell = dict[str, Any]
_CELL_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")  # nbformat 4.5's schema
_READ_AGAIN = "Read the notebook again; cells are addressed by the ids that it shows."


def source_hash(source: str) -> str:
    """SHA-256 of the source in UTF-8, hexadecimal."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


def source_of(cell: Mapping[str, Any]) -> str:
    """A cell's source as one text; files may hold it as a list of lines, or none at all."""
    source = cell.get("source")
    if isinstance(source, list):
        return "".join(source)
    return source if isinstance(source, str) else ""


def type_of(cell: Mapping[str, Any]) -> CellType:
    """A cell's type; Jupyter serves cells of other types too, whose text is nothing to run."""
    kind = cell["cell_type"]
    return kind if kind in ("code", "markdown") else "raw"


def outputs_of(cell: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A code cell's outputs; files may lack them, and have some on cells that are no code."""
    outputs = cell.get("outputs")
    return list(outputs) if isinstance(outputs, list) and cell["cell_type"] == "code" else []


def execution_count_of(cell: Mapping[str, Any]) -> int | None:
    """A cell's execution count, if it has one."""
    count = cell.get("execution_count")
    return count if isinstance(count, int) else None


def page_cell(
    cell: Mapping[str, Any], index: int, *, outputs: bool = False, whole: bool = False
) -> PageCell:
    """A nbformat cell in wire format, on request with outputs or ``whole``."""
    source = source_of(cell)
    kind = type_of(cell)
    shown = outputs_of(cell)
    return PageCell(
        id=cell["id"],
        index=index,
        type=kind,
        source=source,
        hash=source_hash(source),
        has_output=bool(shown),
        outputs=shown if outputs and kind == "code" else None,
        execution_status="idle" if kind == "code" else None,
        execution_count=execution_count_of(cell) if kind == "code" else None,
        cell=dict(cell) if whole else None,
    )


@dataclass
class EditedCells:
    """The cells after a batch, what changed, and the ids of the cells that it touched.

    ``whole`` are those that an edit gave whole, as when they are restored; ``removed`` are gone.
    """

    cells: list[Cell]
    changes: list[Change] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    whole: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()


def apply_edits(cells: Sequence[Cell], edits: Iterable[CellEdit], path: str = "") -> EditedCells:
    """Apply a batch to a copy of the list; the cells passed in are not changed.

    Each edit sees the ones before it, so a position may name a cell inserted earlier in the batch.
    Raises ``DocumentError``, with nothing applied: ``not_found`` for an unknown id, ``stale`` (with
    the current cells) if a source is not the one an edit was based on, ``invalid_arguments`` for a
    contradictory batch.
    """
    batch = _Batch(cells)
    for edit in edits:
        batch.apply(edit)
    return batch.finish(path)


class _Batch:
    def __init__(self, cells: Sequence[Cell]) -> None:
        self.order: list[str] = [cell["id"] for cell in cells]
        self.before = frozenset(self.order)
        self.cells: dict[str, Cell] = {cell["id"]: cell for cell in cells}
        self.original: dict[str, str] = {}
        self.done: list[tuple[Change, str]] = []
        self.touched: dict[str, None] = {}
        self.whole: set[str] = set()

    def apply(self, edit: CellEdit) -> None:
        match edit:
            case InsertCell():
                self.insert(edit)
            case UpdateCell():
                self.update(edit)
            case DeleteCell():
                self.delete(edit)
            case MoveCell():
                self.move(edit)
            case SetOutputs():
                self.set_outputs(edit)
            case _:
                assert_never(edit)

    def insert(self, edit: InsertCell) -> None:
        if edit.cell_id in self.cells:
            raise DocumentError(
                "invalid_arguments", f"The notebook already has a cell with id {edit.cell_id}."
            )
        if edit.cell is None and not _CELL_ID.match(edit.cell_id):
            raise DocumentError(
                "invalid_arguments",
                f"{edit.cell_id[:80]!r} cannot be a cell id.",
                "Use 1 to 64 letters, digits, - or _.",
            )
        self.order.insert(self.place(edit.position), edit.cell_id)
        self.note_whole(edit)
        self.cells[edit.cell_id] = (
            _written(new_cell(edit.cell_id, edit.type, edit.source))
            if edit.cell is None
            else _whole(edit.cell_id, edit.type, edit.source, edit.cell)
        )
        self.note("insert", edit.cell_id, None, edit.source, edit.type)

    def update(self, edit: UpdateCell) -> None:
        cell = self.based_on(edit.cell_id, edit.base_hash)
        before = source_of(cell)
        after = before if edit.source is None else edit.source
        if edit.cell is None and after == line_feeds(before):
            after = before
        kind = edit.type or type_of(cell)
        if after != before or kind != type_of(cell):
            check_unlocked(cell, self.order.index(edit.cell_id), "editable")
        self.touched[edit.cell_id] = None
        self.note_whole(edit)
        if edit.cell is not None:
            self.cells[edit.cell_id] = _whole(edit.cell_id, kind, after, edit.cell)
        if after == before and kind == type_of(cell):
            return
        changed = retyped(self.cells[edit.cell_id], kind)
        if source_of(changed) != after:
            changed["source"] = after
        self.original.setdefault(edit.cell_id, edit.base_hash)
        self.cells[edit.cell_id] = changed if edit.cell is not None else _written(changed)
        self.note("update", edit.cell_id, before, after, kind)

    def delete(self, edit: DeleteCell) -> None:
        cell = self.based_on(edit.cell_id, edit.base_hash)
        check_unlocked(cell, self.order.index(edit.cell_id), "deletable")
        self.note("delete", edit.cell_id, source_of(cell), None, type_of(cell))
        self.order.remove(edit.cell_id)
        del self.cells[edit.cell_id]
        self.touched.pop(edit.cell_id, None)

    def move(self, edit: MoveCell) -> None:
        cell = self.find(edit.cell_id)
        if edit.cell_id in (edit.position.after, edit.position.before):
            raise DocumentError(
                "invalid_arguments", f"Cell {edit.cell_id} cannot be moved next to itself."
            )
        self.check_position(edit.position)
        place = self.order.index(edit.cell_id)
        self.order.remove(edit.cell_id)
        self.order.insert(self.place(edit.position), edit.cell_id)
        self.touched[edit.cell_id] = None
        if self.order.index(edit.cell_id) == place:
            return
        source = source_of(cell)
        self.note("move", edit.cell_id, source, source, type_of(cell))

    def set_outputs(self, edit: SetOutputs) -> None:
        cell = self.find(edit.cell_id)
        if cell["cell_type"] != "code":
            raise DocumentError(
                "invalid_arguments", f"Cell {edit.cell_id} is not code and has no outputs."
            )
        self.cells[edit.cell_id] = with_outputs(cell, edit.outputs, edit.execution_count)
        self.touched[edit.cell_id] = None

    def note_whole(self, edit: InsertCell | UpdateCell) -> None:
        self.whole.discard(edit.cell_id)
        if edit.cell is not None:
            self.whole.add(edit.cell_id)

    def find(self, cell_id: str) -> Cell:
        cell = self.cells.get(cell_id)
        if cell is None:
            raise DocumentError("not_found", f"There is no cell with id {cell_id}.", _READ_AGAIN)
        return cell

    def based_on(self, cell_id: str, base_hash: str) -> Cell:
        cell = self.find(cell_id)
        # A second edit of a cell in one batch may be based on the source before the batch.
        if base_hash not in (source_hash(source_of(cell)), self.original.get(cell_id)):
            raise DocumentError(
                "stale",
                f"Cell {cell_id} was changed since it was read; nothing was applied.",
                "Base the edit on the source that the cell has now.",
                [page_cell(cell, self.order.index(cell_id))],
            )
        return cell

    def check_position(self, position: CellPosition) -> None:
        given = [each for each in (position.at, position.after, position.before) if each]
        if len(given) != 1:
            raise DocumentError(
                "invalid_arguments",
                "A position is exactly one of: start, end, after a cell, before a cell.",
            )
        anchor = position.after or position.before
        if anchor is not None:
            self.find(anchor)

    def place(self, position: CellPosition) -> int:
        self.check_position(position)
        if position.at is not None:
            return 0 if position.at == "start" else len(self.order)
        if position.after is not None:
            return self.order.index(position.after) + 1
        return self.order.index(position.before or "")

    def note(
        self, op: Any, cell_id: str, before: str | None, after: str | None, kind: CellType
    ) -> None:
        index = self.order.index(cell_id) if op == "delete" else None
        change = Change(
            path="", op=op, cell_id=cell_id, index=index, before=before, after=after, cell_type=kind
        )
        self.done.append((change, cell_id))
        if op != "delete":
            self.touched[cell_id] = None

    def finish(self, path: str) -> EditedCells:
        places = {cell_id: index for index, cell_id in enumerate(self.order)}
        changes = [
            change.model_copy(
                update={
                    "path": path,
                    "index": change.index if change.op == "delete" else places.get(cell_id),
                }
            )
            for change, cell_id in self.done
        ]
        return EditedCells(
            [self.cells[cell_id] for cell_id in self.order],
            changes,
            list(self.touched),
            frozenset(self.whole),
            self.before.difference(self.order),
        )


def _whole(cell_id: str, kind: CellType, source: str, cell: Cell) -> Cell:
    """A whole cell of an edit, as that edit names it."""
    if type_of(cell) != kind or source_of(cell) != source:
        raise DocumentError(
            "invalid_arguments", f"The whole cell {cell_id} has another type or source."
        )
    return {"metadata": {}, **cell, "id": cell_id}


def new_cell(cell_id: str, kind: CellType, source: str) -> Cell:
    """An empty nbformat 4.5 cell."""
    cell: Cell = {"cell_type": kind, "id": cell_id, "metadata": {}, "source": source}
    if kind == "code":
        cell["outputs"] = []
        cell["execution_count"] = None
    return cell


def _written(cell: Cell) -> Cell:
    """The cell, whose source the agent wrote; it says so where showing it may load something."""
    if type_of(cell) != "markdown" or not may_load(source_of(cell)):
        return cell
    return {**cell, "metadata": made_by_agent(cell.get("metadata"))}


def retyped(cell: Cell, kind: CellType) -> Cell:
    """A copy as another type, without the fields that nbformat's schema forbids for it."""
    if kind == type_of(cell):
        return dict(cell)
    changed = {**cell, "cell_type": kind}
    if kind == "code":
        changed.pop("attachments", None)
        changed["outputs"] = []
        changed["execution_count"] = None
        return changed
    changed.pop("outputs", None)
    changed.pop("execution_count", None)
    code_only = {"collapsed", "scrolled", "execution", "trusted"}
    changed["metadata"] = {
        key: value for key, value in cell.get("metadata", {}).items() if key not in code_only
    }
    return changed


def with_outputs(cell: Cell, outputs: Sequence[Cell], execution_count: int | None) -> Cell:
    """A copy with the outputs of a run, trusted like those of a user's own run; not where a page
    holds some back, which are not to be signed as the user's."""
    trusted = not any(is_held_back(each) for each in outputs)
    return {
        **cell,
        "metadata": {**cell.get("metadata", {}), "trusted": trusted},
        "outputs": list(outputs),
        "execution_count": execution_count,
    }
