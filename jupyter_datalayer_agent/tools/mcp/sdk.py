"""The official ``mcp`` SDK, of which versions 1 and 2 differ; loaded when a server is first used.

Messages come out as plain JSON, as they are on the wire. Results are not checked against the output
schema of a tool, which is another program's: a regular expression in it could take for ever.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from ...imports import load
from .bounded_http import Bound
from .guard import LARGEST

Streams = tuple[Any, Any]
OnNotification = Callable[[str, Mapping[str, Any]], Awaitable[None]]


@dataclass(frozen=True)
class Incoming:
    """A request or a notification from a server; ``id`` is None for the latter."""

    id: Any
    method: str
    params: dict[str, Any]


class SdkError(Exception):
    """The server answered with an error, or no longer answers."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Sdk:
    """The installed SDK. Make it in a thread: the import takes a second."""

    def __init__(self) -> None:
        self._mcp: Any = load("mcp")
        self._types: Any = load("mcp.types")
        self._http: Any = load("mcp.client.streamable_http")
        self._http_client: Any = load("mcp.shared._httpx_utils").create_mcp_http_client
        self._error: type[Exception] = getattr(self._mcp, "MCPError", None) or self._mcp.McpError
        self._is_first = version("mcp").startswith("1.")
        self.ends_with_an_error = self._is_first
        """Whether an HTTP connection ends when one of its answers breaks off."""

    @contextlib.asynccontextmanager
    async def stdio(
        self, command: list[str], env: Mapping[str, str], cwd: str | None, errlog: TextIO
    ) -> AsyncIterator[Streams]:
        """The streams of a process. Raises ``OSError``. It gets a few variables of our environment,
        such as PATH and HOME, and those of ``env``."""
        program, *args = command
        parameters = self._mcp.StdioServerParameters(
            command=program,
            args=args,
            env=dict(env),
            cwd=cwd,
            # A message with other bytes is none; its server goes on.
            encoding_error_handler="replace",
        )
        async with self._mcp.stdio_client(parameters, errlog=errlog) as streams:
            yield streams[0], streams[1]

    def http_client(self, headers: Mapping[str, str], bound: Bound, auth: Any = None) -> Any:
        """A client of httpx (or httpx2), to be entered; an answer over the limit breaks off.
        Redirects to other origins are not followed, so headers go to no one else."""
        client = self._http_client(dict(headers), auth=auth)
        client.follow_redirects = False
        bound.set(client)
        return client

    @contextlib.asynccontextmanager
    async def http(
        self, url: str, headers: Mapping[str, str], bound: Bound, auth: Any = None
    ) -> AsyncIterator[Streams]:
        """The streams of a server at an address, see ``http_client``."""
        client = self.http_client(headers, bound, auth)
        more: dict[str, Any] = {}
        if "max_sse_event_size" in inspect.signature(self._http.streamable_http_client).parameters:
            more["max_sse_event_size"] = LARGEST
        async with (
            client,
            self._http.streamable_http_client(url, http_client=client, **more) as streams,
        ):
            yield streams[0], streams[1]

    def session(self, streams: Streams, root: Path | None, notify: OnNotification) -> Any:
        """A session, to be entered. It offers the root where there is one, and elicitation by
        forms, requests for which are to be taken from the stream (``Elicitations``). It refuses
        requests for sampling."""

        async def on_message(message: Any) -> None:
            found = getattr(message, "root", message)
            method = getattr(found, "method", None)
            if isinstance(method, str) and not isinstance(message, Exception):
                params = getattr(found, "params", None)
                await notify(method, {} if params is None else _wire(params))

        async def list_roots(context: Any) -> Any:
            assert root is not None
            return self._types.ListRootsResult(
                roots=[self._types.Root(uri=root.as_uri(), name=root.name or "root")]
            )

        async def elicit(context: Any, params: Any) -> Any:
            return self._types.ErrorData(code=-32603, message="Not taken from the stream.")

        return _session_class(self._mcp.ClientSession)(
            streams[0],
            streams[1],
            message_handler=on_message,
            list_roots_callback=None if root is None else list_roots,
            elicitation_callback=elicit,
            client_info=self._types.Implementation(
                name="jupyter-datalayer-agent", version=version("jupyter-datalayer-agent")
            ),
        )

    async def initialize(self, session: Any) -> dict[str, Any]:
        """Shake hands. Returns what the server says about itself. Raises ``SdkError``."""
        return await self._answer(session.initialize())

    async def list_tools(self, session: Any, cursor: str | None) -> dict[str, Any]:
        """One page of its tools. Raises ``SdkError``."""
        types = self._types
        params = None if cursor is None else types.PaginatedRequestParams(cursor=cursor)
        request = types.ListToolsRequest(params=params)
        return await self._answer(
            session.send_request(self._of_client(request), types.ListToolsResult)
        )

    async def call_tool(
        self, session: Any, name: str, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The result of a call; the server is notified if it is cancelled. Raises ``SdkError``."""
        types = self._types
        params = types.CallToolRequestParams(name=name, arguments=dict(arguments))
        request = self._of_client(types.CallToolRequest(params=params))
        # Version 2 notifies on its own.
        number = session._request_id if self._is_first else None
        try:
            return await self._answer(session.send_request(request, types.CallToolResult))
        except BaseException as error:
            if number is not None and not isinstance(error, Exception):
                await self._notify_cancelled(session, number)
            raise

    def incoming(self, message: Any) -> Incoming | None:
        """The request or notification in a stream's message; None for other messages."""
        found = getattr(message, "message", None)
        found = getattr(found, "root", found)
        method = getattr(found, "method", None)
        if not isinstance(method, str):
            return None
        params = getattr(found, "params", None) or {}
        return Incoming(getattr(found, "id", None), method, dict(params))

    def response(self, request_id: Any, result: dict[str, Any]) -> Any:
        """The message that answers a request of the server."""
        types = self._types
        return self._message(types.JSONRPCResponse(jsonrpc="2.0", id=request_id, result=result))

    def error(self, request_id: Any, code: int, message: str) -> Any:
        """The message that refuses a request of the server."""
        types = self._types
        error = types.ErrorData(code=code, message=message)
        return self._message(types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error))

    def _message(self, message: Any) -> Any:
        wrapped = self._types.JSONRPCMessage(message) if self._is_first else message
        return load("mcp.shared.message").SessionMessage(wrapped)

    def _of_client(self, request: Any) -> Any:
        return self._types.ClientRequest(request) if self._is_first else request

    async def _notify_cancelled(self, session: Any, number: int) -> None:
        import anyio

        types = self._types
        params = types.CancelledNotificationParams(requestId=number, reason="cancelled")
        notification = types.CancelledNotification(params=params)
        with anyio.move_on_after(1, shield=True), contextlib.suppress(Exception):
            await session.send_notification(types.ClientNotification(notification))

    async def _answer(self, request: Awaitable[Any]) -> dict[str, Any]:
        try:
            return _wire(await request)
        except self._error as error:
            data: Any = getattr(error, "error", error)
            raise SdkError(int(data.code), str(data.message)) from error


def _session_class(base: Any) -> Any:
    """The SDK's session, without its offer to open addresses that a server asks for."""

    class Session(base):  # type: ignore[misc]
        async def send_request(self, request: Any, *args: Any, **more: Any) -> Any:
            params = getattr(getattr(request, "root", request), "params", None)
            capabilities: Any = getattr(params, "capabilities", None)
            if getattr(capabilities, "elicitation", None) is not None:
                capabilities.elicitation.url = None
            return await super().send_request(request, *args, **more)

    return Session


def _wire(model: Any) -> dict[str, Any]:
    data: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return data
