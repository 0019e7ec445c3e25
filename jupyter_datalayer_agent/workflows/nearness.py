"""Near names: what a mistyped one was probably meant to be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_MOST = 3


def distance(first: str, second: str, limit: int = 3) -> int:
    """Edits between two words, a swap of neighbours being one (optimal string alignment); any
    number over ``limit`` means more."""
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        above, row, earlier = row, [i], before
        for j, b in enumerate(second, 1):
            best = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                best = min(best, earlier[j - 2] + 1)
            row.append(best)
        before = above
        if min(row) > limit:
            return limit + 1
    return row[-1]


def plain(name: str) -> str:
    """A name without case, spaces, underscores and hyphens."""
    return re.sub(r"[\s_\-]+", "", name).casefold()


@dataclass(frozen=True)
class Near:
    """A near name. ``clear``: it is very like, nothing else is nearly as like, and the two differ
    by more than a number (``df1`` is no misspelt ``df2``)."""

    name: str
    distance: float
    clear: bool


def near_names(
    name: str, candidates: Iterable[str], key: Callable[[str], str] = plain
) -> list[Near]:
    """Up to three near names, the nearest first."""
    wanted = key(name)
    found: list[tuple[float, str]] = []
    for candidate in dict.fromkeys(candidates):
        if candidate == name:
            continue
        other = key(candidate)
        # A difference in case or white space is nearer than any letter.
        far = 0.5 if other == wanted else float(distance(wanted, other))
        if far <= _reach(wanted):
            found.append((far, candidate))
    found.sort()
    near = []
    for place, (far, candidate) in enumerate(found[:_MOST]):
        rival = found[1][0] if place == 0 and len(found) > 1 else 99.0
        clear = place == 0 and far < rival and _very_like(name, candidate, far)
        near.append(Near(candidate, far, clear))
    return near


def _reach(name: str) -> int:
    """The most edits for a name of this length."""
    return 1 if len(name) <= 4 else 2 if len(name) <= 9 else 3


def _very_like(name: str, candidate: str, far: float) -> bool:
    if _digits(name) != _digits(candidate):
        return False
    if far < 1:
        return True
    return len(name) >= 4 and far <= (1 if len(name) < 6 else 2)


def _digits(name: str) -> list[str]:
    return re.findall(r"\d+", name)
