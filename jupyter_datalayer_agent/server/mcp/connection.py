"""One program's connection: the SDK's session over memory streams, fed by HTTP handlers."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

import anyio

from .limits import IDLE_SECONDS, MAX_OPEN_REQUESTS
from .peer import Method
from .rpc import INVALID_REQUEST, REQUEST_CANCELLED, RpcError, error_message
from .sdk.adapter import Adapter, Identity, RunningSession
from .streams import Stream, Streams

log = logging.getLogger(__name__)


class Connection:
    """Runs until ``end``. ``user`` is the one who opened it, and the only one who may use it.
    ``held`` counts the HTTP requests that it has open."""

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
        """Whether nothing of it is open or runs."""
        return self.held == 0 and self.streams.open_requests == 0

    @property
    def is_abandoned(self) -> bool:
        """Whether the program has not been heard of for too long, whatever it has running."""
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
        """Put what the session sends into the stream that it belongs to."""
        async for message in self._from_session:
            sent = self._adapter.outgoing(message)
            if sent.is_answer and sent.related is not None:
                self.streams.answer(sent.related, sent.text)
            else:
                stream = self.streams.of_request(sent.related) or self.streams.common
                stream.add(sent.text)

    async def send(self, data: dict[str, Any]) -> Stream | None:
        """Pass on a message of the program; the stream of its answer if it is a request.

        Raises ``RpcError``, and ``ValueError`` for what is no JSON-RPC message.
        """
        self.used_at = time.monotonic()
        if "method" not in data or "id" not in data:
            await self._pass_on(self._adapter.parse(data, None))
            return None
        request_id = data["id"]

        async def unanswered() -> None:
            # HTTP streams end with an answer, also that of a request that was cancelled.
            message = error_message(REQUEST_CANCELLED, "Cancelled", request_id=request_id)
            self.streams.answer(request_id, json.dumps(message))

        message = self._adapter.parse(data, unanswered)
        if self.streams.open_requests >= MAX_OPEN_REQUESTS:
            raise RpcError(
                INVALID_REQUEST,
                f"{MAX_OPEN_REQUESTS} requests of this session are not answered yet. Wait for "
                "answers before sending more.",
            )
        stream = self.streams.begin(request_id)
        if stream is None:
            raise RpcError(INVALID_REQUEST, f"The request id {request_id!r} is in use.")
        await self._pass_on(message)
        return stream

    async def _pass_on(self, message: Any) -> None:
        try:
            await self._to_session.send(message)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise RpcError(INVALID_REQUEST, "The session has ended.") from error

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification that belongs to no request, once the program is ready."""
        if self.session is not None and not self.is_over:
            await self.session.notify(method, params)

    async def end(self) -> None:
        """End it; calls that run are interrupted."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
