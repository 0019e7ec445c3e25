"""How the numbers of one column are written. Its source also runs in kernels (``SOURCES``)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

MISSING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None"]
"""Texts for a missing value in columns that are not text."""
_MISSING = frozenset(MISSING)
MARKERS = (
    *MISSING[1:],
    *("<NA>", "#NA", "#N/A N/A", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
"""Those that pandas takes for a missing value in every column, but for the empty one."""
PLACEHOLDERS = {"?", "-", "--", "---", ".", "..", "*", "n/a", "n.a.", "na", "missing", "unknown"}
"""Texts, in lower case, for a missing value in a column whose other values are numbers."""
_SPACES = " \u00a0\u202f\u2009"
_THOUSANDS = (",", ".", *_SPACES, "'", "\u2019")
_FIRST = 200
"""Most columns of text are none of numbers, which their first values show."""


@dataclass(frozen=True)
class NumberFormat:
    """The decimal mark, the separator of thousands (or none), and the signs that are not digits,
    such as ``$`` or ``%``. ``accounting``: negative numbers are in parentheses. ``ambiguous``:
    every value could also be read with the other decimal mark."""

    decimal: str = "."
    thousands: str = ""
    signs: str = ""
    accounting: bool = False
    ambiguous: bool = False

    @property
    def plain(self) -> bool:
        """Whether every program reads it as a number."""
        return (self.decimal, self.thousands, self.signs, self.accounting) == (".", "", "", False)

    @property
    def pattern(self) -> str:
        """A regular expression, also for RE2, of a whole value."""
        whole = r"\d+"
        if self.thousands:
            mark = f"[{self.thousands}]"
            group = r"\d{2,3}" if self.thousands == "," else r"\d{3}"  # India: 12,34,567
            whole = rf"(?:[1-9]\d{{0,2}}(?:{mark}{group})*{mark}\d{{3}}|\d+)"
        number = rf"(?:{whole}(?:[{self.decimal}]\d*)?|[{self.decimal}]\d+)(?:[eE][-+]?\d+)?"
        signs = f"[{self.signs}{_SPACES}]*"
        value = f"[-+]?{signs}[-+]?{number}{signs}"
        return rf"(?:{value}|\({value}\))" if self.accounting else value

    @property
    def example(self) -> str:
        """How 1234.5 is written."""
        return f"1{self.thousands}234{self.decimal}5"


def number_format(
    values: Iterable[str],
    decimals: Iterable[str] = (),
    delimiter: str = ",",
    decimal: str | None = None,
) -> NumberFormat | None:
    """The format that all values have, without those that are missing; None if they are no numbers.

    ``1.234`` may be a fraction or a thousand: ``decimal`` decides (the user's), then the marks in
    other columns (``decimals``), then the delimiter, since programs that write a decimal comma
    separate values by ``;``.
    """
    present = [value for value in map(str.strip, dict.fromkeys(values)) if not is_missing(value)]
    if not present or not _fitting(present[:_FIRST]):
        return None
    fitting = _fitting(present)
    marks = {each.decimal for each in fitting}
    if len(marks) < 2:
        return fitting[0] if fitting else None
    known = {decimal} if decimal else set(decimals)
    comma_first = any("," in value for value in present) and not known and delimiter != ","
    wanted = "," if known == {","} or comma_first else "."
    chosen = next(each for each in fitting if each.decimal == wanted)
    return replace(chosen, ambiguous=decimal is None)


def is_missing(value: str) -> bool:
    """Whether a trimmed value is a missing one, where the others are numbers."""
    return value in _MISSING or value.lower() in PLACEHOLDERS


_PLAIN = re.compile(NumberFormat().pattern)
_HAS_DIGIT = re.compile(r"\d")
_HAS_LETTER = re.compile(r"[^\W\deE]")
"""Another one than of an exponent."""


def is_number(value: str) -> bool:
    """Whether it is a number in some way of writing one."""
    value = value.strip()
    return _PLAIN.fullmatch(value) is not None or _is_number(value)


@lru_cache(4096)
def _is_number(value: str) -> bool:
    if _HAS_DIGIT.search(value) is None or _HAS_LETTER.search(value) is not None:
        return False
    if not value.isascii():
        value = "".join("$" if unicodedata.category(each) == "Sc" else each for each in value)
    thousands = ["", *(each for each in _THOUSANDS if each in value)]
    return any(_way(d, t).fullmatch(value) for t in thousands for d in ".," if d != t)


@lru_cache
def _way(decimal: str, thousands: str) -> re.Pattern[str]:
    """A number with these marks and any signs."""
    return re.compile(NumberFormat(decimal, thousands, "$%", True).pattern)


def _fitting(values: list[str]) -> list[NumberFormat]:
    used = set("".join(values))
    signs = "".join(
        sorted(each for each in used if each == "%" or unicodedata.category(each) == "Sc")
    )
    found = []
    for thousands in ["", *(each for each in _THOUSANDS if each in used)]:
        for decimal in ".,":
            needed = decimal == "." or "," in used or thousands == "."
            if decimal != thousands and needed:
                form = NumberFormat(decimal, thousands, signs, "(" in used)
                fits = re.compile(form.pattern).fullmatch
                if all(map(fits, values)):
                    found.append(form)
    return found
