"""What ``NA`` and the like mean in columns of text: a value, as the code of Namibia, or none.

Its source also runs in kernels (``SOURCES``).
"""

from __future__ import annotations

import re
from collections import Counter

from .layout import Layout, form_of, is_value, records_of
from .numbers import MARKERS, number_format

_QUOTED = "\ue000"
"""Stands before values that are quoted, since parsers drop the quotes."""
_WORDS = {"NA", "N/A", "n/a", "None"}
"""Those of ``MARKERS`` that people write; only programs write the others, such as ``NULL``."""
_MANY = 10
"""So many distinct codes are a list of codes, not a few words that are as long by chance."""
_MOST = 0.9
"""The share of a column's other values that are codes, or quoted, if the column has such."""


def values_of(text: str, tail: str, layout: Layout) -> dict[int, list[str]]:
    """Those of ``MARKERS`` that are values in each column of text, by place; elsewhere they mean
    that a value is missing.

    ``text`` and ``tail`` are those that the layout was found in. In the order of the rules: what is
    quoted is a value (R, readr, PostgreSQL and DuckDB tell the two apart so), and what is not
    quoted among quoted values is none; among codes of the same length it is one; what means a
    missing value in a column of numbers or dates does so in the others; else it is a value if most
    of the others are written like it: ``NA`` among ``EU`` and ``APAC``, not among ``male`` and
    ``female``. Where a column of numbers or dates has it in quotes, quotes say nothing. What only
    programs write is none, but in quotes or among many codes.
    """
    width = len(layout.names)
    named = layout.header and not layout.comment_header
    rows = [row for row in _quoted_records(text, layout) if len(row) >= width][named:]
    rows += [row for row in _quoted_records(tail, layout) if len(row) >= width]
    columns = [{row[place].strip() for row in rows} for place in range(width)]
    texts = {place: column for place, column in enumerate(columns) if _holds_text(column)}
    typed = {
        value for place, column in enumerate(columns) if place not in texts for value in column
    }
    found = {place: _own_values(column, typed) for place, column in texts.items()}
    return {place: markers for place, markers in found.items() if markers}


def _quoted_records(text: str, layout: Layout) -> list[list[str]]:
    """The records, with a mark before what is quoted."""
    delimiter = layout.delimiter
    if delimiter == " ":
        quoted = re.compile(r'"(.*)"', re.S)
        records = records_of(text, delimiter)
        return [[quoted.sub(rf"{_QUOTED}\1", each) for each in row] for row in records]
    opening = rf'(^|{re.escape(delimiter)})( *)"(?!")'
    marked = re.sub(opening, rf'\1\2"{_QUOTED}', text, flags=re.M)
    return records_of(marked, delimiter, layout.escape)


def _holds_text(column: set[str]) -> bool:
    plain = {_unmarked(each) for each in column}
    present = plain - {"", *MARKERS}
    if not present:
        return plain != {""}
    return number_format(present) is None and sum(map(is_value, present)) < len(present) / 2


def _own_values(column: set[str], typed: set[str]) -> list[str]:
    others = [each for each in column if _unmarked(each) not in MARKERS and _unmarked(each)]
    quoted = sum(each.startswith(_QUOTED) for each in others) >= len(others) * _MOST
    plain = {_unmarked(each) for each in others}
    forms = Counter(map(form_of, plain))
    codes = Counter(form_of(each, runs=False) for each in plain)

    def is_one(marker: str) -> bool:
        if f"{_QUOTED}{marker}" in column and f"{_QUOTED}{marker}" not in typed:
            return True
        if marker in column and others and quoted:
            return False
        is_code = plain and codes[form_of(marker, runs=False)] >= len(plain) * _MOST
        if marker not in _WORDS:
            return bool(is_code) and len(plain) >= _MANY
        if is_code:
            return True
        return (
            not {marker, f"{_QUOTED}{marker}"} & typed and forms[form_of(marker)] >= len(plain) / 2
        )

    return [marker for marker in MARKERS if is_one(marker)]


def _unmarked(value: str) -> str:
    return value.removeprefix(_QUOTED)
