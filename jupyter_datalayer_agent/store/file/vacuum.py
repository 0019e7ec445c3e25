"""Pages of the file that hold nothing any more go back to the disk.

A file that was made so gives them back at its end, a few at a time. One of an earlier version
cannot; it is written anew once, after which it can.
"""

from __future__ import annotations

import sqlite3

PAGES_A_STEP = 128
"""Half a megabyte, a few milliseconds of the writer's time."""
SPARE_PAGES = 256
"""Free pages that stay for what is written next."""
WORTH_IT = 4
"""A file is rebuilt when one in this many of its pages is free."""

INCREMENTAL = 2
"""SQLite's name for files that give pages back when they are asked to; 0 is for the others."""


def shrink(connection: sqlite3.Connection) -> bool:
    """One step, outside any transaction; False: nothing is to be given back, or the file cannot."""
    if _number(connection, "auto_vacuum") != INCREMENTAL:
        return False
    more = _number(connection, "freelist_count") - SPARE_PAGES
    if more <= 0:
        return False
    # It frees a page for each step of SQLite's, and ``execute`` takes one alone.
    connection.executescript(f"PRAGMA incremental_vacuum({min(more, PAGES_A_STEP)})")
    return more > PAGES_A_STEP


def is_to_be_rebuilt(connection: sqlite3.Connection) -> bool:
    """Whether the file cannot give pages back and has many that are free, while no turn runs."""
    free = _number(connection, "freelist_count")
    return (
        _number(connection, "auto_vacuum") == 0
        and free > SPARE_PAGES
        and free * WORTH_IT >= _number(connection, "page_count")
        and connection.execute("SELECT 1 FROM turns WHERE status = 'running'").fetchone() is None
    )


def rebuild(connection: sqlite3.Connection) -> None:
    """Rebuild the whole file, outside any transaction. On failure the file is unchanged."""
    connection.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
