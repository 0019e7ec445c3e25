"""The formats of data files that are written, and those that are read."""

from __future__ import annotations

from pathlib import PurePosixPath

SUFFIXES = {
    "csv": ".csv",
    "tsv": ".tsv",
    "parquet": ".parquet",
    "excel": ".xlsx",
    "jsonl": ".jsonl",
}
"""What is written, by format."""
READ = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}
"""What is read, by the end of its name."""


def format_of(path: str) -> str | None:
    """The format that a file's name says it has; None for no data file."""
    return READ.get(PurePosixPath(path).suffix.lower())
