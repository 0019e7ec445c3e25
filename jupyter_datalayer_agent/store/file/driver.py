"""The driver's connection, extended to run a whole function in the connection's thread.

aiosqlite makes a trip to its thread for each statement, and a trip takes longer than a small
statement. A piece of streamed text must be stored before it is sent, so the hot path does all its
database work in one function and one trip.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from ...protocol.errors import AgentError
from ..records import StoredEvent

# Explains SQLite's errors to users, and says what to do.


DATABASE_ERRORS: tuple[type[Exception], ...] = (sqlite3.Error, SQLAlchemyError, OSError)

_CORRUPT = ("malformed", "not a database", "corrupt")
_NOT_WRITABLE = ("readonly", "Read-only file system", "unable to open", "Permission denied")


def explain(error: Exception, path: str) -> AgentError:
    """The error to raise in place of one of ``DATABASE_ERRORS`` from the file ``path``."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    text = str(cause)
    message = _message_for(text, path)
    if message is not None:
        return AgentError("internal", message, {"path": path, "cause": text})
    if "FOREIGN KEY constraint failed" in text:
        return AgentError("not_found", "This session no longer exists: it was deleted meanwhile.")
    if "UNIQUE constraint failed: turns.session_id" in text:
        return AgentError("turn_in_progress", "A turn is already running in this session.")
    return AgentError(
        "internal",
        f"The conversation database {path} could not be used: {text}.",
        {"path": path, "cause": text},
    )


def corrupt(path: str, why: str) -> AgentError:
    """The error for a damaged file, which must not be written to."""
    return AgentError(
        "internal",
        f"The conversation database {path} is damaged ({why}) and was left as it is. Copy it to a "
        "safe place, then move it away to start with an empty one, or restore a backup.",
        {"path": path, "cause": why},
    )


def _message_for(text: str, path: str) -> str | None:
    if any(word in text for word in _CORRUPT):
        return corrupt(path, text).message
    if "locked" in text or "busy" in text:
        return (
            f"The conversation database {path} is locked by another program. Close what holds it "
            "(a backup, a database browser) and try again."
        )
    if "disk is full" in text or "No space left" in text:
        return (
            f"The disk that holds the conversation database {path} is full. Free some space and "
            "try again."
        )
    if any(word in text for word in _NOT_WRITABLE):
        return (
            f"The conversation database {path} cannot be written. Check the permissions of the "
            "file and its directory, or set another database_url."
        )
    return None


T = TypeVar("T")

BUSY_TIMEOUT_MS = 5_000
PRAGMAS = ("PRAGMA synchronous = NORMAL", "PRAGMA foreign_keys = ON")


class Connection(sqlite3.Connection):
    """A connection with the events that its transaction has ``stored``; they are published after
    the commit."""

    stored: list[StoredEvent]


class DriverConnection(aiosqlite.Connection):
    """A connection to ``path`` (None: in memory) that begins no transaction on its own."""

    def __init__(self, path: Path | None) -> None:
        super().__init__(lambda: _connect(path), iter_chunk_size=64)
        # Before aiosqlite 0.22, the connection is itself the thread.
        self._worker: Any = getattr(self, "_thread", self)
        # A process that ends without closing the store must not wait for it.
        self._worker.daemon = True

    async def connect(self) -> DriverConnection:
        """Open the file. Raises ``sqlite3.Error`` after the thread has ended: aiosqlite does not
        wait for it, and it would report to an event loop that may be closed by then."""
        try:
            await self
        except BaseException:
            await asyncio.to_thread(self._worker.join)
            raise
        return self

    @property
    def stored(self) -> list[StoredEvent]:
        """See ``Connection``. Read it only while the thread is idle."""
        connection = self._conn
        assert isinstance(connection, Connection)
        return connection.stored

    async def in_thread(self, function: Callable[[Connection], T]) -> T:
        """Run ``function(connection)`` in the connection's thread."""
        execute: Any = self._execute
        result: T = await execute(function, self._conn)
        return result


async def in_thread(connection: AsyncConnection, function: Callable[[Connection], T]) -> T:
    """Run ``function`` with the driver's connection under SQLAlchemy's, in the same transaction."""
    driver = (await connection.get_raw_connection()).driver_connection
    assert isinstance(driver, DriverConnection)
    return await driver.in_thread(function)


def _connect(path: Path | None) -> Connection:
    name = ":memory:" if path is None else str(path)
    connection = sqlite3.connect(
        name,
        timeout=BUSY_TIMEOUT_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
        factory=Connection,
    )
    connection.stored = []
    for pragma in PRAGMAS:
        connection.execute(pragma)
    return connection
