"""Renamed documents: the one owner of "what was at this path is at that one now".

Every rename that goes through the server, whoever asks for it, calls ``ContentsManager.rename``.
``Renames`` wraps this method: a rename waits until no file under its paths is being read or
written by us, and is noted before anything else can happen. Whoever keeps a path for longer than
a call keeps a ``TrackedPath``, or follows.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from ..protocol.renames import Rename

log = logging.getLogger(__name__)


class Follower(Protocol):
    """Keeps paths, and renames them when it is told to."""

    def renamed(self, rename: Rename) -> None:
        """Paths that were noted before are to be renamed."""
        ...


class TrackedPath:
    """The path of one document, wherever that is renamed to."""

    def __init__(self, renames: Renames, path: str) -> None:
        self._renames = renames
        self._path = path
        self._since = renames.count

    @property
    def path(self) -> str:
        """Where the document is now."""
        if self._since != self._renames.count:
            self._path = self._renames.since(self._path, self._since)
            self._since = self._renames.count
        return self._path


class _Use:
    """A file being read or written; it stays in the context of tasks that outlive it, so it marks
    its end."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.active = True


_uses: ContextVar[tuple[_Use, ...]] = ContextVar("files_in_use", default=())


class Renames:
    """The renames of one server's documents, in order.

    ``record`` is called after each of them, and finished before whoever renamed is answered: it
    changes what is stored.
    """

    def __init__(self, record: Callable[[Rename], Awaitable[None]] | None = None) -> None:
        self._record = record
        self._renames: list[Rename] = []
        self._followers: list[weakref.ref[Follower]] = []
        self._in_use: Counter[str] = Counter()
        self._waiting: list[asyncio.Future[None]] = []
        # Those that are carried out, or wait for that.
        self._running: list[Rename] = []
        self._tasks: set[asyncio.Task[None]] = set()

    # What became of a path

    @property
    def count(self) -> int:
        """How many renames there were: a point in time, for ``since``."""
        return len(self._renames)

    def track(self, path: str) -> TrackedPath:
        """The document that is at this path now."""
        return TrackedPath(self, path)

    def since(self, path: str, count: int) -> str:
        """Where the document is that was at this path when there were ``count`` renames."""
        for rename in self._renames[count:]:
            path = rename.path(path)
        return path

    def newer_name(self, path: str) -> str | None:
        """Where the document is that was last known by this path, if it was renamed since."""
        for index in range(len(self._renames) - 1, -1, -1):
            if self._renames[index].affects(path):
                now = self.since(path, index)
                return None if now == path else now
        return None

    def follow(self, follower: Follower) -> None:
        """Tell it of every rename from now on, as long as somebody else holds it."""
        self._followers.append(weakref.ref(follower))

    # Reading and writing

    @asynccontextmanager
    async def using(self, document: TrackedPath) -> AsyncIterator[str]:
        """Around a read or write of a file: its path, which stays the same as long. Whoever uses a
        file may use it again."""
        mine = {each.path for each in _uses.get() if each.active}
        while document.path not in mine and any(
            each.concerns(document.path) for each in self._running
        ):
            await self._next_change()
        path = document.path
        self._in_use[path] += 1
        use = _Use(path)
        token = _uses.set((*_uses.get(), use))
        try:
            yield path
        finally:
            use.active = False
            _uses.reset(token)
            self._in_use[path] -= 1
            if not self._in_use[path]:
                del self._in_use[path]
            self._changed()

    async def _next_change(self) -> None:
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        await waiting

    def _changed(self) -> None:
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if not each.done():
                each.set_result(None)

    # Renaming

    def install(self, manager: Any) -> None:
        """Wrap the contents manager's ``rename``, sync or async."""
        rename = manager.rename

        @functools.wraps(rename)
        def wrapped(old_path: str, new_path: str) -> Any:
            done = Rename(old_path.strip("/"), new_path.strip("/"))
            if inspect.iscoroutinefunction(rename):
                return self._carry_out(done, lambda: rename(old_path, new_path))
            result = rename(old_path, new_path)
            if inspect.isawaitable(result):
                return self._carry_out(done, lambda: result)
            # It has happened already: between two steps of ours, none of which waits for it.
            self._note(done)
            task = asyncio.ensure_future(self._store(done))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return result

        manager.rename = wrapped

    async def _carry_out(self, rename: Rename, act: Callable[[], Awaitable[Any]]) -> Any:
        self._running.append(rename)
        try:
            while any(rename.concerns(each) for each in self._in_use):
                await self._next_change()
            result = await act()
            self._note(rename)
            await self._store(rename)
            return result
        finally:
            self._running.remove(rename)
            self._changed()

    def _note(self, rename: Rename) -> None:
        if rename.old == rename.new:
            return
        self._renames.append(rename)
        for reference in list(self._followers):
            follower = reference()
            if follower is None:
                self._followers.remove(reference)
                continue
            try:
                follower.renamed(rename)
            except Exception:
                # The boundary to Jupyter: the file has its new name, whatever we make of it.
                log.exception(
                    "%s was renamed to %s, which was not followed", rename.old, rename.new
                )

    async def _store(self, rename: Rename) -> None:
        if self._record is None or rename.old == rename.new:
            return
        try:
            await self._record(rename)
        except Exception:
            # As above.
            log.exception("That %s is now %s was not stored", rename.old, rename.new)

    async def recorded(self) -> None:
        """Wait until what is stored has the new names."""
        if self._tasks:
            await asyncio.wait(list(self._tasks))
