"""The names of a data file's columns, without reading the whole of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ...opening import opened
from ..dialect.encodings import head_of
from ..dialect.layout import find_layout
from .formats import format_of

FIRST_ROWS = 20


def columns_of(
    file: Path, choices: Mapping[str, str] | None = None, root: str | None = None
) -> list[str]:
    """The columns in order; empty where they cannot be read. ``choices`` are the user's:
    ``encoding``, ``delimiter``. With a ``root``, the file has to be in that directory.

    Those of JSON lines are the keys of the first objects.
    """
    kind = format_of(file.name)
    try:
        if kind == "parquet":
            return _of_parquet(file, root)
        if kind == "excel":
            return _of_excel(file, root)
        if kind == "jsonl":
            return _of_json_lines(file, choices or {}, root)
        return _of_text(file, choices or {}, root) if kind in ("csv", "tsv") else []
    except Exception:  # noqa: BLE001 - a damaged file can raise anything; it has no columns then
        return []


def _of_parquet(file: Path, root: str | None) -> list[str]:
    import duckdb

    # DuckDB opens it by its path, and would wait for a FIFO.
    with opened(file, root) as found, duckdb.connect() as database:
        return [
            str(row[0])
            for row in database.execute("DESCRIBE FROM read_parquet(?)", [found.real]).fetchall()
        ]


def _of_excel(file: Path, root: str | None) -> list[str]:
    import openpyxl

    with opened(file, root) as found:
        book = openpyxl.load_workbook(found.file, read_only=True, data_only=True)
        for sheet in book.worksheets:
            for row in sheet.iter_rows(max_row=FIRST_ROWS, values_only=True):
                names = [str(value).strip() for value in row if value is not None]
                if len(names) > 1 or (names and sheet.max_column == 1):
                    return names
    return []


def _of_json_lines(file: Path, choices: Mapping[str, str], root: str | None) -> list[str]:
    columns: dict[str, None] = {}
    for line in (head_of(file, choices.get("encoding"), root) or "").splitlines()[:FIRST_ROWS]:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            columns |= dict.fromkeys(row)
    return list(columns)


def _of_text(file: Path, choices: Mapping[str, str], root: str | None) -> list[str]:
    head = head_of(file, choices.get("encoding"), root)
    if head is None:
        return []
    layout = find_layout(head, delimiter=choices.get("delimiter"))
    return layout.names if layout.header else []
