"""The driver's connection, with one thing more: a function that runs in the connection's thread.

aiosqlite makes a trip to its thread for each statement, and a trip costs more than what a small
statement does there. A piece of streamed text has to be kept before it is sent, so what the hot
path does with the database is one function and one trip.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from ..records import StoredEvent

T = TypeVar("T")

BUSY_TIMEOUT_MS = 5_000
PRAGMAS = ("PRAGMA synchronous = NORMAL", "PRAGMA foreign_keys = ON")


class Connection(sqlite3.Connection):
    """``stored``: the events that the current transaction stores, to be published once it is
    committed."""

    stored: list[StoredEvent]


class DriverConnection(aiosqlite.Connection):
    """A connection to ``path`` (None: in memory) that begins no transaction by itself."""

    def __init__(self, path: Path | None) -> None:
        super().__init__(lambda: _connect(path), iter_chunk_size=64)
        # Before aiosqlite 0.22 the connection is the thread.
        self._worker: Any = getattr(self, "_thread", self)
        # A process that ends without closing the store must not wait for it.
        self._worker.daemon = True

    async def connect(self) -> DriverConnection:
        """Open the file. Raises ``sqlite3.Error``, and then the thread has ended: aiosqlite
        does not wait for it, and the event loop to which it reports might be closed by then."""
        try:
            await self
        except BaseException:
            await asyncio.to_thread(self._worker.join)
            raise
        return self

    @property
    def stored(self) -> list[StoredEvent]:
        """See ``Connection``. To be read while the thread has nothing to do."""
        connection = self._conn
        assert isinstance(connection, Connection)
        return connection.stored

    async def in_thread(self, function: Callable[[Connection], T]) -> T:
        """``function(connection)``, in the connection's thread."""
        execute: Any = self._execute
        result: T = await execute(function, self._conn)
        return result


async def in_thread(connection: AsyncConnection, function: Callable[[Connection], T]) -> T:
    """``function`` on the driver's connection beneath SQLAlchemy's, in the same transaction."""
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
