"""CSV and TSV: every valid row, each column with the type that all of its values have.

The file is read twice: first all values are checked as text, then they are written with the
inferred types. So a type never depends on the first rows only, and no value is lost to it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from ..dialect.file import damage, texts_of
from ..dialect.layout import WORDS, Layout, Unreadable, find_layout, reader
from ..dialect.missing import values_of
from . import types
from .duck import group_size, literal, name, run
from .outcome import ConversionError, Progress, Report, names
from .text import LONGEST_LINE
from .types import Counted, Kind

SAMPLE_ROWS = 20_000
LEAST_SAMPLE_ROWS = 200
SAMPLE_CELLS = 500_000
"""Every type is tried on the first values."""
COUNTS_OF_SAMPLE = 150
COUNTS_OF_TABLE = 150
NEARLY = 0.1
"""The largest share of misfits in a column that is reported."""
MOST_OPEN_QUOTES = 10
MOST_REJECTED = 100_000
MOST_COLUMNS = 10_000
_TRAILING = "after the last delimiter"
_FOUND = re.compile(r"Columns: (\d+) Found: (\d+)")


@dataclass
class TextTable:
    """A text file in UTF-8, its layout, and the unique names of its columns. ``values`` has what is
    a value, and elsewhere means a missing one, by column. ``quoted`` is False if the quotes do not
    pair up, so that they are ordinary characters."""

    path: Path
    layout: Layout
    columns: list[str]
    values: dict[str, list[str]]
    quoted: bool = True

    def reading(self) -> str:
        """The table in SQL, all of it text; invalid rows go to the table of rejects."""
        layout = self.layout
        given = [*self.columns, _TRAILING] if layout.trailing else self.columns
        columns = ", ".join(f"{literal(each)}: 'VARCHAR'" for each in given)
        quote, escape = ('"', layout.escape) if self.quoted else ("", "")
        header = str(layout.header and not layout.comment_header).lower()
        source = (
            f"read_csv({literal(str(self.path))}, auto_detect=false, columns={{{columns}}}, "
            f"delim={literal(layout.delimiter)}, quote={literal(quote)}, "
            f"escape={literal(escape)}, header={header}, "
            f"skip={layout.skip}, max_line_size={LONGEST_LINE}, "
            f"buffer_size={4 * LONGEST_LINE}, strict_mode=true, "
            f"store_rejects=true, rejects_limit={MOST_REJECTED})"
        )
        if layout.trailing:
            return f"(SELECT * EXCLUDE ({name(_TRAILING)}) FROM {source})"
        return source


def layout_of(
    path: Path, shown: str, report: Report, delimiter: str | None, decimal: str | None
) -> Layout:
    """The layout of a UTF-8 file. Raises ``ConversionError`` if it is no table."""
    text, tail = texts_of(str(path), "utf-8")
    report.notes += damage(text)
    try:
        layout = find_layout(text, tail, delimiter, decimal)
    except Unreadable as error:
        raise ConversionError(f"{shown} {error}.") from error
    width = len(layout.names)
    if width > MOST_COLUMNS:
        raise ConversionError(f"{shown} has {width:,} columns; {MOST_COLUMNS:,} is the limit.")
    return layout


def convert(
    database: duckdb.DuckDBPyConnection,
    path: Path,
    layout: Layout,
    target: Path,
    report: Report,
    progress: Progress,
    shown: str,
) -> int:
    """Write the UTF-8 file ``path`` as Parquet; its rows. Raises ``ConversionError``."""
    report.delimiter = WORDS.get(layout.delimiter, layout.delimiter)
    report.header = layout.header
    columns = _columns(layout, report.notes)
    values = values_of(*texts_of(str(path), "utf-8"), layout)
    table = TextTable(path, layout, columns, {columns[at]: each for at, each in values.items()})
    if layout.delimiter == " " or layout.spaced:
        _respace(table)
    try:
        rows, chosen, missing = _look(database, table, report, progress)
    except duckdb.Error as error:
        raise ConversionError(f"{shown} cannot be read as a table: {_first_line(error)}") from error
    if rows == 0 and report.rejected_rows:
        line, reason = report.rejected[0]
        raise ConversionError(f"No row of {shown} could be read. Line {line:,}: {reason}.")
    if rows == 0:
        report.notes.append("There are no rows, only the names of the columns.")
    _forget_rejects(database)
    source = table.reading()
    write(database, source, chosen, target, progress, "converting", (0.5, 1.0), missing)
    return rows


def _columns(layout: Layout, notes: list[str]) -> list[str]:
    """The names of the columns, unique whatever the case of letters; notes say what was assumed."""
    if layout.skip:
        notes.append(f"The first {layout.skip:,} lines before the table were skipped.")
    if not layout.header:
        notes.append("The first line has no column names: columns are numbered.")
    given = list(layout.names)
    if layout.row_names:
        notes.append("The first column has no name in the first line; it is called row.")
        given[0] = "row"
    taken: set[str] = set()
    columns: list[str] = []
    changed: list[str] = []
    for number, wanted in enumerate(given, 1):
        base = wanted[:200] or f"column{number}"
        new, count = base, 1
        while new.lower() in taken:
            count += 1
            new = f"{base}_{count}"
        taken.add(new.lower())
        columns.append(new)
        if new != wanted:
            changed.append(f"column {number} is called {new}")
    if changed:
        notes.append(f"Missing or duplicate names: {names(changed)}.")
    for place, form in layout.numbers.items():
        doubt = " They can be read in two ways: decimal decides." if form.ambiguous else ""
        notes.append(f"Numbers of {columns[place]} are written as {form.example}.{doubt}")
    return columns


def _respace(table: TextTable) -> None:
    """Write the file as CSV without the spaces around its values, line by line."""
    copy = table.path.with_name("respaced")
    layout = table.layout
    csv.field_size_limit(1 << 30)
    with (
        table.path.open(encoding="utf-8-sig", newline="") as source,
        copy.open("w", encoding="utf-8", newline="") as target,
    ):
        writer = csv.writer(target, lineterminator="\n")
        if layout.delimiter == " ":
            writer.writerows(reader(source, " "))
        else:
            delimiter = layout.delimiter
            writer.writerows(csv.reader(source, delimiter=delimiter, skipinitialspace=True))
    table.path = copy
    table.layout = replace(layout, delimiter=",", escape='"')


def write(
    database: duckdb.DuckDBPyConnection,
    source: str,
    chosen: dict[str, Kind | None],
    target: Path,
    progress: Progress,
    stage: str,
    part: tuple[float, float],
    missing: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write a table of text with the inferred column types; ``missing`` has what means a missing
    value in columns of text."""
    given = missing or {}
    columns = ", ".join(
        types.cast(name, kind, given.get(name, ())) for name, kind in chosen.items()
    )
    run(
        database,
        f"COPY (SELECT {columns} FROM {source}) TO {literal(str(target))} "
        f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {group_size(len(chosen))})",
        [],
        progress,
        stage,
        part,
    )


def candidates_in(
    database: duckdb.DuckDBPyConnection, source: str, kinds: dict[str, list[Kind]]
) -> dict[str, list[Kind]]:
    """For each column the types that almost all of its first values have; every type if it has no
    values there."""
    rows = min(SAMPLE_ROWS, max(LEAST_SAMPLE_ROWS, SAMPLE_CELLS // max(len(kinds), 1)))
    sample = f"(SELECT * FROM {source} LIMIT {rows})"
    found: dict[str, Counted] = {}
    for some in batches(kinds, COUNTS_OF_SAMPLE):
        row = database.execute(types.counts(sample, some)).fetchone()
        assert row is not None
        found |= types.read_counts(row, some)[1]
    return {
        column: [
            kind
            for kind, wrong in zip(kinds[column], misfits, strict=True)
            if wrong <= values * NEARLY
        ]
        for column, (values, misfits, *_) in found.items()
    }


def count_all(
    database: duckdb.DuckDBPyConnection,
    source: str,
    parts: list[dict[str, list[Kind]]],
    progress: Progress,
    part: tuple[float, float],
) -> tuple[int, dict[str, Counted]]:
    """The number of rows, and the result of ``types.read_counts`` for each column."""
    rows = 0
    found: dict[str, Counted] = {}
    start, end = part
    step = (end - start) / max(len(parts), 1)
    for number, some in enumerate(parts):
        place = (start + number * step, start + (number + 1) * step)
        row = run(database, types.counts(source, some), [], progress, "converting", place)[0]
        rows, more = types.read_counts(row, some)
        found |= more
    return rows, found


def batches(
    candidates: dict[str, list[Kind]], most: int = COUNTS_OF_TABLE
) -> list[dict[str, list[Kind]]]:
    """Columns in batches for one query: the time to plan one grows with the square."""
    made: list[dict[str, list[Kind]]] = [{}]
    counts = 0
    for column, kinds in candidates.items():
        counts += 2 + len(kinds)
        if counts > most and made[-1]:
            made.append({})
            counts = 2 + len(kinds)
        made[-1][column] = kinds
    return made


def choose(
    found: dict[str, Counted], candidates: dict[str, list[Kind]], report: Report
) -> dict[str, Kind | None]:
    """The type of each column (None: text), and a note of those that are nearly another."""
    chosen: dict[str, Kind | None] = {}
    for column, (values, misfits, *_) in found.items():
        kinds = candidates[column]
        fitting = [kind for kind, wrong in zip(kinds, misfits, strict=True) if not wrong]
        chosen[column] = fitting[0] if fitting and values else None
        if (
            values
            and any(kind in types.DAY_FIRST for kind in fitting)
            and any(kind in types.MONTH_FIRST for kind in fitting)
        ):
            chosen[column] = None
            report.notes.append(f"{column} is text: its dates may have the day first or the month.")
        elif not fitting and kinds and values:
            wrong, kind = min(zip(misfits, kinds, strict=True), key=lambda pair: pair[0])
            if wrong <= values * NEARLY:
                report.notes.append(
                    f"{column} is text: {wrong:,} of its {values:,} values are not {kind.what}."
                )
    empty = [name for name, counted in found.items() if not counted.values and not counted.marked]
    if empty and any(counted.values for counted in found.values()):
        report.notes.append(f"Columns without any value: {names(empty)}.")
    return chosen


def _look(
    database: duckdb.DuckDBPyConnection,
    table: TextTable,
    report: Report,
    progress: Progress,
) -> tuple[int, dict[str, Kind | None], dict[str, list[str]]]:
    """Read the whole file once: its rows, the types of its columns, what means a missing value in
    columns of text, and the rejected rows."""
    blanked: list[int] = []
    forms = table.layout.numbers
    kinds = {name: types.kinds(forms.get(at)) for at, name in enumerate(table.columns)}
    while True:
        source = table.reading()
        candidates = candidates_in(database, source, kinds)
        _forget_rejects(database)
        first, *others = batches(candidates)
        share = 0.5 / (1 + len(others))
        rows, found = count_all(database, source, [first], progress, (0.0, share))
        opened = _open_quote(database) if table.quoted else None
        if opened is None:
            break
        if len(blanked) == MOST_OPEN_QUOTES:
            table.quoted = False
            report.notes.append(
                "The quotes in this file do not pair up; they were read as ordinary characters."
            )
            continue
        line, position = opened
        _blank(table.path, position)
        blanked.append(line)
    _report_rejected(database, report, set(blanked) if table.quoted else set())
    found |= count_all(database, source, others, progress, (share, 0.5))[1]
    chosen = choose(found, candidates, report)
    markers = {column: found[column].markers for column, kind in chosen.items() if kind is None}
    return rows, chosen, _missing(table, markers, report)


def _missing(
    table: TextTable, markers: dict[str, list[str]], report: Report
) -> dict[str, list[str]]:
    """What means a missing value in columns of text, with notes of that and of what does not;
    ``markers`` are those that each of them has."""
    missing: dict[str, list[str]] = {}
    for column, found in markers.items():
        values = table.values.get(column, [])
        for each in found:
            if each in values:
                report.notes.append(f"{each} is a value, not a gap, in {column}.")
            else:
                missing.setdefault(column, []).append(each)
                report.notes.append(f"{each} means a missing value in {column}.")
    return missing


def _forget_rejects(database: duckdb.DuckDBPyConnection) -> None:
    for each in ("reject_errors", "reject_scans"):
        database.execute(f"DROP TABLE IF EXISTS {each}")


def _open_quote(database: duckdb.DuckDBPyConnection) -> tuple[int, int] | None:
    """Line and byte offset of the first row that an open quote continues into the lines below."""
    first: tuple[int, int] | None = database.execute(
        "SELECT line, line_byte_position FROM reject_errors WHERE error_type IN "
        "('UNQUOTED VALUE', 'LINE SIZE OVER MAXIMUM') AND contains(csv_line, chr(10)) "
        "ORDER BY line LIMIT 1"
    ).fetchone()
    return first


def _blank(path: Path, position: int) -> None:
    """Fill a line with spaces: it becomes a row with one value, which is rejected, and the lines
    below are rows again."""
    with path.open("r+b") as file:
        file.seek(max(position, 0))
        line = file.readline(LONGEST_LINE)
        file.seek(max(position, 0))
        file.write(b" " * len(line.rstrip(b"\r\n")))


def _report_rejected(
    database: duckdb.DuckDBPyConnection, report: Report, blanked: set[int]
) -> None:
    count = database.execute("SELECT count(DISTINCT line) FROM reject_errors").fetchone()
    first = database.execute(
        "SELECT line, any_value(error_type), any_value(error_message) FROM reject_errors "
        "GROUP BY line ORDER BY line LIMIT 20"
    ).fetchall()
    for line, kind, message in first:
        quote = "a quote is opened in it and never closed"
        report.reject(line, quote if line in blanked else _reason(kind, message))
    report.rejected_rows = count[0] if count else 0
    if report.rejected_rows >= MOST_REJECTED:
        report.notes.append(f"At least {MOST_REJECTED:,} rows could not be read.")


def _reason(kind: str, message: str) -> str:
    found = _FOUND.search(message or "")
    if kind in ("MISSING COLUMNS", "TOO MANY COLUMNS") and found:
        return f"it has {found[2]} values instead of {found[1]}"
    if kind == "UNQUOTED VALUE":
        return "its quotes are not paired, or something follows a closing one"
    if kind == "LINE SIZE OVER MAXIMUM":
        return f"it is longer than {LONGEST_LINE // 1_000_000} MB"
    if kind in ("INVALID ENCODING", "INVALID UNICODE"):
        return "it is not text in UTF-8"
    return kind.lower() if kind else "it cannot be read"


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:300]
