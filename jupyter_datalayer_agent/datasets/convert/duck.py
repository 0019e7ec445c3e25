"""A DuckDB that keeps within its memory, and reports its progress."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb

from .outcome import Progress

MEMORY = "256MB"
THREADS = 2
POLL_SECONDS = 0.2
CELLS_OF_A_GROUP = 2_000_000


def connect(work: Path) -> duckdb.DuckDBPyConnection:
    """A database in memory that spills into ``work``, without network access."""
    database = duckdb.connect(
        config={
            "memory_limit": MEMORY,
            "threads": str(THREADS),
            "temp_directory": str(work / "spill"),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
    )
    database.execute("SET enable_progress_bar = true")
    database.execute("SET enable_progress_bar_print = false")
    return database


def run(
    database: duckdb.DuckDBPyConnection,
    query: str,
    values: Sequence[Any],
    progress: Progress,
    stage: str,
    part: tuple[float, float] = (0.0, 1.0),
) -> list[tuple[Any, ...]]:
    """Run a query and report its progress: ``part`` is its share of the stage."""
    done = threading.Event()
    start, end = part

    def report_progress() -> None:
        while not done.wait(POLL_SECONDS):
            percent = database.query_progress()
            if percent >= 0:
                progress(stage, start + (end - start) * min(percent, 100.0) / 100.0)

    reporter = threading.Thread(target=report_progress, daemon=True)
    reporter.start()
    try:
        rows: list[tuple[Any, ...]] = database.execute(query, values).fetchall()
        return rows
    finally:
        done.set()
        reporter.join()


def group_size(columns: int) -> int:
    """Rows of a Parquet row group: DuckDB holds one for each thread, of all columns."""
    return max(2048, min(122_880, CELLS_OF_A_GROUP // max(columns, 1)) // 2048 * 2048)


def name(text: str) -> str:
    """A column's name in SQL."""
    return '"' + text.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def free_name(wanted: str, columns: Iterable[str]) -> str:
    """A column's name like the wanted one that none of the columns has, in any case of letters."""
    taken = {each.lower() for each in columns}
    while wanted.lower() in taken:
        wanted = f"_{wanted}"
    return wanted


def numbered_rows(source: str, number: str) -> str:
    """A query of the source's columns and a column ``number`` with the place of each row, from 0.

    DuckDB's own ``file_row_number`` fails for a file that has a column of that name.
    """
    return f"SELECT *, row_number() OVER () - 1 AS {name(number)} FROM {source}"
