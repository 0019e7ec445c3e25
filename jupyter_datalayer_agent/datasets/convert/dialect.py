"""The dialect of a text table: its delimiter, and the line that names the columns."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from .outcome import ConversionError, names

DELIMITERS = [",", "\t", ";", "|"]
WORDS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}
MOST_COLUMNS = 10_000
_MOST_PREAMBLE = 20
_VALUE = re.compile(
    r"^\s*([-+]?[\d.,]*\d[\d.,]*(e[-+]?\d+)?\s*%?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*"
    r"|true|false|na|nan|null|none)\s*$",
    re.IGNORECASE,
)


@dataclass
class Dialect:
    """``skip`` lines precede the table; ``columns`` are unique names."""

    delimiter: str
    escape: str
    skip: int
    header: bool
    columns: list[str]
    notes: list[str] = field(default_factory=list)


def detect(sample: str, tsv: bool, name: str) -> Dialect:
    """Detect it from the beginning of a file. Raises ``ConversionError`` if there is no table."""
    csv.field_size_limit(len(sample) + 1)
    # A value may end with an escaped quote: the two quotes there are not a doubled one.
    escape = "\\" if '\\"' in sample and '""' not in sample.replace('\\"', "") else '"'
    rows = {each: _rows(sample, each, escape) for each in (["\t"] if tsv else DELIMITERS)}
    delimiter = max(rows, key=lambda each: _fitness(rows[each]))
    table = rows[delimiter]
    if not table:
        raise ConversionError(f"{name} has no rows.")
    width = _width(table)
    if width > MOST_COLUMNS:
        raise ConversionError(f"{name} has {width:,} columns; {MOST_COLUMNS:,} is the limit.")
    # A title above the table is one value, alone or with empty ones beside it.
    first = next((i for i, (_, row) in enumerate(table) if _filled(row) > width / 2), 0)
    if len(table[0][1]) == width - 1 and width > 2:
        first = 0
    if first > _MOST_PREAMBLE:
        first = 0
    return _with_columns(table[first:], delimiter, escape, width)


def _with_columns(
    table: list[tuple[int, list[str]]], delimiter: str, escape: str, width: int
) -> Dialect:
    line, top = table[0]
    notes: list[str] = []
    if line > 1:
        notes.append(f"The first {line - 1:,} lines before the table were skipped.")
    header = _is_header([row for _, row in table])
    if not header:
        notes.append("The first line has no column names: columns are numbered.")
        columns = [f"column{number}" for number in range(1, max(width, len(top)) + 1)]
        return Dialect(delimiter, escape, line - 1, False, columns, notes)
    given = [each.strip() for each in top]
    if len(given) == width - 1 and width > 2:
        notes.append("The first column has no name in the first line; it is called row.")
        given.insert(0, "row")
    columns = unique(given, notes)
    return Dialect(delimiter, escape, line - 1, True, columns, notes)


def unique(given: list[str], notes: list[str]) -> list[str]:
    """Names that are unique, ignoring case."""
    taken: set[str] = set()
    columns: list[str] = []
    changed: list[str] = []
    for number, name in enumerate(given, 1):
        base = name[:200] or f"column{number}"
        new, count = base, 1
        while new.lower() in taken:
            count += 1
            new = f"{base}_{count}"
        taken.add(new.lower())
        columns.append(new)
        if new != name:
            changed.append(f"column {number} is called {new}")
    if changed:
        notes.append(f"Missing or duplicate names: {names(changed)}.")
    return columns


def _rows(sample: str, delimiter: str, escape: str) -> list[tuple[int, list[str]]]:
    """The non-empty rows with the line that each begins in, from 1."""
    rows = _parsed(io.StringIO(sample, newline=""), delimiter, escape)
    if rows and max(end - start for start, end, _ in rows) > 50:
        # An unclosed quote: read line by line, so that it spoils only its own.
        rows = []
        for number, text in enumerate(sample.splitlines(), 1):
            rows += [(number, number, row) for *_, row in _parsed([text], delimiter, escape)]
    return [(start, row) for start, _, row in rows]


def _parsed(lines: Iterable[str], delimiter: str, escape: str) -> list[tuple[int, int, list[str]]]:
    reader = csv.reader(
        lines,
        delimiter=delimiter,
        doublequote=escape == '"',
        escapechar=None if escape == '"' else escape,
        skipinitialspace=True,
    )
    rows = []
    start = 1
    try:
        for row in reader:
            if row:
                rows.append((start, reader.line_num, row))
            start = reader.line_num + 1
    except csv.Error:
        pass  # the rows before it are enough
    return rows


def _width(table: list[tuple[int, list[str]]]) -> int:
    """The most common number of values in a row; of equally common ones the greatest."""
    counts = Counter(len(row) for _, row in table)
    return max(counts, key=lambda each: (counts[each], each))


def _filled(row: list[str]) -> int:
    return sum(bool(each.strip()) for each in row)


def _fitness(table: list[tuple[int, list[str]]]) -> tuple[float, int]:
    if not table:
        return (0.0, 0)
    width = _width(table)
    share = sum(len(row) == width for _, row in table) / len(table)
    return (share if width > 1 else 0.0, width)


def _is_header(rows: list[list[str]]) -> bool:
    top = rows[0]
    return (
        any(each.strip() for each in top)
        and sum(not each.strip() for each in top) <= len(top) / 2
        and not any(_VALUE.match(each) for each in top)
    )
