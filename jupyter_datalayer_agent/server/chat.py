"""``POST chat`` and ``POST chat/stream``: one turn, as one answer or as its events."""

from __future__ import annotations

import asyncio
from typing import Any

from ..agent.channel import Told
from ..agent.session import LiveSession
from ..protocol.errors import HTTP_STATUS
from ..protocol.ops import UserMessage
from ..protocol.requests import ChatReply, ChatRequest
from .base import Handler, route
from .kernel_requests import as_kernel_may
from .limits import check_message
from .route_table import Operation, Route
from .sse import Waiting, write_events

ENDS = ("turn_completed", "turn_aborted")


class ChatBase(Handler):
    """What both forms share."""

    async def begin(self) -> tuple[ChatRequest, LiveSession]:
        """The request and its session, made where none is named."""
        request = await as_kernel_may(self, self.body(ChatRequest))
        check_message(request)
        sessions = self.parts.sessions
        if request.session_id is not None:
            return request, await sessions.live(request.session_id)
        session = await sessions.begin()
        request.session_id = session.id
        return request, session


class ChatHandler(ChatBase):
    """Answers when the turn has ended."""

    @route("execute")
    async def post(self) -> None:
        request, session = await self.begin()
        _, result = await session.chat(UserMessage(request=request), "none")
        reply = await result
        # A failed turn's reply has the error's form besides its own, so its status fits both.
        status = HTTP_STATUS[reply.error.code] if reply.error is not None else 200
        self.reply(reply, status)


class ChatStreamHandler(ChatBase):
    """The turn's events. A client that goes away does not end the turn."""

    @route("execute")
    async def post(self) -> None:
        request, session = await self.begin()
        waiting: Waiting = asyncio.Queue()
        leave = session.channel.listen(waiting.put_nowait)
        try:
            await self._stream(request, session, waiting)
        finally:
            leave()

    async def _stream(self, request: ChatRequest, session: LiveSession, waiting: Waiting) -> None:
        op_id, result = await session.chat(UserMessage(request=request), "stream")
        result.add_done_callback(_retrieve)
        turn_id: str | None = None

        def wanted(told: Told) -> bool:
            nonlocal turn_id
            if turn_id is None and told.type == "turn_started":
                turn_id = told.turn_id
            return turn_id is not None and told.turn_id == turn_id

        def is_last(told: Told) -> bool:
            return told.type in ENDS and turn_id is not None and told.turn_id == turn_id

        refused = await session.started(op_id, result)
        if refused is not None:
            raise refused
        self.set_header("X-Session-Id", session.id)
        await write_events(self, waiting, wanted=wanted, is_last=is_last)


def _retrieve(result: Any) -> None:
    """The stream tells of the end by itself; an exception was logged where it came up."""
    if not result.cancelled():
        result.exception()


ROUTES = [
    Route(
        "chat",
        ChatHandler,
        {"post": Operation("One turn, answered at its end", ChatRequest, ChatReply)},
    ),
    Route(
        "chat/stream",
        ChatStreamHandler,
        {
            "post": Operation(
                "One turn, as server-sent events", ChatRequest, content="text/event-stream"
            )
        },
    ),
]
