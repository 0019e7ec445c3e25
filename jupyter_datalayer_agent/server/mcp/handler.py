"""``mcp``: the Streamable HTTP transport of the Model Context Protocol, in tornado.

A tool call is answered by a stream of server-sent events, which can be resumed. So is any other
request if a message comes before its answer; otherwise, it is answered by JSON. https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from tornado import web
from tornado.iostream import StreamClosedError

from ...protocol.json_text import parse_json
from ..base.handler import HEARTBEAT_SECONDS, PARTS_KEY, Handler, Operation, Route, route
from .rpc import (
    INVALID_REQUEST,
    MAX_CONNECTIONS,
    MAX_MESSAGE_BYTES,
    PARSE_ERROR,
    RpcError,
    error_message,
)
from .streams import Event, Stream

if TYPE_CHECKING:
    from .connections import Connection, Connections

CONNECTIONS_KEY = "datalayer_agent_mcp"
SESSION_HEADER = "Mcp-Session-Id"
VERSION_HEADER = "MCP-Protocol-Version"
PRIMED_SINCE = "2025-11-25"
"""The first version of the protocol whose clients accept an event without a message."""
UNSUPPORTED_VERSION = -32022
BEGIN = "Send initialize first, then send its Mcp-Session-Id with every request."
NO_TOKEN = "Send the token of the Jupyter server: Authorization: Bearer <token>."
ENDED = "This session does not exist or has ended. Send initialize to begin a new one."


class Refused(Exception):
    """A request that does not reach a session."""

    def __init__(
        self, status: int, message: str, code: int = INVALID_REQUEST, data: Any = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error = error_message(code, message, data)


class McpHandler(Handler):
    """Receives and answers messages of other programs."""

    async def prepare(self) -> None:  # type: ignore[override]
        """Authenticate as every handler does, but with 401 for unknown senders, as MCP requires.
        Refuses everything while ``mcp_mode`` is off."""
        try:
            await super().prepare()
        except web.HTTPError as error:
            # Jupyter checks the XSRF token first. Here it would protect no session, since the
            # request is refused in any case.
            if error.status_code == 403 and self._is_unknown:
                raise web.HTTPError(401, NO_TOKEN) from error
            raise
        if self._is_unknown:
            raise web.HTTPError(401, NO_TOKEN)
        if self.current_user and self.parts.settings().mcp_mode == "off":
            raise web.HTTPError(403, "MCP is turned off on this server (the setting mcp_mode).")

    @property
    def _is_unknown(self) -> bool:
        """Whether the request has no known user, but a token would let it in."""
        # Without the attribute, the request was refused before its user was looked up.
        is_looked_for = hasattr(self, "_jupyter_current_user")
        is_nobody = is_looked_for and not self.current_user
        return is_nobody and self.check_host() and super().check_origin()

    def skip_check_origin(self) -> bool:
        """Never, even for requests with a token: the transport's specification requires it."""
        return False

    def check_origin(self, origin_to_satisfy_tornado: str = "") -> bool:
        """Jupyter's check. Raises 403."""
        if not super().check_origin(origin_to_satisfy_tornado):
            raise web.HTTPError(403, "This origin may not use the server.")
        return True

    @property
    def connections(self) -> Connections:
        """The server's MCP connections, created at first use."""
        settings = self.settings
        if CONNECTIONS_KEY not in settings:
            from .offer import connections_of

            connections = settings[CONNECTIONS_KEY] = connections_of(settings[PARTS_KEY])
            self.parts.on_close.append(connections.close)
        existing: Connections = settings[CONNECTIONS_KEY]
        return existing

    @property
    def owner(self) -> str:
        """Who sent the request. A request with a token belongs to the token's holder, since Jupyter
        gives each such request a new user name."""
        provider = self.identity_provider
        if provider.is_token_authenticated(self) and (token := provider.get_token(self)):
            return "token:" + hashlib.sha256(token.encode()).hexdigest()
        return f"user:{self.current_user.username}"

    @route("read")
    async def post(self) -> None:
        try:
            await self._post()
        except Refused as refused:
            self._refuse(refused)

    @route("read")
    async def get(self) -> None:
        try:
            await self._get()
        except Refused as refused:
            self._refuse(refused)

    @route("read")
    async def delete(self) -> None:
        try:
            await self.connections.end(self._connection())
        except Refused as refused:
            self._refuse(refused)
            return
        self.set_status(204)
        self.finish()

    def _refuse(self, refused: Refused) -> None:
        self.reply(refused.error, refused.status)

    async def _post(self) -> None:
        self._check_accepts("application/json", "text/event-stream")
        kind = self.request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refused(415, "The Content-Type must be application/json.")
        message = self._message()
        method = message.get("method")
        if method == "tools/call" and not await self.may("execute"):
            raise Refused(403, "Not allowed to execute datalayer-agent.")
        if method == "initialize" and SESSION_HEADER not in self.request.headers:
            connection = await self._open(message)
        else:
            connection = self._connection()
        connection.held += 1
        try:
            stream = await connection.send(message)
            self.set_header(SESSION_HEADER, connection.id)
            if stream is None:
                self.set_status(202)
                self.finish()
            elif method == "tools/call":
                await self._write_events(connection, stream, 0, prime=True)
            else:
                await self._write_answer(connection, stream)
        except RpcError as error:
            raise Refused(400, error.message, error.code) from error
        except ValueError as error:
            raise Refused(400, "Not a valid MCP message.") from error
        finally:
            connection.held -= 1

    async def _get(self) -> None:
        self._check_accepts("text/event-stream")
        connection = self._connection()
        last = self.request.headers.get("Last-Event-ID")
        stream, after = connection.streams.common, connection.streams.common.delivered
        if last:
            place = connection.streams.find(last)
            if place is None:
                raise Refused(404, "The events after this one are no longer kept.")
            stream, after = place
        self.set_header(SESSION_HEADER, connection.id)
        connection.held += 1
        try:
            await self._write_events(connection, stream, after, prime=last is None)
        finally:
            connection.held -= 1

    def _check_accepts(self, *kinds: str) -> None:
        accepted = self.request.headers.get("Accept", "*/*").lower()
        listed = {each.partition(";")[0].strip() for each in accepted.split(",")}
        for kind in kinds:
            if not listed & {kind, kind.partition("/")[0] + "/*", "*/*"}:
                raise Refused(406, f"The client must accept {' and '.join(kinds)}.")

    def _message(self) -> dict[str, Any]:
        body = self.request.body
        if len(body) > MAX_MESSAGE_BYTES:
            limit = MAX_MESSAGE_BYTES // 1024 // 1024
            raise Refused(413, f"The message is larger than {limit} MiB. Split it.")
        try:
            message = parse_json(body)
        except ValueError as error:
            raise Refused(400, f"The message is not valid JSON: {error}.", PARSE_ERROR) from error
        if not isinstance(message, dict):
            raise Refused(400, "Send one JSON-RPC message at a time, as an object.")
        request_id = message.get("id", 0)
        if isinstance(request_id, bool) or not isinstance(request_id, str | int):
            raise Refused(400, "The id must be a string or an integer.")
        return message

    async def _open(self, message: dict[str, Any]) -> Connection:
        connection = await self.connections.open(self.owner)
        if connection is None:
            raise Refused(503, f"{MAX_CONNECTIONS} MCP sessions are in use. Try again later.")
        wanted = message.get("params")
        version = wanted.get("protocolVersion") if isinstance(wanted, dict) else None
        if version in connection.versions:
            connection.version = str(version)
        return connection

    def _connection(self) -> Connection:
        """The connection that the request names. Raises ``Refused``."""
        connection_id = self.request.headers.get(SESSION_HEADER)
        if connection_id is None:
            raise Refused(400, BEGIN)
        connection = self.connections.find(connection_id, self.owner)
        if connection is None:
            raise Refused(404, ENDED)
        version = self.request.headers.get(VERSION_HEADER)
        if version is not None and version not in connection.versions:
            supported = list(connection.versions)
            raise Refused(
                400,
                f"Protocol version {version[:40]} is not supported. Use one of "
                f"{', '.join(supported)}.",
                UNSUPPORTED_VERSION,
                {"supported": supported, "requested": version[:40]},
            )
        return connection

    async def _write_answer(self, connection: Connection, stream: Stream) -> None:
        """Write the answer as JSON, or as a stream if another message comes first, such as a
        question to the user."""
        first = await stream.first()
        if first is None:
            raise Refused(404, ENDED)
        if not stream.is_over or len(stream.events) > 1:
            await self._write_events(connection, stream, 0, prime=True)
            return
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(first.text)

    async def _write_events(
        self, connection: Connection, stream: Stream, after: int, *, prime: bool
    ) -> None:
        """Write the stream's events until it ends or its reader disconnects, which does not end
        it."""
        self.set_header("Content-Type", "text/event-stream; charset=utf-8")
        self.set_header("Cache-Control", "no-cache")
        self.set_header("X-Accel-Buffering", "no")
        connected: Any = self.request.connection
        if getattr(connected, "stream", None) is not None:
            connected.stream.set_nodelay(True)
        try:
            if prime and connection.version >= PRIMED_SINCE:
                self.write(_written(Event(stream.key, after, "")))
            await self.flush()
            async for event in stream.read(after, HEARTBEAT_SECONDS):
                self.write(": still here\n\n" if event is None else _written(event))
                await self.flush()
        except StreamClosedError:
            return

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Write Jupyter's errors as JSON-RPC errors without an id, 401 with a challenge
        (RFC 6750)."""
        if status_code == 401:
            is_given = bool(self.identity_provider.get_token(self))
            challenge = 'Bearer error="invalid_token"' if is_given else "Bearer"
            self.set_header("WWW-Authenticate", challenge)
        failure = (kwargs.get("exc_info") or (None, None, None))[1]
        message = "Internal server error. See the server log for details."
        if isinstance(failure, web.HTTPError):
            message = failure.log_message or failure.reason or self._reason
        self.reply(error_message(INVALID_REQUEST, str(message)), status_code)


def _written(event: Event) -> str:
    return f"id: {event.id}\nevent: message\ndata: {event.text}\n\n"


ROUTES = [
    Route(
        "mcp",
        McpHandler,
        {
            "get": Operation("MCP: stream the server's own messages, or resume a stream"),
            "post": Operation("MCP: send one JSON-RPC message"),
            "delete": Operation("MCP: end the session", status=204),
        },
    )
]
