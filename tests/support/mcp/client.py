"""The official SDK's own client, of whichever major version is installed, on a server of the tests.

async with connected(server) as client:
    await client.call("createNotebook", {"name": "a.ipynb"})
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import ClientSession, types
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.support.jupyter import TOKEN, RunningServer

Elicited = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Answers a form: its message and its schema; the result as JSON."""


def wire(model: Any) -> Any:
    """A result as it was on the wire."""
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class Client:
    """A session of the SDK. ``notifications`` are those that came, as (method, params)."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session
        self.server: dict[str, Any] = {}
        self.notifications: list[tuple[str, dict[str, Any]]] = []
        self.came = asyncio.Event()

    async def call(
        self, name: str, arguments: dict[str, Any] | None = None, progress: Any = None
    ) -> dict[str, Any]:
        """A tool call's result; its first text is parsed as ``value``."""
        done = await self.session.call_tool(name, arguments or {}, progress_callback=progress)
        result: dict[str, Any] = wire(done)
        text = result["content"][0].get("text", "")
        try:
            result["value"] = json.loads(text)
        except ValueError:
            result["value"] = text
        return result

    async def ok(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        """The value of a call that must succeed."""
        result = await self.call(name, arguments)
        assert not result.get("isError"), result
        return result["value"]

    async def read(self, uri: str) -> Any:
        """The first text of a resource, parsed where it is JSON."""
        [content] = wire(await self.session.read_resource(uri))["contents"]
        assert content["uri"] == uri
        return json.loads(content["text"])

    async def subscribe(self, uri: str) -> None:
        """Be notified of its changes. (Version 2 of the SDK warns of what newer protocols lack.)"""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            await self.session.subscribe_resource(uri)  # type: ignore[arg-type]

    async def unsubscribe(self, uri: str) -> None:
        """No more."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            await self.session.unsubscribe_resource(uri)  # type: ignore[arg-type]

    async def until(self, method: str, **params: Any) -> dict[str, Any]:
        """The next notification of that method with these parameters; it is taken out."""
        while True:
            for index, (name, given) in enumerate(self.notifications):
                if name == method and params.items() <= given.items():
                    del self.notifications[index]
                    return given
            self.came.clear()
            await asyncio.wait_for(self.came.wait(), 30)

    async def cancel_newest(self) -> None:
        """Cancel the request that was sent last, as the protocol has it."""
        session: Any = self.session
        if hasattr(session, "_request_id"):
            params = types.CancelledNotificationParams(requestId=session._request_id - 1)
            note = types.CancelledNotification(method="notifications/cancelled", params=params)
            await session.send_notification(types.ClientNotification(note))


@asynccontextmanager
async def _session(
    read: Any, write: Any, elicit: Elicited | None, name: str
) -> AsyncIterator[Client]:
    async def elicited(context: Any, params: Any) -> Any:
        assert elicit is not None
        given = wire(params)
        return types.ElicitResult.model_validate(
            await elicit(given["message"], given["requestedSchema"])
        )

    async def received(message: Any) -> None:
        root = getattr(message, "root", message)
        if not isinstance(message, Exception) and hasattr(root, "method"):
            given = wire(root)
            client.notifications.append((given["method"], given.get("params", {})))
            client.came.set()

    async with ClientSession(
        read,
        write,
        elicitation_callback=elicited if elicit is not None else None,
        message_handler=received,
        client_info=types.Implementation(name=name, version="1.0"),
    ) as session:
        client = Client(session)
        client.server = wire(await session.initialize())
        yield client


@asynccontextmanager
async def connected(
    server: RunningServer, elicit: Elicited | None = None, name: str = "Test client"
) -> AsyncIterator[Client]:
    """A client over Streamable HTTP."""
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(
            create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"})
        )
        url = f"{server.url}datalayer-agent/mcp"
        streams = await stack.enter_async_context(streamable_http_client(url, http_client=http))
        yield await stack.enter_async_context(_session(streams[0], streams[1], elicit, name))


@asynccontextmanager
async def over_stdio(
    folder: Path, environment: dict[str, str], elicit: Elicited | None = None, name: str = "Test"
) -> AsyncIterator[Client]:
    """A client of the command ``jupyter datalayer-agent mcp``, run in a folder."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "jupyter_datalayer_agent.cli", "mcp"],
        env=environment,
        cwd=folder,
    )
    async with (
        stdio_client(command) as (read, write),
        _session(read, write, elicit, name) as client,
    ):
        yield client
