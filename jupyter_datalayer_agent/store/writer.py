"""One connection writes. Writes that wait for each other share a transaction and its commit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import aiosqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from .errors import DATABASE_ERRORS, explain

T = TypeVar("T")

Statement = tuple[str, Sequence[Sequence[Any]]]
"""SQL with ``?`` marks, and the rows to run it for."""


@dataclass(frozen=True)
class Transaction:
    """What a write may use: SQLAlchemy's connection, and the driver's for the hot path."""

    connection: AsyncConnection
    driver: aiosqlite.Connection

    async def run(self, statements: Sequence[Statement]) -> None:
        """Run compiled statements in order, one trip to the connection's thread for each."""
        for sql, rows in statements:
            await self.driver.executemany(sql, rows)


Write = Callable[[Transaction], Awaitable[T]]


@dataclass(frozen=True)
class _Pending(Generic[T]):
    write: Write[T]
    done: asyncio.Future[T]

    def succeed(self, value: T) -> None:
        if not self.done.done():
            self.done.set_result(value)

    def fail(self, error: BaseException) -> None:
        if not self.done.done():
            self.done.set_exception(error)


class Writer:
    """Runs writes in the order in which they were submitted; each is in the file when it returns.

    A write may run twice (when another one of its group failed), so it must depend on nothing but
    the database. ``path`` is named in errors.
    """

    def __init__(self, transaction: Transaction, path: str) -> None:
        self._transaction = transaction
        self._driver = transaction.driver
        self._path = path
        self._pending: list[_Pending[Any]] = []
        self._task: asyncio.Task[None] | None = None

    async def submit(self, write: Write[T]) -> T:
        """Run ``write`` and commit. A caller that is cancelled while it waits does not undo it."""
        pending = _Pending(write, asyncio.get_running_loop().create_future())
        self._pending.append(pending)
        if self._task is None:
            self._task = asyncio.create_task(self._drain())
        result: T = await pending.done
        return result

    async def finish(self) -> None:
        """Wait until all that was submitted is written."""
        while self._task is not None:
            await asyncio.wait([self._task])

    async def _drain(self) -> None:
        try:
            while self._pending:
                group, self._pending = self._pending, []
                await self._settle(group)
        finally:
            self._task = None

    async def _settle(self, group: list[_Pending[Any]]) -> None:
        """Commit the group, or fail those of it that cannot be committed."""
        try:
            await self._commit_or_retry(group)
        except DATABASE_ERRORS as error:
            for pending in group:
                pending.fail(explain(error, self._path))
        except asyncio.CancelledError:
            for pending in group:
                pending.done.cancel()
            raise

    async def _commit_or_retry(self, group: list[_Pending[Any]]) -> None:
        try:
            await self._commit(group)
        except DATABASE_ERRORS:
            await self._rollback()
            raise
        except _WriteFailed as failure:
            await self._rollback()
            if len(group) == 1:
                group[0].fail(failure.cause)
                return
            for pending in group:
                await self._settle([pending])

    async def _commit(self, group: list[_Pending[Any]]) -> None:
        await self._driver.execute("BEGIN IMMEDIATE")
        results = [await self._run(pending) for pending in group]
        await self._driver.commit()
        for pending, result in zip(group, results, strict=True):
            pending.succeed(result)

    async def _run(self, pending: _Pending[Any]) -> Any:
        try:
            return await pending.write(self._transaction)
        except DATABASE_ERRORS as error:
            raise _WriteFailed(explain(error, self._path)) from error
        except Exception as error:
            raise _WriteFailed(error) from error

    async def _rollback(self) -> None:
        if self._driver.in_transaction:
            await self._driver.rollback()


class _WriteFailed(Exception):
    """One write of a group failed; the others are not to blame."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause
