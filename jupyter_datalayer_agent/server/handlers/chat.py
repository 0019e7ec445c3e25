"""``POST chat`` and ``POST chat/stream``: one turn, as one reply or as its events."""

from __future__ import annotations

from typing import Any

from ...agent.session.actor import LiveSession
from ...agent.session.turn_events import TurnEvents
from ...protocol.ops import UserMessage
from ...protocol.requests import ChatReply, ChatRequest
from ..base.handler import Handler, route
from ..base.limits import check_message
from ..base.route_table import Operation, Route
from ..base.sse import Waiting, stream_events, write_events


class ChatBase(Handler):
    """Common to both forms."""

    def chat_request(self) -> ChatRequest:
        """The message. Raises ``AgentError``."""
        request = self.body(ChatRequest)
        check_message(request)
        return request


class ChatHandler(ChatBase):
    """Replies when the turn has ended."""

    @route("execute")
    async def post(self) -> None:
        await self.run_turn(self.chat_request())


class ChatStreamHandler(ChatBase):
    """The turn's events. A client that disconnects does not end the turn."""

    @route("execute")
    async def post(self) -> None:
        request = self.chat_request()
        session = await self.parts.sessions.of(request, self.asker.key)
        channel, waiting, turn = session.state.channel, Waiting(), TurnEvents()
        begun = channel.seq
        leave = channel.listen(waiting.put)
        try:
            await self._start(request, session)
            after = await write_events(
                self, waiting, begun, wanted=turn.has, is_last=turn.ends_with
            )
        finally:
            leave()
        await stream_events(self, channel, after, wanted=turn.has, is_last=turn.ends_with)

    async def _start(self, request: ChatRequest, session: LiveSession) -> None:
        op_id, result = await session.chat(
            UserMessage(request=request), "stream", starter=self.asker.key
        )
        result.add_done_callback(_retrieve)
        refused = await session.started(op_id, result)
        if refused is not None:
            raise refused
        self.set_header("X-Session-Id", session.id)


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
