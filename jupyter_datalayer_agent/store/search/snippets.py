"""The part of a text that shows what was looked for, and its position there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...protocol.history import Mark
from .grams import fold

BEFORE = 60
LENGTH = 240
"""Characters shown before the first hit, and in all."""
MAX_MARKS = 20
_SPACE = re.compile(r"\s")


def snippet(text: str, wanted: Sequence[str]) -> tuple[str, list[Mark]]:
    """A line of ``text`` around the first of ``wanted`` (folded), with a mark for each hit in it.

    White space is shown as single blanks, character for character, so that code stays readable.
    """
    folded = fold(text)
    places = [place for each in wanted if (place := folded.find(each)) >= 0]
    first = min(places, default=0)
    start = max(0, min(first - BEFORE, len(text) - LENGTH))
    end = min(len(text), start + LENGTH)
    head, tail = "…" if start else "", "…" if end < len(text) else ""
    window = _SPACE.sub(" ", text[start:end])
    shown = f"{head}{window}{tail}"
    marks = [
        Mark(start=_utf16(shown, len(head) + a), end=_utf16(shown, len(head) + b))
        for a, b in _hits(folded[start:end], wanted)
    ]
    return shown, marks


def _hits(window: str, wanted: Sequence[str]) -> list[tuple[int, int]]:
    """The positions of the hits, in order, overlapping ones joined."""
    found: list[tuple[int, int]] = []
    for each in wanted:
        place = window.find(each)
        while place >= 0 and len(found) < MAX_MARKS * 2:
            found.append((place, place + len(each)))
            place = window.find(each, place + len(each))
    joined: list[tuple[int, int]] = []
    for a, b in sorted(found):
        if joined and a <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(b, joined[-1][1]))
        else:
            joined.append((a, b))
    return joined[:MAX_MARKS]


def _utf16(text: str, end: int) -> int:
    """A place in a text in code units of UTF-16."""
    return len(text[:end].encode("utf-16-le", "surrogatepass")) // 2
