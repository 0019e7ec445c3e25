"""Texts that a regular expression reads slowly, made from the expression itself.

A backtracking engine is slow where it can read one stretch in many ways and must try them all: in a
long run of what a repeated part takes, after what leads to that part and before what ends the
match; and where what begins a match stands at every place. So for each repeated part there is its
beginning, a run of it and an end that does not fit, the run being of one kind of character; and for
each prefix of the expression a text of nothing else.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    from re import _constants as c  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
else:
    import sre_constants as c
    import sre_parse as parser

_KINDS = ("a", "0", " ", "\n", ".", '"')
"""Characters to prefer: a set of characters is stood for by the first of these that it has."""
_ENDS = ("\x00", "", "\n")
_REPEATS = {c.MAX_REPEAT, c.MIN_REPEAT} | {
    code for name in ("POSSESSIVE_REPEAT",) if (code := getattr(c, name, None)) is not None
}
_MANY = 8
"""From so many repetitions on a part is a repeated one."""

ANY: tuple[str, ...] = (
    "a", " ", "\n", "\t", "0", "0123456789abcdef", "[", "(", "{", "<", '"', "'", "`", "\\",
    "\n ", " \n", "a ", "a.", "/", "-", "=", "#", "|", "a\n", "[{", "],", ", ", "\r\n", "\r",
    "&", "_a", "a,", "é", "word ",
)  # fmt: skip
"""What is slow for many: runs of these are tried on every expression."""


class _Sampler:
    """Shortest texts that fit parts of an expression, of one preferred kind of character."""

    def __init__(self, flags: int, prefer: str) -> None:
        self.prefer = (prefer, *_KINDS)
        self.flags = flags
        self.groups: dict[int, str] = {}

    def text(self, parsed: Any) -> str:
        return "".join(self.one(code, value) for code, value in parsed)

    def one(self, code: Any, value: Any) -> str:
        if code is c.LITERAL:
            return chr(value)
        if code is c.ANY:
            return self.prefer[0] if self.prefer[0] != "\n" or self.flags & re.DOTALL else "a"
        if code is c.NOT_LITERAL:
            return next(each for each in self.prefer if ord(each) != value)
        if code is c.IN:
            return self._of_set(value)
        if code is c.SUBPATTERN:
            inner = self.text(value[3])
            if value[0] is not None:
                self.groups[value[0]] = inner
            return inner
        if code is c.BRANCH:
            return self.text(value[1][0])
        if code in _REPEATS:
            low, _, inner = value
            return self.text(inner) * low
        if code is c.GROUPREF:
            return self.groups.get(value, "")
        if code is c.GROUPREF_EXISTS:
            return self.text(value[1])
        if getattr(c, "ATOMIC_GROUP", None) is code:
            return self.text(value)
        return ""

    def _of_set(self, items: Any) -> str:
        fits = _set_of(items)
        for each in self.prefer:
            if fits(each):
                return each
        for code, value in items:
            if code is c.LITERAL:
                return chr(value)
            if code is c.RANGE:
                return chr(value[0])
        return next((chr(n) for n in range(1, 0x3000) if fits(chr(n))), "a")


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    c.CATEGORY_DIGIT: str.isdigit,
    c.CATEGORY_NOT_DIGIT: lambda it: not it.isdigit(),
    c.CATEGORY_SPACE: str.isspace,
    c.CATEGORY_NOT_SPACE: lambda it: not it.isspace(),
    c.CATEGORY_WORD: lambda it: it.isalnum() or it == "_",
    c.CATEGORY_NOT_WORD: lambda it: not (it.isalnum() or it == "_"),
}


def _set_of(items: Any) -> Callable[[str], bool]:
    negated = bool(items) and items[0][0] is c.NEGATE

    def has(character: str) -> bool:
        number = ord(character)
        return any(
            (code is c.LITERAL and value == number)
            or (code is c.RANGE and value[0] <= number <= value[1])
            or (code is c.CATEGORY and _CATEGORIES[value](character))
            for code, value in items
        )

    return lambda character: has(character) != negated


class Shape(NamedTuple):
    """A text that can be of any length."""

    before: str
    run: str
    after: str

    def text(self, size: int) -> str:
        return self.before + self.run * (size // len(self.run)) + self.after


def shapes(pattern: re.Pattern[Any]) -> list[Shape]:
    """The hostile texts for a pattern, each once."""
    return list(dict.fromkeys(Shape(*each) for each in _shapes(pattern) if each[1]))


def _shapes(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    for each in ANY:
        yield "", each, ""
    written, flags = pattern.pattern, pattern.flags
    if not isinstance(written, str):
        written, flags = written.decode("latin-1"), flags & ~re.UNICODE
    with warnings.catch_warnings():
        # `[[` is no nested set in JavaScript.
        warnings.simplefilter("ignore", FutureWarning)
        parsed = parser.parse(written, flags)
    for kind in _KINDS:
        sampler = _Sampler(pattern.flags, kind)
        for before, unit in _places(parsed, sampler, ""):
            for end in _ENDS if unit else ():
                yield before, unit, end
            yield "", before + unit, ""
            yield "", before, ""


def _places(parsed: Any, sampler: _Sampler, before: str) -> Iterator[tuple[str, str]]:
    """Each repeated part: what comes before it, and one repetition. And each place without one."""
    for code, value in parsed:
        here = sampler.one(code, value)
        if code in _REPEATS:
            low, high, inner = value
            one = sampler.text(inner)
            if high >= _MANY and one:
                yield before, one
            yield from _places(inner, sampler, before)
            # What comes after is reached with one repetition, too.
            here = one * max(low, 1)
        elif code is c.SUBPATTERN:
            yield from _places(value[3], sampler, before)
        elif code is c.BRANCH:
            for each in value[1]:
                yield from _places(each, sampler, before)
                yield before + sampler.text(each), ""
        elif code in (c.ASSERT, c.ASSERT_NOT):
            yield from _places(value[1], sampler, before)
            here = ""
        elif getattr(c, "ATOMIC_GROUP", None) is code:
            yield from _places(value, sampler, before)
        before += here
        yield before, ""
