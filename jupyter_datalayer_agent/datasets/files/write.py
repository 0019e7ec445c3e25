"""Writes a table, which is a Parquet file, in another format."""

from __future__ import annotations

import datetime
import json
import math
import os
import re
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from ..convert.duck import literal, run
from ..convert.outcome import ConversionError, Progress, names
from ..convert.parquet import select_python

EXCEL_ROWS, EXCEL_COLUMNS, EXCEL_TEXT = 1_048_576, 16_384, 32_767
EXCEL_EXACT = 2**53
"""Excel keeps numbers as floats: greater ones would lose digits."""
_BLOCK = 2_000
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def write(
    database: duckdb.DuckDBPyConnection,
    table: Path,
    output: Path,
    format: str,
    progress: Progress,
) -> list[str]:
    """Write the file; notes of what the format could not keep. Raises ``ConversionError``."""
    if format == "parquet":
        shutil.copyfile(table, output)
        return []
    if format == "excel":
        return _to_excel(database, table, output, progress)
    how = {
        "csv": "FORMAT csv, HEADER, DELIMITER ','",
        "tsv": "FORMAT csv, HEADER, DELIMITER '\t'",
        "jsonl": "FORMAT json",
    }[format]
    query = f"COPY (FROM read_parquet({literal(str(table))})) TO {literal(str(output))} ({how})"
    run(database, query, [], progress, "writing")
    return []


def _to_excel(
    database: duckdb.DuckDBPyConnection, table: Path, output: Path, progress: Progress
) -> list[str]:
    from openpyxl import Workbook

    source = f"read_parquet({literal(str(table))})"
    rows = database.execute(f"SELECT count(*) FROM {source}").fetchall()[0][0]
    reading = database.execute(select_python(database, source))
    columns = [str(each[0]) for each in reading.description or ()]
    if rows + 1 > EXCEL_ROWS or len(columns) > EXCEL_COLUMNS:
        raise ConversionError(
            f"An Excel sheet has at most {EXCEL_ROWS - 1:,} rows and {EXCEL_COLUMNS:,} columns; "
            f"this table has {rows:,} and {len(columns):,}. Choose Parquet or CSV, or a sample."
        )
    book = Workbook(write_only=True)
    sheet = book.create_sheet("data")
    cells = _Cells(sheet, columns)
    sheet.append([cells.text(each) for each in columns])
    done = 0
    while block := reading.fetchmany(_BLOCK):
        for row in block:
            sheet.append([cells.cell(place, value) for place, value in enumerate(row)])
        done += len(block)
        progress("writing", done / max(rows, 1))
    with output.open("wb") as file:
        book.save(file)
        file.flush()
        os.fsync(file.fileno())
    return cells.notes()


class _Cells:
    """Values as cells, and a record of those that a sheet cannot have as they are."""

    def __init__(self, sheet: Any, columns: list[str]) -> None:
        self._sheet = sheet
        self._columns = columns
        self._as_text: dict[str, None] = {}
        self._control: dict[str, None] = {}

    def text(self, text: str) -> Any:
        """A text is a text, also one that begins as a formula does."""
        from openpyxl.cell import WriteOnlyCell

        cell = WriteOnlyCell(self._sheet, value="")
        cell.value = text
        cell.data_type = "s"
        return cell

    def cell(self, place: int, value: Any) -> Any:
        column = self._columns[place]
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._of_text(column, value)
        if isinstance(value, float):
            if math.isfinite(value):
                return value
            return None if math.isnan(value) else self._written_as_text(column, str(value))
        if isinstance(value, int) and abs(value) <= EXCEL_EXACT:
            return value
        if isinstance(value, Decimal) and value == Decimal(float(value)):
            return float(value)
        if isinstance(value, datetime.datetime) and value.tzinfo is None and value.year >= 1900:
            return value
        if isinstance(value, datetime.date | datetime.time) and not _odd(value):
            return value
        if isinstance(value, dict | list):
            return self._written_as_text(column, json.dumps(value, default=str, ensure_ascii=False))
        if isinstance(value, bytes):
            return self._written_as_text(column, value.hex())
        return self._written_as_text(column, str(value))

    def notes(self) -> list[str]:
        """What was not written as it is."""
        found = []
        if self._as_text:
            columns = names([*self._as_text])
            found.append(f"Written as text, since Excel has no such values: {columns}.")
        if self._control:
            found.append(f"Control characters were left out in: {names([*self._control])}.")
        return found

    def _written_as_text(self, column: str, text: str) -> Any:
        self._as_text[column] = None
        return self._of_text(column, text)

    def _of_text(self, column: str, text: str) -> Any:
        if _CONTROL.search(text):
            self._control[column] = None
            text = _CONTROL.sub("", text)
        if len(text) > EXCEL_TEXT:
            raise ConversionError(
                f"A value of {column} has {len(text):,} characters; a cell of Excel has at most "
                f"{EXCEL_TEXT:,}. Choose Parquet or CSV."
            )
        return self.text(text)


def _odd(value: datetime.date | datetime.time) -> bool:
    if isinstance(value, datetime.time):
        return value.tzinfo is not None
    return isinstance(value, datetime.datetime) or value.year < 1900
