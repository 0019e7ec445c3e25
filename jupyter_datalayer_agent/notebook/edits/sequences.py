"""Orders of cells: which cells kept their order, and where restored ones go."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence


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
