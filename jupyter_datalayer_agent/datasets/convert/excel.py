"""Excel: the first sheet that holds something, row by row."""

from __future__ import annotations

import csv
import datetime
import os
import zipfile
from pathlib import Path
from typing import Any

from .outcome import ConversionError, Progress, Report, names

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
