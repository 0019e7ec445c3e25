"""Undo of a turn's changes to a notebook, and only those: pure, on lists and dicts.

A turn is recorded in spans: periods in which nobody else is known to have changed the same cells.
They are reverted from the last to the first, by comparing three states of each cell: before the
span, as the span left it, and now. What nobody changed since is restored; what somebody changed
since stays; a source that both changed is a conflict and stays as it is.

A restored source comes with its outputs. If the turn only ran a cell, outputs of a later run stay.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ...protocol.cells import CellEdit, CellPosition, DeleteCell, InsertCell, MoveCell, UpdateCell
from .batch import Cell, source_hash, source_of, type_of
from .cell_state import (
    CellAfterTurn,
    merged_metadata,
    same_cell,
    same_outputs,
    same_text,
    with_trust,
)

# Orders of cells: which cells kept their order, and where restored ones go.


def in_order(ids: Sequence[str], places: Mapping[str, int]) -> set[str]:
    """The longest subsequence of ``ids`` (all in ``places``) in the order of their places."""
    tails: list[int] = []  # the last place of the best sequence of each length
    ends: list[int] = []  # the index in ``ids`` of that last place
    before: list[int] = []
    for index, cell_id in enumerate(ids):
        length = bisect_left(tails, places[cell_id])
        before.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [places[cell_id]]
        ends[length : length + 1] = [index]
    kept = set()
    index = ends[-1] if ends else -1
    while index >= 0:
        kept.add(ids[index])
        index = before[index]
    return kept


def in_place(now: Sequence[str], then: Sequence[str], loose: Collection[str]) -> set[str]:
    """The cells of ``now`` that kept their order of ``then``, ignoring added and removed ones.

    If either of two neighbours may have passed the other, it is the ``loose`` one.
    """
    loose = set(loose)
    places = {cell_id: index for index, cell_id in enumerate(then)}
    common = [cell_id for cell_id in now if cell_id in places]
    fixed = in_order([each for each in common if each not in loose], places)
    was, is_now = _neighbours(then, fixed), _neighbours(common, fixed)
    kept = {each for each in common if each in loose and was[each] == is_now[each]}
    return in_order([each for each in common if each in fixed or each in kept], places)


def _neighbours(order: Sequence[str], fixed: Collection[str]) -> dict[str, str | None]:
    """For each cell the nearest fixed one before it."""
    neighbours: dict[str, str | None] = {}
    last = None
    for cell_id in order:
        neighbours[cell_id] = last
        if cell_id in fixed:
            last = cell_id
    return neighbours


def put_back(
    order: Sequence[str],
    coming: Collection[str],
    before: Sequence[str],
    *,
    astray: Collection[str] = (),
) -> list[str]:
    """``order`` with the cells ``coming`` in it, each next to its nearest old neighbour.

    ``before`` is the old order, with all that come. Cells that are out of the old order are no
    neighbours; those ``astray`` are the first to count as such.
    """
    places = {cell_id: index for index, cell_id in enumerate(before)}
    anchors = in_place(order, before, astray)
    result = list(order)
    for cell_id in sorted(coming, key=lambda each: places[each]):
        place = places[cell_id]
        previous = next((i for i in range(place - 1, -1, -1) if before[i] in anchors), None)
        # Past the distance to the cell before, a cell behind is not the nearest.
        end = len(before) if previous is None else min(len(before), 2 * place - previous)
        following = next((i for i in range(place + 1, end) if before[i] in anchors), None)
        if following is not None:
            result.insert(result.index(before[following]), cell_id)
        elif previous is not None:
            result.insert(result.index(before[previous]) + 1, cell_id)
        else:
            result.append(cell_id)
        anchors.add(cell_id)
    return result


@dataclass(frozen=True)
class CellRecord:
    """A cell before and after a span; None if it did not exist."""

    before: Cell | None
    left: CellAfterTurn | None


@dataclass
class Span:
    """A period of a turn: the order of the cells before and after it, the cells that it moved, and
    every cell that it touched."""

    order: list[str]
    order_left: list[str]
    moved: list[str] = field(default_factory=list)
    cells: dict[str, CellRecord] = field(default_factory=dict)


@dataclass(frozen=True)
class Conflict:
    """A cell that somebody else changed since, too; sources, None if it does not exist."""

    cell_id: str
    before: str | None
    after: str | None
    now: str | None


@dataclass
class NotebookState:
    """The ids of all cells in order, and, whole, those cells that a turn touched."""

    order: list[str]
    cells: dict[str, Cell]


@dataclass
class Undone:
    """The notebook after the undo. ``returned`` are cells that return to their place."""

    state: NotebookState
    conflicts: list[Conflict]
    settled: list[str]
    returned: set[str]


class _Contested(Exception):
    """Both the turn and somebody else changed the cell."""


def undo(
    spans: Sequence[Span],
    now: NotebookState,
    wanted: Collection[str] | None = None,
    *,
    overwrite: bool = False,
) -> Undone:
    """Revert the spans, all of their cells or only those ``wanted``.

    ``now.cells`` has all of those cells that exist. With ``overwrite`` a conflicting cell is
    restored all the same.
    """
    undoing = _CellUndo(now, overwrite)
    ids = [each for each in touched(spans) if wanted is None or each in wanted]
    for span in reversed(spans):
        undoing.take_back(span, [each for each in ids if each in span.cells])
    contested = [each for each in ids if each in undoing.contested]
    return Undone(
        state=undoing.state,
        conflicts=[_conflict(each, spans, undoing.state) for each in contested],
        settled=[each for each in ids if each not in undoing.contested],
        returned=undoing.returned,
    )


def touched(spans: Sequence[Span]) -> list[str]:
    """The cells that a turn touched."""
    return list(dict.fromkeys(cell_id for span in spans for cell_id in span.cells))


class _CellUndo:
    def __init__(self, now: NotebookState, overwrite: bool) -> None:
        self.state = NotebookState(list(now.order), dict(now.cells))
        self.overwrite = overwrite
        self.contested: set[str] = set()
        self.returned: set[str] = set()

    def take_back(self, span: Span, ids: Sequence[str]) -> None:
        """Revert one span for these cells."""
        cells = self.state.cells
        gone, back = set(), set()
        for cell_id in ids:
            if cell_id in self.contested:
                continue
            now = cells.get(cell_id)
            result = self._cell_before(span.cells[cell_id], now, cell_id)
            if result is None:
                cells.pop(cell_id, None)
                gone.add(cell_id)
            else:
                cells[cell_id] = result
            if now is None and result is not None:
                back.add(cell_id)
        moved = {each for each in span.moved if each in ids and each in cells} - self.contested
        moved &= set(span.order)
        # One that is not where the span left it was moved again, and stays there.
        back |= moved & in_place(self.state.order, span.order_left, span.moved)
        rest = [each for each in self.state.order if each not in gone and each not in back]
        self.state.order = put_back(rest, back, span.order, astray=span.moved) if back else rest
        self.returned |= back

    def _cell_before(self, record: CellRecord, now: Cell | None, cell_id: str) -> Cell | None:
        try:
            return _before(record, now)
        except _Contested:
            if self.overwrite:
                return record.before
            self.contested.add(cell_id)
            return now


def _before(record: CellRecord, now: Cell | None) -> Cell | None:
    """The cell without what the span changed. Raises ``_Contested``."""
    before, left = record.before, record.left
    if before is None:
        if left is None or now is None or (left.has_text_of(now) and left.has_marks_of(now)):
            return now if left is None else None
        raise _Contested
    if now is None:
        if left is None:
            return before
        if left.has_text_of(before):
            return None  # removed since; the turn had not changed its content
        raise _Contested
    if left is None:
        if same_text(now, before):
            return now
        raise _Contested
    return _merged(before, left, now)


def _merged(before: Cell, left: CellAfterTurn, now: Cell) -> Cell:
    if left.has_text_of(before) or same_text(now, before):
        text, outputs = now, now
        # Outputs of the turn's run are replaced by those before; outputs of a later run stay.
        if not _ran_without_trace(before, left) and left.has_outputs_of(now):
            outputs = before
    elif left.has_text_of(now):
        text = outputs = before
    else:
        raise _Contested
    cell = {**text, "metadata": with_trust(merged_metadata(before, left, now), outputs)}
    if cell["cell_type"] == "code" and outputs["cell_type"] == "code":
        for key in ("outputs", "execution_count"):
            cell.pop(key, None)
            if key in outputs:
                cell[key] = outputs[key]
    return now if same_cell(cell, now) else cell


def _ran_without_trace(before: Cell, left: CellAfterTurn) -> bool:
    return left.outputs is not None and left.has_outputs_of(before)


def _conflict(cell_id: str, spans: Sequence[Span], now: NotebookState) -> Conflict:
    records = [span.cells[cell_id] for span in spans if cell_id in span.cells]
    before, left = records[0].before, records[-1].left
    cell = now.cells.get(cell_id)
    return Conflict(
        cell_id=cell_id,
        before=None if before is None else source_of(before),
        after=None if left is None else left.source,
        now=None if cell is None else source_of(cell),
    )


def edits_between(now: NotebookState, undone: Undone) -> list[CellEdit]:
    """The batch that restores the notebook, and touches nothing else."""
    target = undone.state
    there, wanted = set(now.order), set(target.order)
    edits: list[CellEdit] = [
        DeleteCell(cell_id=each, base_hash=source_hash(source_of(now.cells[each])))
        for each in now.order
        if each not in wanted
    ]
    edits += [
        _restore(cell_id, now.cells[cell_id], cell)
        for cell_id, cell in target.cells.items()
        if cell_id in there and not same_cell(cell, now.cells[cell_id])
    ]
    return edits + _placed(now.order, target, undone.returned)


def _placed(order: Sequence[str], target: NotebookState, returned: set[str]) -> list[CellEdit]:
    """Insertions and moves, from the first cell to the last."""
    places = {cell_id: index for index, cell_id in enumerate(order)}
    staying = [each for each in target.order if each in places]
    # Cells that were not restored stay in place: the user may be typing in them.
    fixed = {each for each in staying if each not in returned}
    kept = in_order(staying, places)
    moving = set() if len(kept) == len(staying) else set(staying) - fixed
    edits: list[CellEdit] = []
    previous: str | None = None
    for cell_id in target.order:
        position = CellPosition(after=previous) if previous else CellPosition(at="start")
        if cell_id not in places:
            edits.append(_insert(cell_id, target.cells[cell_id], position))
        elif cell_id in moving:
            edits.append(MoveCell(cell_id=cell_id, position=position))
        previous = cell_id
    return edits


def _insert(cell_id: str, cell: Cell, position: CellPosition) -> InsertCell:
    return InsertCell(
        cell_id=cell_id, type=type_of(cell), source=source_of(cell), position=position, cell=cell
    )


def _restore(cell_id: str, now: Cell, cell: Cell) -> UpdateCell:
    text_only = (
        now["cell_type"] == cell["cell_type"]
        and "\r" not in source_of(cell)
        and same_outputs(now, cell)
        and now.get("metadata") == cell.get("metadata")
        and now.get("attachments") == cell.get("attachments")
    )
    return UpdateCell(
        cell_id=cell_id,
        base_hash=source_hash(source_of(now)),
        source=source_of(cell),
        type=type_of(cell),
        cell=None if text_only else cell,
    )
