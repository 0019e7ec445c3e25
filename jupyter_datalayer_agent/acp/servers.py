"""The Jupyter servers of the sessions: one for each folder that an editor works in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Protocol

from .server_client import ServerClient


class Server(Protocol):
    """A Jupyter server with the extension; ``root`` is its root folder."""

    @property
    def url(self) -> str:
        """Its address, with a slash at the end."""
        ...

    @property
    def token(self) -> str:
        """Its token, empty where it has none."""
        ...

    @property
    def root(self) -> Path:
        """Its root folder, resolved."""
        ...


OpenServer = Callable[[Path], AbstractContextManager[Server]]
"""A running server whose root contains the folder, else one that ends with the context."""


class Servers:
    """Servers by folder. Each is looked for, or started, when a session first needs it."""

    def __init__(self, open_server: OpenServer) -> None:
        self._open_server = open_server
        self._opened: list[tuple[ServerClient, ExitStack]] = []
        self._lock = asyncio.Lock()

    async def of(self, folder: Path) -> ServerClient:
        """The server of a resolved folder. Raises what ``open_server`` raises."""
        async with self._lock:
            for client, _ in self._opened:
                if folder.is_relative_to(client.root):
                    return client
            stack = ExitStack()
            # It may take seconds: a private server has to start.
            server = await asyncio.to_thread(stack.enter_context, self._open_server(folder))
            client = ServerClient(server.url, server.token, server.root)
            self._opened.append((client, stack))
            return client

    async def drop(self, client: ServerClient) -> None:
        """Forget a server that does not answer any more: the next session looks for another."""
        async with self._lock:
            gone = [each for each in self._opened if each[0] is client]
            self._opened = [each for each in self._opened if each[0] is not client]
        await self._end(gone)

    async def close(self) -> None:
        """End the private ones."""
        opened, self._opened = self._opened, []
        await self._end(opened)

    async def _end(self, opened: list[tuple[ServerClient, ExitStack]]) -> None:
        for client, stack in opened:
            await client.close()
            await asyncio.to_thread(stack.close)
