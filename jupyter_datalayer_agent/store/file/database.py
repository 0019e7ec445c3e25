"""The SQLite file: where it is, how it is opened and checked, and who reads and writes it.

It has a write-ahead log, so that reading and writing do not wait for each other. On a network file
system that is not safe (see file_system.py): there it has a rollback journal, and each commit waits
until it is on the disk.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from ...protocol.base import now_ms
from ...protocol.errors import AgentError
from ..migrations import ForeignDatabase, NewerDatabase, is_current, migrate
from .damage import damage
from .driver import DriverConnection, in_thread
from .errors import DATABASE_ERRORS, corrupt, explain
from .file_system import network_file_system
from .journal import has_log, leave_log
from .private import create_private, make_private
from .servers import ServerLock
from .vacuum import INCREMENTAL, is_to_be_rebuilt, rebuild
from .writer import Publish, QuickWrite, Write, Writer

T = TypeVar("T")

LOG = logging.getLogger(__name__)

WITHOUT_LOG = ("PRAGMA synchronous = FULL", "PRAGMA busy_timeout = 30000")
"""Without a log a commit must be on the disk at once, and waits for readers."""


def default_path() -> Path:
    """``datalayer-agent/agent.db`` in Jupyter's data directory."""
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / "datalayer-agent" / "agent.db"


def database_path(database_url: str | None) -> Path | None:
    """The file that ``sqlite:///...`` names, the default one for None; None for ``:memory:``."""
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
    """An open database. ``path`` is None when it lives in memory only. ``network`` is the type of
    the network file system that it is on, ``journal`` the journal mode that it has. ``publish``
    is given the events of each transaction. ``in_own_folder``: nothing else is in its folder."""

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
        """Run ``write`` in the writing thread; what it did is in the file when this returns.

        Database errors come out as ``AgentError``, here and in ``write`` and ``read``.
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
        """Run ``write`` in a transaction; what it did is in the file when this returns."""
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
        """``read`` for a query on the driver's connection, in one trip to its thread: for those
        that may take some milliseconds."""

        async def read(connection: AsyncConnection) -> T:
            return await in_thread(connection, query)

        return await self.read(read)

    async def rebuild(self) -> bool:
        """Rebuild the file where that is worthwhile (see vacuum.py) and no other process has it
        open; whether it was rebuilt."""
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
        # Only now: this writes to the file, and until here it may be somebody else's.
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
        """Make the directory, refuse a damaged file before SQLite sees it, and take the log away
        from one that must not have it."""
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
        f"(it has the step {migration}). Upgrade the extension, or set another database_url.",
        {"path": path},
    )


def _foreign(path: str) -> AgentError:
    return AgentError(
        "internal",
        f"The file {path} is an SQLite database of another program. Set another database_url.",
        {"path": path},
    )
