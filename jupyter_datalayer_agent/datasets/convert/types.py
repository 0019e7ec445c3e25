"""Which type a column of text is: one that every value of the whole file has.

A value is never dropped, or changed, for the sake of a type: where one does not fit, the column is
text. So are numbers that would lose something as numbers: leading zeros, and digits past a float's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .duck import literal, name

MISSING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None"]
"""What means no value, in columns that are not text."""
LONGEST = 200
"""Bytes of a text that may be something else; a longer one is not looked at."""
_V = re.compile(r"\bv\b")


@dataclass(frozen=True)
class Kind:
    """A type: whether the text ``v`` is of it, and what it becomes, in SQL."""

    type: str
    fits: str
    value: str
    what: str


_PLAIN = "NOT (v >= '00' AND v < '0:') AND NOT (v >= '-00' AND v < '-0:')"
_FLOAT = (
    f"TRY_CAST(v AS DOUBLE) IS NOT NULL AND {_PLAIN} AND NOT (strlen(v) > 16 "
    "AND NOT contains(v, '.') AND NOT contains(lower(v), 'e')) AND NOT contains(v, '_')"
)
_COMMA = "replace(v, ',', '.')"
_COMMA_FLOAT = (
    f"TRY_CAST({_COMMA} AS DOUBLE) IS NOT NULL AND {_PLAIN} AND NOT contains(v, '.') "
    "AND strlen(v) <= 17"
)


def _dates(format: str, what: str) -> list[Kind]:
    day = f"TRY_STRPTIME(v, '{format}')"
    time = (
        f"COALESCE(TRY_STRPTIME(v, '{format} %H:%M:%S'), TRY_STRPTIME(v, '{format} %H:%M'), {day})"
    )
    return [
        Kind("date", f"{day} IS NOT NULL", f"CAST({day} AS DATE)", what),
        Kind("timestamp", f"{time} IS NOT NULL", time, what),
    ]


NUMBERS = [
    Kind("bool", "lower(v) IN ('true', 'false')", "TRY_CAST(v AS BOOLEAN)", "true or false"),
    Kind("int64", "TRY_CAST(v AS BIGINT)::VARCHAR = v", "TRY_CAST(v AS BIGINT)", "whole numbers"),
    Kind("float64", _FLOAT, "TRY_CAST(v AS DOUBLE)", "numbers"),
]
COMMA_NUMBERS = Kind("float64", _COMMA_FLOAT, f"TRY_CAST({_COMMA} AS DOUBLE)", "numbers")
DAY_FIRST = [*_dates("%d/%m/%Y", "dates, the day first"), *_dates("%d.%m.%Y", "dates")]
MONTH_FIRST = _dates("%m/%d/%Y", "dates, the month first")
DATES = [
    Kind(
        "date",
        "strlen(v) BETWEEN 8 AND 10 AND TRY_CAST(v AS DATE) IS NOT NULL",
        "TRY_CAST(v AS DATE)",
        "dates",
    ),
    Kind(
        "timestamp",
        "strlen(v) >= 8 AND TRY_CAST(v AS TIMESTAMP) IS NOT NULL",
        "TRY_CAST(v AS TIMESTAMP)",
        "times",
    ),
]


def kinds(delimiter: str) -> list[Kind]:
    """What a column may be, the narrowest first. A comma in a number is a point only in a file
    whose values are separated by something else."""
    commas = [COMMA_NUMBERS] if delimiter != "," else []
    return [*NUMBERS, *commas, *DATES, *DAY_FIRST, *MONTH_FIRST]


def value_of(column: str) -> str:
    """The column's text without spaces around it, NULL for what means no value."""
    text = f"trim({name(column)})"
    # Not IN: DuckDB makes a join of a long one, and rows lose their order in a join.
    missing = " ".join(f"WHEN {text} = {literal(each)} THEN NULL" for each in MISSING)
    long = f"WHEN strlen({name(column)}) > {LONGEST} THEN '?'"
    return f"CASE {long} {missing} ELSE {text} END"


def counts(source: str, candidates: dict[str, list[Kind]]) -> str:
    """A query: how many rows; and of each column, how many values, and how many of these are not
    of each of its candidates."""
    inner, outer = [], ["count(*)"]
    for number, (column, columns_kinds) in enumerate(candidates.items()):
        inner.append(f"{value_of(column)} AS v{number}")
        outer.append(f"count(v{number})")
        for kind in columns_kinds:
            fits = _V.sub(f"v{number}", kind.fits)
            outer.append(f"count(*) FILTER (v{number} IS NOT NULL AND ({fits}) IS NOT TRUE)")
    columns = ", ".join(inner) or "1"
    return f"SELECT {', '.join(outer)} FROM (SELECT {columns} FROM {source})"


def cast(column: str, kind: Kind | None) -> str:
    """The column in a SELECT, as the type that it was found to be (None: text as it is)."""
    if kind is None:
        return name(column)
    # What means no value is of none of the types: casts make NULL of it. But for NaN.
    value = _V.sub(lambda _: f"trim({name(column)})", kind.value)
    if kind.type == "float64":
        value = f"nullif({value}, 'nan'::DOUBLE)"
    return f"{value} AS {name(column)}"


def read_counts(
    row: Sequence[int], candidates: dict[str, list[Kind]]
) -> tuple[int, dict[str, tuple[int, list[int]]]]:
    """The answer of ``counts``: the rows, and by column its values and the misfits of each kind."""
    rows, *rest = row
    found: dict[str, tuple[int, list[int]]] = {}
    at = 0
    for column, columns_kinds in candidates.items():
        end = at + 1 + len(columns_kinds)
        found[column] = (rest[at], list(rest[at + 1 : end]))
        at = end
    return rows, found
