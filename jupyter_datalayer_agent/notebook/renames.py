"""Renamed documents: the one owner of "what was at this path is at that one now".

Every rename that goes through the server, whoever asks for it, calls ``ContentsManager.rename``.
``Renames`` wraps this method: a rename waits until no file under its paths is being read or
written by us, and is noted before anything else can happen. Whoever keeps a path for longer than
a call keeps a ``TrackedPath``, or follows. Whoever knows a path from an earlier time, such as a
page that was away or a model after a restart, asks for the renames ``after`` that time.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import time
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Protocol

from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from ..protocol.renames import Rename

log = logging.getLogger(__name__)

KNOWN_UNTIL = "renamesKnownUntil"
"""In the model that a page of ours saves: the time up to which it knows of renames, in ms since
1970."""


def _now_ms() -> int:
    """As ``protocol.base`` has it, which needs pydantic: this module is loaded with the server."""
    return time.time_ns() // 1_000_000


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

    ``record`` is called after each of them and after each deletion, and finished before whoever
    renamed is answered: it changes what is stored. ``stored`` returns those that were recorded
    after a time, be it before a restart or by another server of the same documents.
    """

    def __init__(
        self,
        record: Callable[[Rename], Awaitable[None]] | None = None,
        stored: Callable[[int], Awaitable[list[Rename]]] | None = None,
    ) -> None:
        self._record = record
        self._stored = stored
        self._renames: list[Rename] = []
        self._last_time = _now_ms()
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

    def noted(self, count: int) -> list[Rename]:
        """The renames since there were ``count``, in order."""
        return [each for each in self._renames[count:] if not each.is_deletion]

    def since(self, path: str, count: int) -> str:
        """Where the document is that was at this path when there were ``count`` renames."""
        for rename in self.noted(count):
            path = rename.path(path)
        return path

    def time(self) -> int:
        """The time now, in ms since 1970, later than that of every rename noted or read before, and
        earlier than that of every later one."""
        self._last_time = max(self._last_time + 1, _now_ms())
        return self._last_time

    async def after(self, time: int) -> list[Rename]:
        """The renames and deletions after this ``time``, in order. It returns as soon as they are
        known to be all."""
        # This module is loaded with the server, which has no need of pydantic yet.
        from ..protocol.errors import AgentError

        stored: list[Rename] = []
        if self._stored is not None:
            try:
                stored = await self._stored(time)
            except AgentError as error:
                log.warning("Renames before this server's start are not known: %s", error)
        noted = [each for each in self._renames if each.at > time]
        found = {(each.at, each.old, each.new): each for each in (*stored, *noted)}
        # Another server's clock may be ahead, or this one's was set back.
        self._last_time = max(self._last_time, *(each.at for each in found.values()), 0)
        return sorted(found.values(), key=lambda each: each.at)

    async def newer_paths(self, path: str) -> list[str]:
        """Where the document may be that was last known by this path, which is the path of no file
        now: see ``Rename.newer_paths``."""
        return Rename.newer_paths(path, await self.after(0))

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
        """Wrap the contents manager's ``rename``, ``delete`` and ``save``, sync or async."""
        self._install_rename(manager)
        self._install_delete(manager)
        self._install_save(manager)

    def _install_rename(self, manager: Any) -> None:
        rename = manager.rename

        @functools.wraps(rename)
        def wrapped(old_path: str, new_path: str) -> Any:
            asked = Rename(old_path.strip("/"), new_path.strip("/"))
            if inspect.iscoroutinefunction(rename):
                return self._carry_out(manager, asked, lambda: rename(old_path, new_path))
            result = rename(old_path, new_path)
            if inspect.isawaitable(result):
                return self._carry_out(manager, asked, lambda: result)
            # It has happened already: between two steps of ours, none of which waits for it.
            done = self._note([asked, *_renamed_twins(manager, asked)])
            self._store_later(done)
            return result

        manager.rename = wrapped

    def _install_delete(self, manager: Any) -> None:
        delete = manager.delete

        @functools.wraps(delete)
        def wrapped(path: str) -> Any:
            gone = Rename(path.strip("/"), "")

            async def finish(deleting: Awaitable[Any]) -> Any:
                result = await deleting
                await self._store(self._note([gone]))
                return result

            result = delete(path)
            if inspect.isawaitable(result):
                return finish(result)
            self._store_later(self._note([gone]))
            return result

        manager.delete = wrapped

    def _install_save(self, manager: Any) -> None:
        """Refuse what a page saves under an old name, before it knows of the new one. Its model
        says up to which time the page knows of renames."""
        save = manager.save

        @functools.wraps(save)
        def wrapped(model: Any, path: str = "") -> Any:
            known_until = model.pop(KNOWN_UNTIL, None) if isinstance(model, dict) else None
            if not isinstance(known_until, int):
                return save(model, path)
            if inspect.iscoroutinefunction(save):
                return self._save_unless_renamed(manager, save, model, path, known_until)
            if not manager.exists(path):
                noted = [each for each in self._renames if each.at > known_until]
                if newer := Rename.newer_paths(path.strip("/"), noted):
                    raise _saved_too_late(path, newer[0])
            return save(model, path)

        manager.save = wrapped

    async def _save_unless_renamed(
        self, manager: Any, save: Callable[..., Awaitable[Any]], model: Any, path: str, time: int
    ) -> Any:
        if not await ensure_async(manager.exists(path)):
            old = path.strip("/")
            renames = await self.after(time)
            if newer := Rename.newer_paths(old, renames):
                if not any(each.at > time and each.affects(old) for each in self._renames):
                    # Another server renamed it, which could not notify the pages of this one.
                    last = max(each.at for each in renames if each.affects(old))
                    self._note([Rename(old, newer[0], last)])
                raise _saved_too_late(path, newer[0])
        return await save(model, path)

    async def _carry_out(
        self, manager: Any, asked: Rename, act: Callable[[], Awaitable[Any]]
    ) -> Any:
        renames = [asked, *_renamed_twins(manager, asked)]
        self._running.extend(renames)
        try:
            while any(rename.concerns(each) for rename in renames for each in self._in_use):
                await self._next_change()
            result = await act()
            # Only now is it certain which twins were renamed, too.
            await self._store(self._note([asked, *_renamed_twins(manager, asked)]))
            return result
        finally:
            for rename in renames:
                self._running.remove(rename)
            self._changed()

    def _note(self, renames: Iterable[Rename]) -> list[Rename]:
        noted = [
            replace(each, at=each.at or self.time()) for each in renames if each.old != each.new
        ]
        for rename in noted:
            self._renames.append(rename)
            if not rename.is_deletion:
                self._notify(rename)
        return noted

    def _notify(self, rename: Rename) -> None:
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

    async def _store(self, renames: Sequence[Rename]) -> None:
        for rename in renames:
            if self._record is None:
                return
            try:
                await self._record(rename)
            except Exception:
                # As above.
                log.exception("That %s is now %s was not stored", rename.old, rename.new)

    def _store_later(self, renames: Sequence[Rename]) -> None:
        task = asyncio.ensure_future(self._store(renames))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def recorded(self) -> None:
        """Wait until what is stored has the new names."""
        if self._tasks:
            await asyncio.wait(list(self._tasks))


def _saved_too_late(path: str, newer: str) -> HTTPError:
    return HTTPError(
        409,
        f"{path} was not saved: it was renamed to {newer} meanwhile. Save it again, under that "
        "name.",
    )


def _renamed_twins(contents_manager: Any, rename: Rename) -> list[Rename]:
    """What jupytext renames with a notebook of a pair, before or after it did, as far as it knows
    of the pair."""
    pairs = getattr(contents_manager, "paired_notebooks", None)
    pair = (pairs or {}).get(rename.new) or (pairs or {}).get(rename.old)
    if pair is None:
        return []
    from jupytext.paired_paths import (  # type: ignore[import-not-found]
        InconsistentPath,
        paired_paths,
    )

    try:
        before, after = (paired_paths(path, *pair) for path in (rename.old, rename.new))
    except InconsistentPath:
        # The new name is none that a notebook of this pair can have: they are no pair any more.
        return []
    return [
        Rename(old, new)
        for (old, _), (new, _) in zip(before, after, strict=True)
        if old != rename.old and old != new
    ]
