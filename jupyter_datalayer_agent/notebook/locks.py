"""One lock a document. Whoever holds it may take it again, in tasks that it starts as well."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar


class _Hold:
    """A lock being held; it stays in the context of tasks that outlive it, so it marks its
    end."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.active = True


_holds: ContextVar[tuple[_Hold, ...]] = ContextVar("document_locks", default=())


class LockedTooLong(Exception):
    """The document stayed locked for too long."""


class PathLocks:
    """Locks by path; unused ones take no memory."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._wanted: dict[str, int] = {}
        self._mine: set[_Hold] = set()

    @asynccontextmanager
    async def hold(self, path: str, timeout: float | None = None) -> AsyncIterator[None]:
        """Hold the lock of a path. Raises ``LockedTooLong`` when it is not had in ``timeout``
        seconds."""
        if any(each.active and each.path == path and each in self._mine for each in _holds.get()):
            yield
            return
        lock = self._locks.setdefault(path, asyncio.Lock())
        self._wanted[path] = self._wanted.get(path, 0) + 1
        try:
            await _acquire(lock, path, timeout)
            hold = _Hold(path)
            self._mine.add(hold)
            token = _holds.set((*_holds.get(), hold))
            try:
                yield
            finally:
                hold.active = False
                self._mine.discard(hold)
                _holds.reset(token)
                lock.release()
        finally:
            self._wanted[path] -= 1
            if not self._wanted[path]:
                del self._wanted[path], self._locks[path]


async def _acquire(lock: asyncio.Lock, path: str, timeout: float | None) -> None:
    if timeout is None:
        await lock.acquire()
        return
    acquiring = asyncio.ensure_future(lock.acquire())
    try:
        await asyncio.wait([acquiring], timeout=timeout)
    finally:
        if not acquiring.done():
            acquiring.cancel()
            await asyncio.wait([acquiring])
    if acquiring.cancelled():
        raise LockedTooLong(path)
