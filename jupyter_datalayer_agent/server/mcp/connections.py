"""The connections of all programs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from .connection import Connection
from .limits import IDLE_SECONDS, MAX_CONNECTIONS
from .peer import Method
from .sdk.adapter import Identity, adapter

log = logging.getLogger(__name__)

WATCH_SECONDS = 2.0


class Connections:
    """Opens connections and ends those that nobody uses. ``make_methods`` makes what one program
    is offered; when ``listed`` becomes another value, its list of tools is another one."""

    def __init__(
        self,
        identity: Identity,
        make_methods: Callable[[Connection], Mapping[str, Method]],
        listed: Callable[[], object],
    ) -> None:
        self._identity = identity
        self._make_methods = make_methods
        self._by_id: dict[str, Connection] = {}
        self._listed = listed
        self._sweeper: asyncio.Task[None] | None = None
        self._watcher: asyncio.Task[None] | None = None

    async def open(self, user: str) -> Connection | None:
        """A new connection; None where there are too many in use."""
        sdk = await adapter()
        self._drop_ended()
        if len(self._by_id) >= MAX_CONNECTIONS:
            idle = [each for each in self._by_id.values() if each.is_idle]
            if not idle:
                return None
            await self.end(min(idle, key=lambda each: each.used_at))
        connection = Connection(sdk, user)
        self._by_id[connection.id] = connection
        connection.start(self._identity, self._make_methods(connection))
        if self._sweeper is None or self._sweeper.done():
            self._sweeper = asyncio.create_task(self._sweep())
        if self._watcher is None or self._watcher.done():
            self._watcher = asyncio.create_task(self._watch())
        return connection

    def find(self, connection_id: str, user: str) -> Connection | None:
        """That user's connection of that id."""
        connection = self._by_id.get(connection_id)
        if connection is None or connection.is_over or connection.user != user:
            return None
        return connection

    async def end(self, connection: Connection) -> None:
        """End a connection."""
        self._by_id.pop(connection.id, None)
        await connection.end()

    async def close(self) -> None:
        """End all; the server ends."""
        for task in (self._sweeper, self._watcher):
            if task is not None:
                task.cancel()
        await asyncio.gather(*(self.end(each) for each in list(self._by_id.values())))

    def _drop_ended(self) -> None:
        for connection in list(self._by_id.values()):
            if connection.is_over:
                del self._by_id[connection.id]

    async def _sweep(self) -> None:
        while self._by_id:
            await asyncio.sleep(IDLE_SECONDS / 30)
            self._drop_ended()
            for connection in list(self._by_id.values()):
                if connection.is_abandoned:
                    log.info("An MCP client has not been heard of for long: its session ends")
                    await self.end(connection)

    async def _watch(self) -> None:
        """Notify the programs when the setting that their tools depend on has changed, wherever
        the user changed it."""
        before = self._listed()
        while self._by_id:
            await asyncio.sleep(WATCH_SECONDS)
            if (now := self._listed()) == before:
                continue
            before = now
            for connection in list(self._by_id.values()):
                await connection.notify("notifications/tools/list_changed", {})
