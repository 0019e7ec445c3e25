"""Which cells are the same in two states of a notebook whose ids differ."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence

from .files.restore import differences


def text_id(kind: str, source: str) -> str:
    """Identifies the text of a cell of this type."""
    text = f"{kind}\0{source}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def same_cells(
    before: Sequence[tuple[str, str]],
    now: Sequence[tuple[str, str]],
    named: Collection[str] | None = None,
) -> dict[str, str]:
    """The ids of ``now`` by those of ``before``, for the cells that are in both.

    Each cell is its id and its text (or a hash of it). A cell with the same id is the same, if the
    id is one of ``named`` (None: any). Of the others, one is the same that has the same text in the
    same order; then one whose text was changed, where as many cells were changed in one place as
    there were; then one with a text that occurs nowhere else, which was moved; then one with the
    same id.
    """
    present = {each for each, _ in now}
    names = present if named is None else present.intersection(named)
    same = {each: each for each, _ in before if each in names}
    old = [cell for cell in before if cell[0] not in same]
    new = [cell for cell in now if cell[0] not in same]
    if old and new:
        same |= {old[one][0]: new[other][0] for one, other in _in_order(old, new)}
        same |= _moved(old, new, same)
        left = present.difference(same.values())
        same |= {each: each for each, _ in old if each not in same and each in left}
    return same


def _in_order(
    old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]
) -> Iterator[tuple[int, int]]:
    at = at_now = 0
    changed = differences([text for _, text in old], [text for _, text in new])
    for begin, end, begin_now, end_now in [*changed, (len(old), len(old), len(new), len(new))]:
        yield from zip(range(at, begin), range(at_now, begin_now), strict=True)
        if end - begin == end_now - begin_now:
            yield from zip(range(begin, end), range(begin_now, end_now), strict=True)
        at, at_now = end, end_now


def _moved(
    old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]], known: dict[str, str]
) -> dict[str, str]:
    found = set(known.values())
    left = [cell for cell in old if cell[0] not in known]
    left_now = [cell for cell in new if cell[0] not in found]
    texts, texts_now = [text for _, text in left], [text for _, text in left_now]
    return {
        cell_id: left_now[texts_now.index(text)][0]
        for cell_id, text in left
        if texts.count(text) == 1 and texts_now.count(text) == 1
    }
