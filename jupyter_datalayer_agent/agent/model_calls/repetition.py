"""Finds an answer that goes round in circles, as those of small models do until their context
window is full."""

from __future__ import annotations

import re

LONGEST = 600
"""Characters of the longest piece that is noticed."""
TIMES = 8
"""How often a piece must follow itself, at least."""
LEAST = 3000
"""Characters of its repetitions, at least: a table may have some rows that are equal."""

_EVERY = 500
_END = 80
_TAIL = LONGEST * TIMES + 2 * _EVERY
_LIST_NUMBER = re.compile(r"^[ \t]*\d+[.)]", re.MULTILINE)


class Repetition:
    """Of the text of one answer. Numbers of list items may differ between the pieces."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._tail = ""
        self._since = 0

    def has_begun(self, delta: str) -> bool:
        """Whether the text repeats itself now that it goes on with ``delta``. Takes constant
        time."""
        self._parts.append(delta)
        self._tail = (self._tail + delta)[-_TAIL:]
        self._since += len(delta)
        if self._since < _EVERY:
            return False
        self._since = 0
        text = _LIST_NUMBER.sub("", self._tail)
        period = _period(text)
        return period is not None and _is_periodic(text, period, max(LEAST, TIMES * period))

    def text(self) -> str:
        """The text without its repetitions, but for the first."""
        lines = "".join(self._parts).splitlines(keepends=True)
        bare = [_LIST_NUMBER.sub("", line) for line in lines]
        text = "".join(bare)
        period = _period(text)
        if period is None:
            return "".join(lines)
        begin = len(text) - period
        while begin and text[begin - 1] == text[begin - 1 + period]:
            begin -= 1
        left = begin + 2 * period
        kept = []
        for line, without in zip(lines, bare, strict=True):
            kept.append(line[: left + len(line) - len(without)])
            left -= len(without)
            if left <= 0:
                break
        return "".join(kept)


def _period(text: str) -> int | None:
    """How many characters before its end the text ended in the same way."""
    if len(text) <= _END:
        return None
    before = text.rfind(text[-_END:], 0, len(text) - 1)
    return None if before < 0 else len(text) - _END - before


def _is_periodic(text: str, period: int, size: int) -> bool:
    """Whether the last ``size`` characters are one piece of ``period`` characters, repeated."""
    if period > LONGEST or len(text) < size:
        return False
    return text[period - size :] == text[-size:-period]
