"""The SQLite file: where it is, how it is opened and checked, and who reads and writes it.

It has a write-ahead log, so that reading and writing do not wait for each other. On a network file
system, that is not safe (see file_system.py): there, it has a rollback journal, and each commit
waits until it is on the disk.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from ...protocol.base import now_ms
from ...protocol.errors import AgentError
from ..migrations import TABLE, ForeignDatabase, NewerDatabase, is_current, migrate
from .driver import BUSY_TIMEOUT_MS, DATABASE_ERRORS, DriverConnection, corrupt, explain, in_thread
from .file_system import create_private, make_private, network_file_system
from .servers import ServerLock
from .writer import Publish, QuickWrite, Write, Writer

# Detects a damaged database file without writing to it.
#
# SQLite takes an empty file for a new database and discards a log beside it, and it does not notice
# a truncated last page. https://sqlite.org/fileformat2.html describes the fields of the header.


MAGIC = b"SQLite format 3\x00"
HEADER_SIZE = 100


def damage(path: Path) -> str | None:
    """What is wrong with the database file ``path``; None if no damage is found.

    The pages' content is not checked: SQLite does that when it reads them.
    """
    with path.open("rb") as file:
        header = file.read(HEADER_SIZE)
        size = file.seek(0, 2)
    logged = _has(path, "-wal")
    if size == 0:
        return "the file is empty, and its write-ahead log is not" if logged else None
    if not header.startswith(MAGIC):
        return "it does not begin like an SQLite database"
    # With a log, the file may be shorter, because its end is still in the log. With a journal, a
    # write was interrupted, and SQLite will roll it back.
    if not logged and not _has(path, "-journal") and size < _size(header):
        return f"it is cut off: {size} of {_size(header)} bytes are left"
    return None


def _has(path: Path, suffix: str) -> bool:
    beside = path.with_name(f"{path.name}{suffix}")
    return beside.exists() and beside.stat().st_size > 0


def _size(header: bytes) -> int:
    """The file's length in bytes according to its header; the header's if that does not say."""
    if len(header) < HEADER_SIZE:
        return HEADER_SIZE
    (page_size,) = struct.unpack_from(">H", header, 16)
    changes, pages = struct.unpack_from(">II", header, 24)
    (valid_for,) = struct.unpack_from(">I", header, 92)
    if changes != valid_for:
        return HEADER_SIZE
    return int(pages) * (65_536 if page_size == 1 else int(page_size))


# Removes the write-ahead log of a database that is on a network file system.


READ_VERSION = 19
"""Offset of the header's byte for the log: https://sqlite.org/fileformat2.html, 1.3.3."""
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
    """Write the log's content into the file and remove the log; no data is lost.

    One connection does this with the file locked exclusively, so that it needs no shared memory. If
    another program has the database open, raises ``sqlite3.Error`` and leaves the file unchanged.
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


# Returns the file's unused pages to the disk.
#
# A file that was created for this returns pages at its end, a few at a time. A file of an earlier
# version cannot; it is rebuilt once, after which it can.


PAGES_A_STEP = 128
"""Half a megabyte, a few milliseconds of the writer's time."""
SPARE_PAGES = 256
"""Free pages that are kept for the next writes."""
WORTH_IT = 4
"""A file is rebuilt when one in this many of its pages is free."""

INCREMENTAL = 2
"""SQLite's ``auto_vacuum`` value for files that return pages on request; 0 is for the others."""


def shrink(connection: sqlite3.Connection) -> bool:
    """Return some pages, outside any transaction. Returns whether there are more to return."""
    if _number(connection, "auto_vacuum") != INCREMENTAL:
        return False
    more = _number(connection, "freelist_count") - SPARE_PAGES
    if more <= 0:
        return False
    # SQLite frees one page per step of the statement, and ``execute`` takes only one step.
    connection.executescript(f"PRAGMA incremental_vacuum({min(more, PAGES_A_STEP)})")
    return more > PAGES_A_STEP


def is_to_be_rebuilt(connection: sqlite3.Connection) -> bool:
    """Whether the file cannot return pages and has many free ones, and no turn runs."""
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


T = TypeVar("T")

LOG = logging.getLogger(__name__)

WITHOUT_LOG = ("PRAGMA synchronous = FULL", "PRAGMA busy_timeout = 30000")
"""Without a log, a commit must reach the disk at once, and waits for readers."""


def default_path() -> Path:
    """``datalayer-agent/agent.db`` in Jupyter's data directory."""
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / "datalayer-agent" / "agent.db"


def database_path(database_url: str | None) -> Path | None:
    """The file that ``sqlite:///...`` names, or the default file; None for a database in memory.

    Raises ``AgentError`` for any other address."""
    if not database_url:
        return default_path()
    try:
        url = sa.make_url(database_url)
    except sa.exc.ArgumentError:
        url = None
    if url is None or url.get_backend_name() != "sqlite" or url.query:
        raise AgentError(
            "internal",
            "The setting database_url must look like sqlite:////absolute/path/agent.db: "
            "conversations are kept in an SQLite file.",
        )
    if url.database in (None, "", ":memory:"):
        return None
    assert url.database is not None
    return Path(url.database).expanduser().absolute()


class Database:
    """An open database. ``path`` is None if it is in memory. ``network`` is the type of the network
    file system that it is on, or None; ``journal`` is its journal mode. ``publish`` is called with
    the events of each transaction. ``in_own_folder``: nothing else is in its folder."""

    def __init__(self, path: Path | None, publish: Publish, *, in_own_folder: bool = False) -> None:
        self.path = path
        self._in_own_folder = in_own_folder
        self._publish = publish
        self.network: str | None = None
        self.journal = ""
        self.name = ":memory:" if path is None else str(path)
        directory = None if path is None else path.with_name(f"{path.name}-servers")
        self.server = ServerLock(directory)
        self._engine: AsyncEngine | None = None
        self._writing: AsyncConnection | None = None
        self._writer: Writer | None = None

    @classmethod
    async def open(cls, database_url: str | None, publish: Publish) -> Database:
        """Check, open and migrate. Never writes to a file that is damaged or not ours."""
        path = await asyncio.to_thread(database_path, database_url)
        database = cls(path, publish, in_own_folder=database_url is None)
        try:
            async with database.server.opening():
                await database._open()
        except NewerDatabase as error:
            raise _newer(database.name, str(error)) from error
        except ForeignDatabase as error:
            raise _foreign(database.name) from error
        except DATABASE_ERRORS as error:
            raise explain(error, database.name) from error
        finally:
            if database._writer is None:
                await database.close()
        return database

    async def close(self) -> None:
        """Finish what is being written and close every connection."""
        if self._writer is not None:
            await self._writer.finish()
        if self._writing is not None:
            await self._writing.close()
        if self._engine is not None:
            await self._engine.dispose()
        self._writer = self._writing = self._engine = None
        await asyncio.to_thread(self.server.release)

    async def quick(self, write: QuickWrite[T]) -> T:
        """Run ``write`` in the writing thread; its changes are in the file when this returns.

        Raises database errors as ``AgentError``, as do ``write`` and ``read``.
        """
        assert self._writer is not None
        return await self._writer.quick(write)

    async def look(self, query: QuickWrite[T]) -> T:
        """Run one small ``SELECT`` in the writing thread: a third of the time of ``read``."""
        assert self._writer is not None
        return await self._writer.look(query)

    async def bare(self, work: QuickWrite[T]) -> T:
        """Run ``work`` in the writing thread, outside any transaction."""
        assert self._writer is not None
        return await self._writer.bare(work)

    async def write(self, write: Write[T]) -> T:
        """Run ``write`` in a transaction; its changes are in the file when this returns."""
        assert self._writer is not None
        return await self._writer.write(write)

    async def read(self, query: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Run ``query`` on one consistent state of the database, beside the writer."""
        if self.path is None:
            return await self.write(query)
        try:
            async with self._snapshot() as connection:
                return await query(connection)
        except DATABASE_ERRORS as error:
            raise explain(error, self.name) from error

    async def read_raw(self, query: QuickWrite[T]) -> T:
        """Like ``read``, but with the driver's connection and one trip to its thread, for queries
        that may take some milliseconds."""

        async def read(connection: AsyncConnection) -> T:
            return await in_thread(connection, query)

        return await self.read(read)

    async def rebuild(self) -> bool:
        """Rebuild the file if that is worthwhile (``is_to_be_rebuilt``) and no other process has it
        open. Returns whether it was rebuilt."""
        assert self._writer is not None
        try:
            async with self.server.opening():
                alone = await asyncio.to_thread(self.server.is_alone)
                if not alone or not await self.look(is_to_be_rebuilt):
                    return False
                await self._writer.bare(rebuild)
                return True
        except DATABASE_ERRORS as error:
            raise explain(error, self.name) from error

    @asynccontextmanager
    async def _snapshot(self) -> AsyncIterator[AsyncConnection]:
        assert self._engine is not None
        async with self._engine.connect() as connection:
            await connection.exec_driver_sql("BEGIN")
            yield connection

    async def _open(self) -> None:
        await asyncio.to_thread(self._prepare_file)
        self._engine = _engine(self.path)
        self._writing = await self._engine.connect()
        driver = (await self._writing.get_raw_connection()).driver_connection
        assert isinstance(driver, DriverConnection)
        current = await self._writing.run_sync(is_current)
        # Not before: this writes to the file, which until here may belong to another program.
        ((pages,),) = await driver.execute_fetchall("PRAGMA page_count")
        if pages == 0:
            await driver.execute_fetchall(f"PRAGMA auto_vacuum = {INCREMENTAL}")
        await self._choose_journal(driver)
        if not current:
            await self._migrate(self._writing, driver)
        await asyncio.to_thread(self.server.acquire)
        self._writer = Writer(self._writing, driver, self.name, self._publish)

    async def _choose_journal(self, driver: DriverConnection) -> None:
        wanted = "WAL" if self.network is None else "TRUNCATE"
        ((self.journal,),) = await driver.execute_fetchall(f"PRAGMA journal_mode = {wanted}")
        if self.path is None or self.journal == "wal":
            return
        for pragma in WITHOUT_LOG:
            await driver.execute_fetchall(pragma)
        if self.network is not None:
            LOG.info(
                "%s is on a network file system (%s): it is used without a write-ahead log",
                self.name,
                self.network,
            )

    def _prepare_file(self) -> None:
        """Create the directory, refuse a damaged file before SQLite opens it, and remove the log on
        a network file system."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self._in_own_folder:
            make_private(self.path.parent)
        if self.path.exists():
            why = damage(self.path)
            if why is not None:
                raise corrupt(self.name, why)
        create_private(self.path)
        self.network = network_file_system(self.path)
        if self.network is not None and has_log(self.path):
            leave_log(self.path)

    async def _migrate(self, connection: AsyncConnection, driver: DriverConnection) -> None:
        await driver.execute("BEGIN IMMEDIATE")
        try:
            names = await connection.run_sync(migrate, now_ms())
            await driver.commit()
        finally:
            if driver.in_transaction:
                await driver.rollback()
        LOG.info("Migrated %s: %s", self.name, ", ".join(names))


def _engine(path: Path | None) -> AsyncEngine:
    url = sa.URL.create("sqlite+aiosqlite", database=":memory:" if path is None else str(path))
    return create_async_engine(url, async_creator=lambda: DriverConnection(path).connect())


def _newer(path: str, migration: str) -> AgentError:
    return AgentError(
        "internal",
        f"The conversation database {path} was written by a newer version of this extension "
        f"(with the migration {migration}). Upgrade the extension, or set another database_url.",
        {"path": path},
    )


def _foreign(path: str) -> AgentError:
    return AgentError(
        "internal",
        f"The file {path} is an SQLite database of another program. Set another database_url.",
        {"path": path},
    )
