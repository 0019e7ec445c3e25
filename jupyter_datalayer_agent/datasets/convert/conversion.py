"""One file made Parquet, whatever it is."""

from __future__ import annotations

import csv
import datetime
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import duckdb

from ..dialect.file import looks_like_text, refuse_foreign
from ..dialect.layout import Unreadable
from . import parquet, tables, types
from .duck import connect, literal
from .outcome import ConversionError, Progress, Report, names
from .tables import batches, candidates_in, choose, count_all, write
from .text import LONGEST_LINE, as_utf8

# The kind of a file, by its first bytes and then by its name.


TAKEN = "Upload CSV, TSV, Parquet, JSON lines or Excel (.xlsx)."
_WORDS = {
    "csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "jsonl": "JSON lines", "json": "JSON",
    "excel": "Excel",
}  # fmt: skip
_BY_SUFFIX = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet",
    ".pq": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".xlsx": "excel",
    ".xlsm": "excel",
}  # fmt: skip


def kind_of(path: Path, name: str) -> tuple[str, str | None]:
    """The format (``csv``, ``tsv``, ``parquet``, ``jsonl``, ``json``, ``excel``), and a note if the
    name says another. Raises ``ConversionError`` for anything else."""
    with path.open("rb") as file:
        head = file.read(4096)
    if not head.strip():
        raise ConversionError(f"{name} is empty.")
    kind = _by_content(path, head, name)
    expected = _BY_SUFFIX.get(Path(name).suffix.lower())
    if kind is None:
        kind = expected if expected in ("csv", "tsv") else _text_kind(head)
    same = expected is None or kind == expected or {kind, expected} <= {"json", "jsonl"}
    note = (
        None if same else f"The name suggests {_WORDS[expected or kind]}, but it is {_WORDS[kind]}."
    )
    return kind, note


def _by_content(path: Path, head: bytes, name: str) -> str | None:
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):
        return _archive(path, name)
    try:
        refuse_foreign(head)
    except Unreadable as error:
        raise ConversionError(f"{name} {error}. {TAKEN}") from error
    suffix = Path(name).suffix.lower()
    if suffix in (".parquet", ".pq", ".xlsx", ".xlsm") and not looks_like_text(head):
        what = _WORDS[_BY_SUFFIX[suffix]]
        raise ConversionError(f"{name} is damaged, or not a {what} file at all. {TAKEN}")
    return None


def _archive(path: Path, name: str) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            inside = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise ConversionError(f"{name} is a damaged Excel file or archive: {error}.") from error
    if "xl/workbook.xml" in inside:
        return "excel"
    if "xl/workbook.bin" in inside:
        raise ConversionError(f"{name} is a binary Excel file (.xlsb). Save it as .xlsx.")
    raise ConversionError(f"{name} is a zip archive. Unpack it first. {TAKEN}")


def _text_kind(head: bytes) -> str:
    """JSON if it begins like JSON, else a delimited table."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"{"):
        return "jsonl"
    if start.startswith(b"[") and start[1:].lstrip()[:1] in (b"{", b"]"):
        return "json"
    return "csv"


# Excel: the first sheet that holds something, row by row.


MOST_UNPACKED = 4_000_000_000
MOST_SHARED = 200_000_000
MOST_RATIO = 250
"""A sheet is compressed some twenty times; far more means a decompression bomb."""
MOST_COLUMNS = 16_384
_SMALL = 50_000_000


def to_csv(path: Path, work: Path, report: Report, progress: Progress, shown: str) -> Path:
    """Write the sheet as CSV, from which types are inferred as usual. Raises
    ``ConversionError``."""
    _refuse_bomb(path, shown)
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        # As a file object: with a path, openpyxl would check its suffix, which is not the upload's.
        book = openpyxl.load_workbook(
            path.open("rb"), read_only=True, data_only=True, keep_links=False
        )
    except (InvalidFileException, KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise ConversionError(f"{shown} is a damaged Excel file: {error}") from error
    except SyntaxError as error:  # what the XML parser raises
        raise ConversionError(f"{shown} is a damaged Excel file: {error}") from error
    target = work / "sheet.csv"
    passed: list[str] = []
    for sheet in book.worksheets:
        if _write(sheet, target, progress, shown):
            others = [each.title for each in book.worksheets if each is not sheet]
            if others:
                report.notes.append(
                    f"Only the sheet {sheet.title} was read; there are also: {names(others)}."
                )
            return target
        passed.append(sheet.title)
    raise ConversionError(f"{shown} is empty: there is nothing in its sheets ({names(passed)}).")


def _write(sheet: Any, target: Path, progress: Progress, shown: str) -> bool:
    """Write the rows, without empty ones; whether there were any."""
    sheet.reset_dimensions()
    widths: set[int] = set()
    try:
        with target.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
                if number % 5_000 == 0:
                    progress("checking", None)
                cells = [_text(value) for value in row]
                while cells and not cells[-1]:
                    cells.pop()
                if cells:
                    widths.add(len(cells))
                    writer.writerow(cells)
    except (KeyError, ValueError, SyntaxError, OSError, zipfile.BadZipFile) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ConversionError(f"{shown} is a damaged Excel file: {error}") from error
    if len(widths) > 1:
        _fill_up(target, max(widths))
    return bool(widths)


def _fill_up(target: Path, width: int) -> None:
    """Give all rows the same number of cells: a sheet does not define its table's width."""
    csv.field_size_limit(1 << 30)
    filled = target.with_suffix(".filled")
    with (
        target.open(encoding="utf-8", newline="") as source,
        filled.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        for row in csv.reader(source):
            writer.writerow(row + [""] * (width - len(row)))
    os.replace(filled, target)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _refuse_bomb(path: Path, shown: str) -> None:
    """Check the declared size: ``zipfile`` unpacks no more than that."""
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
    total = sum(part.file_size for part in parts)
    packed = max(sum(part.compress_size for part in parts), 1)
    shared = sum(part.file_size for part in parts if not part.filename.startswith("xl/worksheets"))
    if (
        total > MOST_UNPACKED
        or shared > MOST_SHARED
        or (total > _SMALL and total / packed > MOST_RATIO)
    ):
        raise ConversionError(
            f"{shown} was not opened: its {packed:,} bytes unpack to {total:,}, which is more than "
            "a workbook may. Save the table as CSV."
        )


# JSON lines (an object a line), and a JSON array of objects.


MOST_KEYS = 10_000


def convert_json_lines(
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
        if len(columns) > MOST_KEYS:
            raise ConversionError(
                f"{shown} has {len(columns):,} different keys; the limit is {MOST_KEYS:,}."
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


def convert(job: dict[str, Any], report_progress: Progress) -> dict[str, Any]:
    """Write the Parquet file and read its report back. Raises ``ConversionError``."""
    source, target, work = Path(job["source"]), Path(job["target"]), Path(job["work"])
    shown = job["name"]
    kind, note = kind_of(source, shown)
    report = Report(kind)
    if note:
        report.notes.append(note)
    rows: int | None = None
    encoding, delimiter = job.get("encoding"), job.get("delimiter")
    report_progress("checking", 0.0)
    with connect(work) as database:
        if kind == "parquet":
            parquet.convert(database, source, target, report_progress, shown)
        elif kind in ("json", "jsonl"):
            text = as_utf8(source, work, shown, report, report_progress, encoding)
            convert_json_lines(
                database,
                text,
                work,
                target,
                report,
                report_progress,
                array=kind == "json",
                shown=shown,
            )
        else:
            if kind == "excel":
                text = to_csv(source, work, report, report_progress, shown)
                delimiter = ","
            else:
                text = as_utf8(source, work, shown, report, report_progress, encoding)
            layout = tables.layout_of(text, shown, report, delimiter, job.get("decimal"))
            rows = tables.convert(database, text, layout, target, report, report_progress, shown)
            if kind == "excel":
                report.delimiter = None
        facts = parquet.facts(database, target)
        if rows is not None and facts["rows"] != rows:
            raise ConversionError(
                f"{shown} has {rows:,} rows, but {facts['rows']:,} were written. Nothing was kept."
            )
        return {**facts, "report": report.to_json()}
