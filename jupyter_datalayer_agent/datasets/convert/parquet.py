"""Parquet: kept as it is after a complete read; and the report on any Parquet file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import duckdb

from .duck import literal, name, run
from .outcome import ConversionError, Progress

SAMPLE_ROWS = 3
SAMPLE_CHARACTERS = 200
_MEASURED_ROWS = 50_000
_TYPES = {
    "BIGINT": "int64", "INTEGER": "int32", "SMALLINT": "int16", "TINYINT": "int8",
    "UBIGINT": "uint64", "UINTEGER": "uint32", "USMALLINT": "uint16", "UTINYINT": "uint8",
    "DOUBLE": "float64", "FLOAT": "float32", "BOOLEAN": "bool", "VARCHAR": "text",
    "DATE": "date", "TIMESTAMP": "timestamp", "TIMESTAMP_NS": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "timestamp", "BLOB": "bytes", "TIME": "time",
}  # fmt: skip
# Bytes of a value in a pandas frame: a Python string has 50 besides its characters.
_BYTES = {"int32": 4, "float32": 4, "int16": 2, "uint16": 2, "int8": 1, "uint8": 1, "bool": 1}
_OF_NUMBER, _OF_STRING, _OF_OTHER = 8, 58, 120


def convert(
    database: duckdb.DuckDBPyConnection, path: Path, target: Path, progress: Progress, shown: str
) -> None:
    """Read all values, and keep the file byte for byte."""
    source = f"read_parquet({literal(str(path))})"
    try:
        columns = database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        if not columns:
            raise ConversionError(f"{shown} has no columns.")
        hashes = ", ".join(f"bit_xor(hash({name(each[0])}))" for each in columns)
        run(database, f"SELECT {hashes} FROM {source}", [], progress, "checking")
    except duckdb.Error as error:
        why = str(error).splitlines()[0][:300].replace(str(path), shown)
        raise ConversionError(f"{shown} is a damaged Parquet file: {why}") from error
    os.replace(path, target)


def select_python(database: duckdb.DuckDBPyConnection, source: str) -> str:
    """A SELECT of all columns, of values that DuckDB makes Python objects of by itself: for times
    with a zone it needs pytz, so they are texts."""
    columns = [
        f"CAST({name(row[0])} AS VARCHAR) AS {name(row[0])}"
        if row[1] in ("TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE")
        else name(row[0])
        for row in database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    ]
    return f"SELECT {', '.join(columns)} FROM {source}"


def facts(database: duckdb.DuckDBPyConnection, path: Path) -> dict[str, Any]:
    """The report on the Parquet file, as it is read back: rows, columns, sizes, first rows."""
    source = f"read_parquet({literal(str(path))})"
    described = database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    columns = [{"name": row[0], "type": _type(row[1])} for row in described]
    count = database.execute(f"SELECT count(*) FROM {source}").fetchone()
    rows = int(count[0]) if count else 0
    return {
        "rows": rows,
        "columns": columns,
        "size": path.stat().st_size,
        "memory": _memory(database, source, columns, rows),
        "sample": _sample(database, source, columns),
    }


def _type(duckdb_type: str) -> str:
    return _TYPES.get(duckdb_type, duckdb_type.lower()[:200])


def _memory(
    database: duckdb.DuckDBPyConnection, source: str, columns: list[dict[str, str]], rows: int
) -> int:
    texts = [each["name"] for each in columns if each["type"] == "text"]
    total = 0.0
    if texts and rows:
        lengths = ", ".join(f"avg(strlen({name(each)}))" for each in texts)
        row = database.execute(
            f"SELECT {lengths} FROM (SELECT * FROM {source} LIMIT {_MEASURED_ROWS})"
        ).fetchone()
        total += sum(_OF_STRING + (each or 0.0) for each in row or ())
    for each in columns:
        if each["type"] in ("int64", "uint64", "float64", "date", "timestamp"):
            total += _OF_NUMBER
        elif each["type"] != "text":
            total += _BYTES.get(each["type"], _OF_OTHER)
    return int(total * rows)


def _sample(
    database: duckdb.DuckDBPyConnection, source: str, columns: list[dict[str, str]]
) -> list[dict[str, Any]]:
    found = database.execute(f"{select_python(database, source)} LIMIT {SAMPLE_ROWS}").fetchall()
    keys = [each["name"] for each in columns]
    return [dict(zip(keys, map(_shown, row), strict=True)) for row in found]


def _shown(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    text = json.dumps(value, default=str) if isinstance(value, dict | list) else str(value)
    return text if len(text) <= SAMPLE_CHARACTERS else text[: SAMPLE_CHARACTERS - 1] + "…"
