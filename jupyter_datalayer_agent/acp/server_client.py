"""The routes of a Jupyter server with the extension, as a session uses them."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, Protocol

import httpx

from ..protocol.turn_view import ENDS

CONNECT_SECONDS = 10.0


class ServerError(Exception):
    """The server refused a request: its error's ``code``, and a message for a user."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ServerGone(Exception):
    """The server does not answer any more."""


class ServerClient:
    """One server. Raises ``ServerError`` and ``ServerGone``."""

    def __init__(self, url: str, token: str, root: Path) -> None:
        self.root = root
        # By which the server knows who started a turn, and may answer what it asks.
        headers = {"X-Datalayer-Agent-Client": secrets.token_urlsafe(32)}
        if token:
            headers["Authorization"] = f"token {token}"
        # A turn takes as long as it takes; a proxy of the environment is not for this machine.
        self._http = httpx.AsyncClient(
            base_url=f"{url}datalayer-agent/",
            headers=headers,
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            trust_env=False,
        )

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def get(self, route: str, **query: Any) -> Any:
        """The JSON answer of a GET."""
        return await self._request("GET", route, params=query)

    async def post(self, route: str, body: Any) -> Any:
        """The JSON answer of a POST."""
        return await self._request("POST", route, json=body)

    async def patch(self, route: str, body: Any) -> Any:
        """The JSON answer of a PATCH."""
        return await self._request("PATCH", route, json=body)

    async def delete(self, route: str) -> None:
        """Send a DELETE."""
        await self._request("DELETE", route)

    async def turn(self, session_id: str, body: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Send a message; the events of its turn, to the last one.

        Where the stream breaks off, the rest is asked for: the server ends a stream that is read
        too slowly.
        """
        turn_id, after = None, 0
        async for event in self._events("POST", "chat/stream", json=body):
            turn_id, after = event.get("turnId") or turn_id, event["seq"]
            yield event
            if event["type"] in ENDS:
                return
        if turn_id is None:
            raise ServerGone
        route = f"sessions/{session_id}/events"
        async for event in self._events("GET", route, params={"after": after}):
            if event.get("turnId") == turn_id:
                yield event
                if event["type"] in ENDS:
                    return
        raise ServerGone

    async def _events(self, method: str, route: str, **more: Any) -> AsyncIterator[dict[str, Any]]:
        try:
            async with self._http.stream(method, route, **more) as response:
                if not response.is_success:
                    await response.aread()
                    raise _error(response)
                async for line in response.aiter_lines():
                    if line.startswith("data: "):
                        yield json.loads(line[6:])
        except httpx.RemoteProtocolError:
            # Cut in the middle: the caller asks for the rest.
            return
        except httpx.TransportError as error:
            raise ServerGone from error

    async def _request(self, method: str, route: str, **more: Any) -> Any:
        try:
            response = await self._http.request(method, route, **more)
        except httpx.TransportError as error:
            raise ServerGone from error
        if not response.is_success:
            raise _error(response)
        return response.json() if response.content else None


def _error(response: httpx.Response) -> ServerError:
    try:
        error = response.json()["error"]
        return ServerError(str(error["code"]), str(error["message"]))
    except (ValueError, KeyError, TypeError):
        return ServerError("internal", f"The server answered {response.status_code}.")


# The Jupyter servers of the sessions: one for each folder that an editor works in.


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
