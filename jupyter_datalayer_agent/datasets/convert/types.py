"""Infers the type of a text column: one that every value of the whole file has.

No value is dropped or changed for a type: if one does not fit, the column is text. So are numbers
that would lose leading zeros, or digits past a float's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..dialect.numbers import MARKERS, MISSING, NumberFormat
from .duck import literal, name

_LONGEST_NUMBER = 24
LONGEST = 200
"""Bytes of a text that may have another type; longer ones are not checked."""
_MARKED = 1 << len(MARKERS)
_V = re.compile(r"\bv\b")


@dataclass(frozen=True)
class Kind:
    """A type: SQL for whether the text ``v`` has it, and for its value."""

    type: str
    fits: str
    value: str
    what: str


_PLAIN = "NOT (v >= '00' AND v < '0:') AND NOT (v >= '-00' AND v < '-0:')"
_FLOAT = (
    f"TRY_CAST(v AS DOUBLE) IS NOT NULL AND {_PLAIN} AND NOT (strlen(v) > 16 "
    "AND NOT contains(v, '.') AND NOT contains(lower(v), 'e')) AND NOT contains(v, '_')"
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


def kinds(form: NumberFormat | None) -> list[Kind]:
    """The types of a column, the narrowest first; with the format of its numbers if it is not
    plain."""
    dates = [*DATES, *DAY_FIRST, *MONTH_FIRST]
    if form is None:
        return [*NUMBERS, *dates]
    *whole, _ = NUMBERS
    return [*whole, _written(form), *dates]


def _written(form: NumberFormat) -> Kind:
    value = "trim(v)"
    if form.accounting:
        value = rf"regexp_replace({value}, '^\((.*)\)$', '-\1')"
    if form.signs or form.thousands:
        value = rf"regexp_replace({value}, '[{form.thousands}{form.signs}\s]', '', 'g')"
    if form.decimal != ".":
        value = f"replace({value}, '{form.decimal}', '.')"
    fits = f"regexp_full_match(v, {literal(form.pattern)}) AND strlen(v) <= {_LONGEST_NUMBER}"
    return Kind("float64", fits, f"TRY_CAST({value} AS DOUBLE)", f"numbers as {form.example}")


class Counted(NamedTuple):
    """Of a column: its values, the misfits of each candidate type, and those of ``MARKERS`` that it
    has, sorted. ``marked`` if any text of it means a missing value in columns of other types."""

    values: int
    misfits: list[int]
    marked: bool
    markers: list[str]


def value_of(column: str) -> str:
    """The column's trimmed text, NULL for a missing value."""
    long = f"WHEN strlen({name(column)}) > {LONGEST} THEN '?'"
    return f"CASE {long} {_no_values(column, MISSING)} ELSE trim({name(column)}) END"


def _no_values(column: str, markers: Sequence[str]) -> str:
    # Not IN: DuckDB turns a long one into a join, which loses the order of rows.
    return " ".join(f"WHEN trim({name(column)}) = {literal(m)} THEN NULL" for m in markers)


def _markers_in(number: int) -> str:
    """A query's column with a bit for each of ``MARKERS`` that a column has, and ``_MARKED`` if it
    has one that is no value, so that the file is not read again for them."""
    bits = {m: 1 << at for at, m in enumerate(MARKERS)}
    none = " ".join(
        f"WHEN trim(t{number}) = {literal(m)} THEN {bit | _MARKED}"
        for m, bit in bits.items()
        if m in MISSING
    )
    others = " ".join(
        f"WHEN v{number} = {literal(m)} THEN {bit}" for m, bit in bits.items() if m not in MISSING
    )
    value = f"v{number} IS NULL AND t{number} <> '' THEN CASE {none} ELSE {_MARKED} END"
    return f"bit_or(CASE WHEN {value} {others} ELSE 0 END)"


def counts(source: str, candidates: dict[str, list[Kind]]) -> str:
    """A query for the number of rows; and for each column, what ``Counted`` has."""
    inner, outer = [], ["count(*)"]
    for number, (column, columns_kinds) in enumerate(candidates.items()):
        inner.append(f"{value_of(column)} AS v{number}, {name(column)} AS t{number}")
        outer.append(f"count(v{number})")
        outer.append(_markers_in(number))
        for kind in columns_kinds:
            fits = _V.sub(f"v{number}", kind.fits)
            outer.append(f"count(*) FILTER (v{number} IS NOT NULL AND ({fits}) IS NOT TRUE)")
    columns = ", ".join(inner) or "1"
    return f"SELECT {', '.join(outer)} FROM (SELECT {columns} FROM {source})"


def cast(column: str, kind: Kind | None, missing: Sequence[str] = ()) -> str:
    """The column in a SELECT, with its inferred type (None: text, which is unchanged but for what
    means a missing value)."""
    if kind is None and not missing:
        return name(column)
    if kind is None:
        return f"CASE {_no_values(column, missing)} ELSE {name(column)} END AS {name(column)}"
    # Missing values have none of the types, so casts make them NULL. Except NaN.
    value = _V.sub(lambda _: f"trim({name(column)})", kind.value)
    if kind.type == "float64":
        value = f"nullif({value}, 'nan'::DOUBLE)"
    return f"{value} AS {name(column)}"


def read_counts(
    row: Sequence[int], candidates: dict[str, list[Kind]]
) -> tuple[int, dict[str, Counted]]:
    """The result of ``counts``: the rows, and what was counted by column."""
    rows, *rest = row
    found: dict[str, Counted] = {}
    at = 0
    for column, columns_kinds in candidates.items():
        end = at + 2 + len(columns_kinds)
        values, bits, *misfits = rest[at:end]
        bits = bits or 0
        markers = sorted(m for place, m in enumerate(MARKERS) if bits >> place & 1)
        marked = bool(bits & _MARKED)
        found[column] = Counted(values, misfits, marked, markers if marked else [])
        at = end
    return rows, found
