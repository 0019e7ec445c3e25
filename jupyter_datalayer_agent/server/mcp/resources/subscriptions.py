"""Notifies a program of changes: of resources that it subscribed to, and of what is listed.

What the agent changes is noticed at once; what a user types, or another program writes, within a
few seconds. Nothing is looked at while a program has subscribed to nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from ....notebook.page.hub import PageHub
from ..limits import MAX_SUBSCRIPTIONS
from ..rpc import INVALID_PARAMS, RpcError
from .kind import ResourceKind

log = logging.getLogger(__name__)

PAUSE_SECONDS = 3.0
SHARE = 20
"""Looking takes at most one part in so many of the time."""
GATHER_SECONDS = 0.2
"""Several changes at once are one notification."""

Notify = Callable[[str, dict[str, Any]], Awaitable[None]]


class Subscriptions:
    """Of one connection. ``close`` ends its task."""

    def __init__(self, pages: PageHub, notify: Notify) -> None:
        self._pages = pages
        self._notify = notify
        self._known: dict[str, tuple[ResourceKind, str, str]] = {}
        self._wake = asyncio.Event()
        self._listed = self._open_paths()
        self._unwatch = pages.watch(self._wake.set)
        self._task = asyncio.create_task(self._watch())

    async def add(self, uri: str, kind: ResourceKind, name: str) -> None:
        """Watch a resource. Raises ``RpcError`` for too many, and ``DocumentError``."""
        if uri not in self._known and len(self._known) >= MAX_SUBSCRIPTIONS:
            raise RpcError(
                INVALID_PARAMS,
                f"A session may subscribe to {MAX_SUBSCRIPTIONS} resources. Unsubscribe from one.",
            )
        self._known[uri] = (kind, name, await kind.fingerprint(name))
        self._wake.set()

    def remove(self, uri: str) -> None:
        """Watch it no more."""
        self._known.pop(uri, None)

    def close(self) -> None:
        """Watch nothing any more."""
        self._unwatch()
        self._task.cancel()

    async def _watch(self) -> None:
        pause: float | None = None
        while True:
            try:
                await asyncio.wait_for(self._wake.wait(), pause)
                await asyncio.sleep(GATHER_SECONDS)
            except asyncio.TimeoutError:
                pass
            self._wake.clear()
            began = time.monotonic()
            try:
                await self._look()
            except Exception:
                # The task's boundary: a resource that cannot be looked at must not end all others.
                log.exception("Subscribed resources could not be looked at")
            took = time.monotonic() - began
            pause = max(PAUSE_SECONDS, took * SHARE) if self._known else None

    async def _look(self) -> None:
        listed = self._open_paths()
        if listed != self._listed:
            self._listed = listed
            await self._notify("notifications/resources/list_changed", {})
        for uri, (kind, name, before) in list(self._known.items()):
            now = await kind.fingerprint(name)
            if now != before and uri in self._known:
                self._known[uri] = (kind, name, now)
                await self._notify("notifications/resources/updated", {"uri": uri})

    def _open_paths(self) -> frozenset[str]:
        return frozenset(
            notebook.path
            for page in self._pages
            if page.connected
            for notebook in page.state.notebooks
        )
