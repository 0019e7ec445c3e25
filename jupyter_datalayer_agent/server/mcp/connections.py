"""The connections of the programs that use the MCP server."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

import anyio

from .rpc import (
    IDLE_SECONDS,
    INVALID_REQUEST,
    MAX_CONNECTIONS,
    MAX_OPEN_REQUESTS,
    REQUEST_CANCELLED,
    Method,
    RpcError,
    error_message,
)
from .sdk.adapter import Adapter, Identity, RunningSession, adapter
from .streams import Stream, Streams

# One program's connection: the SDK's session over memory streams, which HTTP handlers feed.


log = logging.getLogger(__name__)


class Connection:
    """A connection, which runs until ``end``. Only ``user``, who opened it, may use it. ``held``
    counts its open HTTP requests."""

    def __init__(self, adapter: Adapter, user: str) -> None:
        self.id = secrets.token_urlsafe(24)
        self.user = user
        self.versions = adapter.versions
        self.version = adapter.versions[-1]
        self.session: RunningSession | None = None
        self.held = 0
        self.used_at = time.monotonic()
        self.streams = Streams()
        self.on_end: list[Callable[[], None]] = []
        self._adapter = adapter
        self._task: asyncio.Task[None] | None = None
        self._to_session, self._read = anyio.create_memory_object_stream[Any](16)
        self._write, self._from_session = anyio.create_memory_object_stream[Any](16)

    def start(self, identity: Identity, methods: Mapping[str, Method]) -> None:
        """Run the session, in a task of its own."""
        self._task = asyncio.create_task(self._run(identity, methods))

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._task is not None and self._task.done()

    @property
    def is_idle(self) -> bool:
        """Whether it has no open HTTP request and no unanswered request."""
        return self.held == 0 and self.streams.open_requests == 0

    @property
    def is_abandoned(self) -> bool:
        """Whether the program has sent nothing for too long, even if a call still runs."""
        return self.held == 0 and time.monotonic() - self.used_at > IDLE_SECONDS

    async def _run(self, identity: Identity, methods: Mapping[str, Method]) -> None:
        def started(session: RunningSession) -> None:
            self.session = session

        router = asyncio.create_task(self._route())
        try:
            await self._adapter.serve(identity, methods, self._read, self._write, started)
        except Exception:
            # The connection's boundary: one program's session must not disturb the server.
            log.exception("An MCP connection failed")
        finally:
            router.cancel()
            self.streams.end()
            for each in self.on_end:
                each()
            for stream in (self._to_session, self._read, self._write, self._from_session):
                stream.close()

    async def _route(self) -> None:
        """Add each message that the session sends to the stream that it belongs to."""
        async for message in self._from_session:
            sent = self._adapter.outgoing(message)
            if sent.is_answer and sent.related is not None:
                self.streams.answer(sent.related, sent.text)
            else:
                stream = self.streams.of_request(sent.related) or self.streams.common
                stream.add(sent.text)

    async def send(self, data: dict[str, Any]) -> Stream | None:
        """Pass on a message of the program. For a request, returns the stream of its answer.

        Raises ``RpcError``, and ``ValueError`` if it is not a JSON-RPC message.
        """
        self.used_at = time.monotonic()
        if "method" not in data or "id" not in data:
            await self._pass_on(self._adapter.parse(data, None))
            return None
        request_id = data["id"]

        async def unanswered() -> None:
            # An HTTP stream ends with an answer, even if its request was cancelled.
            message = error_message(REQUEST_CANCELLED, "Cancelled", request_id=request_id)
            self.streams.answer(request_id, json.dumps(message))

        message = self._adapter.parse(data, unanswered)
        if self.streams.open_requests >= MAX_OPEN_REQUESTS:
            raise RpcError(
                INVALID_REQUEST,
                f"{MAX_OPEN_REQUESTS} requests of this session are still running. Wait for their "
                "answers before you send more.",
            )
        stream = self.streams.begin(request_id)
        if stream is None:
            raise RpcError(INVALID_REQUEST, f"The request id {request_id!r} is already in use.")
        await self._pass_on(message)
        return stream

    async def _pass_on(self, message: Any) -> None:
        try:
            await self._to_session.send(message)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise RpcError(INVALID_REQUEST, "The session has ended.") from error

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification that belongs to no request, if the program is ready for it."""
        if self.session is not None and not self.is_over:
            await self.session.notify(method, params)

    async def end(self) -> None:
        """End the connection, and interrupt its running calls."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])


WATCH_SECONDS = 2.0


class Connections:
    """Opens connections, and ends those that nobody uses. ``make_methods`` makes the methods of a
    connection. Programs are told that their list of tools has changed when ``listed`` returns
    another value."""

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
        """Open a connection; None if too many are in use."""
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
        """The user's connection with this id."""
        connection = self._by_id.get(connection_id)
        if connection is None or connection.is_over or connection.user != user:
            return None
        return connection

    async def end(self, connection: Connection) -> None:
        """End a connection."""
        self._by_id.pop(connection.id, None)
        await connection.end()

    async def close(self) -> None:
        """End all connections, when the server ends."""
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
                    log.info("An MCP session ends, because its client has sent nothing for long")
                    await self.end(connection)

    async def _watch(self) -> None:
        """Notify the programs when ``listed`` has changed. Polls, since the user may change the
        setting anywhere."""
        before = self._listed()
        while self._by_id:
            await asyncio.sleep(WATCH_SECONDS)
            if (now := self._listed()) == before:
                continue
            before = now
            for connection in list(self._by_id.values()):
                await connection.notify("notifications/tools/list_changed", {})
