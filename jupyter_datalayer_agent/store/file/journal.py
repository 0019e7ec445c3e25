"""Taking the write-ahead log away from a database that is on a network file system."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from ..migrations import TABLE, ForeignDatabase
from .driver import BUSY_TIMEOUT_MS

READ_VERSION = 19
"""Where the header says whether there is a log: https://sqlite.org/fileformat2.html, 1.3.3."""
WITH_LOG = b"\x02"


def has_log(path: Path) -> bool:
    """Whether the file is a database with a write-ahead log."""
    try:
        with path.open("rb") as file:
            file.seek(READ_VERSION)
            return file.read(1) == WITH_LOG
    except FileNotFoundError:
        return False


def leave_log(path: Path) -> None:
    """Write what is in the log into the file and remove the log; nothing that was kept is lost.

    It is done by one connection that holds the file for itself alone: it needs no memory that is
    shared with others. Where another program has the database open it is refused, and the file is
    as before: ``sqlite3.Error``.
    """
    timeout = BUSY_TIMEOUT_MS / 1000
    with closing(sqlite3.connect(path, timeout=timeout, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
        if names and TABLE not in names:
            raise ForeignDatabase(", ".join(names[:3]))
        (mode,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        if mode != "delete":
            raise sqlite3.OperationalError("database is locked")
