"""Writes through one connection. Writes that wait at the same time share a transaction."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Generic, Literal, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from ..records import StoredEvent
from .driver import DATABASE_ERRORS, Connection, DriverConnection, explain

T = TypeVar("T")

QuickWrite = Callable[[Connection], T]
"""A write of compiled statements: one trip to the connection's thread, shared commit."""

Write = Callable[[AsyncConnection], Awaitable[T]]
"""A write through SQLAlchemy, in its own transaction."""

Publish = Callable[[Sequence[StoredEvent]], None]
"""Passes on the events of a committed transaction. It must not wait or raise."""

TOGETHER = ("quick", "look")
"""The kinds of writes that may share a transaction."""


@dataclass(frozen=True)
class _PendingWrite(Generic[T]):
    write: Callable[[Any], Any]
    kind: Literal["quick", "look", "alone", "bare"]
    done: asyncio.Future[T]

    def succeed(self, value: T) -> None:
        if not self.done.done():
            self.done.set_result(value)

    def fail(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)


class Writer:
    """Runs writes in the order in which they were submitted; each is in the file when it returns.

    The events of a write are published as soon as it is committed, in the order of the commits.
    Cancelling a caller that waits stops neither the write nor the publication. A quick write may
    run twice, if another one of its group failed, so it must depend on nothing but the database.
    Errors name ``path``.
    """

    def __init__(
        self, connection: AsyncConnection, driver: DriverConnection, path: str, publish: Publish
    ) -> None:
        self._connection = connection
        self._driver = driver
        self._path = path
        self._publish = publish
        self._pending: deque[_PendingWrite[Any]] = deque()
        self._task: asyncio.Task[None] | None = None

    async def quick(self, write: QuickWrite[T]) -> T:
        """Run ``write`` in the connection's thread and commit, together with others that wait."""
        return await self._submit(_PendingWrite(write, "quick", _future()))

    async def look(self, query: QuickWrite[T]) -> T:
        """Run one small ``SELECT`` in the connection's thread, after the writes before it.

        It sees only what is committed, or is committed together with it. Without writes beside it,
        it locks nothing."""
        return await self._submit(_PendingWrite(query, "look", _future()))

    async def write(self, write: Write[T]) -> T:
        """Run ``write`` and commit."""
        return await self._submit(_PendingWrite(write, "alone", _future()))

    async def bare(self, work: QuickWrite[T]) -> T:
        """Run ``work`` in the connection's thread, outside any transaction."""
        return await self._submit(_PendingWrite(work, "bare", _future()))

    async def finish(self) -> None:
        """Wait until everything that was submitted is written."""
        while self._task is not None:
            await asyncio.wait([self._task])

    async def _submit(self, pending: _PendingWrite[T]) -> T:
        self._pending.append(pending)
        if self._task is None:
            self._task = asyncio.create_task(self._drain())
        return await pending.done

    async def _drain(self) -> None:
        try:
            while self._pending:
                group = list(takewhile(lambda each: each.kind in TOGETHER, self._pending))
                group = group or [self._pending[0]]
                for _ in group:
                    self._pending.popleft()
                await self._settle(group)
        finally:
            self._task = None

    async def _settle(self, group: Sequence[_PendingWrite[Any]]) -> None:
        """Commit the group, or fail the writes that cannot be committed."""
        try:
            self._driver.stored.clear()
            alone = group[0].kind not in TOGETHER
            results = await (self._alone(group[0]) if alone else self._together(group))
        except _WriteFailed as failure:
            if len(group) == 1:
                group[0].fail(self._user_error(failure.cause))
            else:
                for pending in group:
                    await self._settle([pending])
        except DATABASE_ERRORS as error:
            for pending in group:
                pending.fail(explain(error, self._path))
        except asyncio.CancelledError:
            for pending in group:
                pending.done.cancel()
            raise
        except Exception as error:  # noqa: BLE001
            # The writer's boundary: whatever the error is, the waiting callers raise it.
            for pending in group:
                pending.fail(error)
        else:
            # The waiting callers continue only after this function, so after the publication.
            for pending, result in zip(group, results, strict=True):
                pending.succeed(result)
            self._publish(self._driver.stored)

    async def _together(self, group: Sequence[_PendingWrite[Any]]) -> list[Any]:
        writes = [pending.write for pending in group]
        if all(pending.kind == "look" for pending in group):
            return await self._driver.in_thread(
                lambda connection: [_run(connection, query) for query in writes]
            )
        return await self._driver.in_thread(lambda connection: _transact(connection, writes))

    async def _alone(self, pending: _PendingWrite[Any]) -> list[Any]:
        if pending.kind == "bare":
            return [
                await self._driver.in_thread(lambda connection: _run(connection, pending.write))
            ]
        await self._driver.execute("BEGIN IMMEDIATE")
        try:
            result = await pending.write(self._connection)
            await self._driver.commit()
        except Exception as error:
            raise _WriteFailed(error) from error
        finally:
            if self._driver.in_transaction:
                await self._driver.rollback()
        return [result]

    def _user_error(self, error: Exception) -> Exception:
        return explain(error, self._path) if isinstance(error, DATABASE_ERRORS) else error


def _transact(connection: Connection, writes: Sequence[QuickWrite[Any]]) -> list[Any]:
    """Run all writes in one transaction, or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        results = [_run(connection, write) for write in writes]
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return results


def _run(connection: Connection, write: QuickWrite[T]) -> T:
    try:
        return write(connection)
    except Exception as error:
        raise _WriteFailed(error) from error


def _future() -> asyncio.Future[Any]:
    return asyncio.get_running_loop().create_future()


class _WriteFailed(Exception):
    """One write of a group failed, which says nothing about the others."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause
