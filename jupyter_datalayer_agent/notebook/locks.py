"""One lock a document. Whoever holds it may take it again, in tasks that it starts as well."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from ..protocol.renames import Rename

# Work that a cancellation must not interrupt.


T = TypeVar("T")


async def uncancelled(work: Coroutine[Any, Any, T]) -> T:
    """Await work that must not be interrupted; a cancellation takes effect when it has ended."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


class _DocumentLock:
    """One document's lock; ``wanted`` is how many hold it or wait for it."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.wanted = 0


class _Hold:
    """A lock being held; it stays in the context of tasks that outlive it, so it marks its
    end."""

    def __init__(self, locked: _DocumentLock) -> None:
        self.locked = locked
        self.active = True


_holds: ContextVar[tuple[_Hold, ...]] = ContextVar("document_locks", default=())


class LockedTooLong(Exception):
    """The document stayed locked for too long."""


class PathLocks:
    """Locks by path; unused ones take no memory. A renamed document keeps its lock."""

    def __init__(self) -> None:
        self._locks: dict[str, _DocumentLock] = {}

    def renamed(self, rename: Rename) -> None:
        """See ``Follower``."""
        rename.rekey(self._locks)

    @asynccontextmanager
    async def hold(self, path: str, timeout: float | None = None) -> AsyncIterator[None]:
        """Hold the lock of a path. Raises ``LockedTooLong`` when it is not had in ``timeout``
        seconds."""
        locked = self._locks.setdefault(path, _DocumentLock())
        if any(each.active and each.locked is locked for each in _holds.get()):
            yield
            return
        locked.wanted += 1
        try:
            await _acquire(locked.lock, path, timeout)
            hold = _Hold(locked)
            token = _holds.set((*_holds.get(), hold))
            try:
                yield
            finally:
                hold.active = False
                _holds.reset(token)
                locked.lock.release()
        finally:
            locked.wanted -= 1
            if not locked.wanted:
                for name in [name for name, each in self._locks.items() if each is locked]:
                    del self._locks[name]


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
