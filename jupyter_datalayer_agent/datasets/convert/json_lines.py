"""JSON lines (an object a line), and a JSON array of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import duckdb

from . import types
from .duck import literal
from .outcome import ConversionError, Progress, Report, names
from .tables import batches, candidates_in, choose, count_all, write
from .text import LONGEST_LINE

MOST_COLUMNS = 10_000


def convert(
    database: duckdb.DuckDBPyConnection,
    path: Path,
    work: Path,
    target: Path,
    report: Report,
    progress: Progress,
    *,
    array: bool,
    shown: str,
) -> None:
    """Write the UTF-8 file ``path`` as Parquet. Raises ``ConversionError``."""
    source = path if array else _good_lines(path, work / "lines", report, progress, shown)
    form = "array" if array else "newline_delimited"
    reading = (
        f"read_json({literal(str(source))}, format='{form}', sample_size=-1, "
        f"maximum_object_size={LONGEST_LINE}, records=true)"
    )
    try:
        columns = database.execute(f"DESCRIBE SELECT * FROM {reading}").fetchall()
        if len(columns) > MOST_COLUMNS:
            raise ConversionError(
                f"{shown} has {len(columns):,} different keys; {MOST_COLUMNS:,} is the limit."
            )
        chosen = _types(database, reading, columns, report, progress)
        write(database, reading, chosen, target, progress, "converting", (0.5, 1.0))
    except duckdb.Error as error:
        why = str(error).splitlines()[0][:300].replace(str(source), shown)
        raise ConversionError(f"{shown} cannot be read as JSON: {why}") from error


def _types(
    database: duckdb.DuckDBPyConnection,
    reading: str,
    columns: list[tuple[str, ...]],
    report: Report,
    progress: Progress,
) -> dict[str, types.Kind | None]:
    """JSON has no dates: a column of dates or times in text becomes one."""
    chosen: dict[str, types.Kind | None] = dict.fromkeys((each[0] for each in columns), None)
    texts = [each[0] for each in columns if each[1] == "VARCHAR"]
    mixed = [each[0] for each in columns if each[1] == "JSON"]
    if mixed:
        report.notes.append(f"Values of several kinds, kept as JSON texts: {names(mixed)}.")
    if texts:
        candidates = candidates_in(database, reading, dict.fromkeys(texts, types.DATES))
        _, found = count_all(database, reading, batches(candidates), progress, (0.0, 0.5))
        chosen |= choose(found, candidates, report)
    return chosen


def _good_lines(path: Path, copy: Path, report: Report, progress: Progress, shown: str) -> Path:
    """The file, or a copy without the lines that are no objects."""
    good = 0
    size = max(path.stat().st_size, 1)
    with path.open("rb") as file:
        for number, line in _lines(file):
            if why := _wrong(line):
                report.reject(number, why)
            else:
                good += bool(line.strip())
            if number % 10_000 == 0:
                progress("checking", file.tell() / size)
    if good == 0:
        first = (
            f" Line {report.rejected[0][0]}: {report.rejected[0][1]}." if report.rejected else ""
        )
        raise ConversionError(f"No line of {shown} is a JSON object.{first}")
    if not report.rejected_rows:
        return path
    with path.open("rb") as file, copy.open("wb") as target:
        for _, line in _lines(file):
            if not _wrong(line):
                target.write(line)
    return copy


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers; a too long one is cut just past the limit."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                pass
        yield number, line


def _wrong(line: bytes) -> str | None:
    if len(line) > LONGEST_LINE:
        return f"it is longer than {LONGEST_LINE // 1_000_000} MB"
    if not line.strip():
        return None
    try:
        value = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        return f"it is not valid JSON ({getattr(error, 'msg', 'not UTF-8')})"
    except RecursionError:
        return "it is nested too deeply"
    return None if isinstance(value, dict) else "it is not an object"
