"""``strategist``: a question about the past, answered from the history."""

from __future__ import annotations

from ..protocol.errors import HTTP_STATUS, AgentError
from ..protocol.history import StrategistReply, StrategistRequest, StrategistState
from .base import Handler, route
from .limits import MAX_MESSAGE_CHARACTERS
from .route_table import Operation, Route


class StrategistHandler(Handler):
    """Answers when the Strategist has; its session's events tell how far it is."""

    @route("execute")
    async def get(self) -> StrategistState:
        return await self.parts.strategist.state()

    @route("execute")
    async def post(self) -> None:
        question = self.body(StrategistRequest)
        if len(question.question) > MAX_MESSAGE_CHARACTERS:
            raise AgentError("too_large", "The question is too long.")
        reply = await self.parts.strategist.ask(question)
        status = HTTP_STATUS[reply.error.code] if reply.error is not None else 200
        self.reply(reply, status)


ROUTES = [
    Route(
        "strategist",
        StrategistHandler,
        {
            "get": Operation("The Strategist's session", response=StrategistState),
            "post": Operation("Ask about the past", StrategistRequest, StrategistReply),
        },
    )
]
