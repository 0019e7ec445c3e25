"""``POST chat`` and ``POST chat/stream``: one turn, as one reply or as its events."""

from __future__ import annotations

import asyncio
from typing import Any

from ...agent.session.actor import LiveSession
from ...agent.session.turn_events import TurnEvents
from ...protocol.errors import HTTP_STATUS
from ...protocol.ops import UserMessage
from ...protocol.requests import ChatReply, ChatRequest
from ..base.handler import Handler, route
from ..base.limits import check_message
from ..base.route_table import Operation, Route
from ..base.sse import Waiting, write_events
from .kernel_requests import as_kernel_may


class ChatBase(Handler):
    """Common to both forms."""

    async def begin(self) -> tuple[ChatRequest, LiveSession]:
        """The request and its session, created if none is named."""
        request = await as_kernel_may(self, self.body(ChatRequest))
        check_message(request)
        sessions = self.parts.sessions
        if request.session_id is not None:
            return request, await sessions.live(request.session_id)
        session = await sessions.begin()
        request.session_id = session.id
        return request, session


class ChatHandler(ChatBase):
    """Replies when the turn has ended."""

    @route("execute")
    async def post(self) -> None:
        request, session = await self.begin()
        _, result = await session.chat(UserMessage(request=request), "none")
        reply = await result
        # A failed turn's reply has the error's form besides its own, so its status fits both.
        status = HTTP_STATUS[reply.error.code] if reply.error is not None else 200
        self.reply(reply, status)


class ChatStreamHandler(ChatBase):
    """The turn's events. A client that disconnects does not end the turn."""

    @route("execute")
    async def post(self) -> None:
        request, session = await self.begin()
        waiting: Waiting = asyncio.Queue()
        leave = session.state.channel.listen(waiting.put_nowait)
        try:
            await self._stream(request, session, waiting)
        finally:
            leave()

    async def _stream(self, request: ChatRequest, session: LiveSession, waiting: Waiting) -> None:
        op_id, result = await session.chat(UserMessage(request=request), "stream")
        result.add_done_callback(_retrieve)
        refused = await session.started(op_id, result)
        if refused is not None:
            raise refused
        self.set_header("X-Session-Id", session.id)
        turn = TurnEvents()
        await write_events(self, waiting, wanted=turn.has, is_last=turn.ends_with)


def _retrieve(result: Any) -> None:
    """The stream reports the end; an exception was logged where it occurred."""
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
