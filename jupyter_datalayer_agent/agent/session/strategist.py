"""The Strategist: a separate session that answers questions about the past."""

from __future__ import annotations

import asyncio

from ...protocol.errors import AgentError
from ...protocol.history import StrategistReply, StrategistRequest, StrategistState
from ...protocol.ops import UserMessage
from ...protocol.requests import ChatRequest
from .actor import LiveSession
from .registry import SessionRegistry

TITLE = "Strategist"
BUSY = "The Strategist is working on a question. Wait for its answer, or stop it."


class Strategist:
    """Takes one question at a time; its session is created when first needed."""

    def __init__(self, sessions: SessionRegistry) -> None:
        self._sessions = sessions
        self._finding = asyncio.Lock()

    async def session(self) -> LiveSession:
        """The Strategist's session, live."""
        store = self._sessions.runtime.store
        async with self._finding:
            session_id = await store.past.newest_session("strategist")
            if session_id is None:
                session_id = (await store.sessions.create(TITLE)).id
                await store.past.set_kind(session_id, "strategist")
            return await self._sessions.live(session_id)

    async def state(self) -> StrategistState:
        """Its session, and the turn that runs there."""
        session = await self.session()
        running = self._sessions.running_turn(session.id)
        return StrategistState(session_id=session.id, running_turn_id=running)

    async def ask(self, question: StrategistRequest) -> StrategistReply:
        """The answer. Raises ``turn_in_progress`` while another question is being answered."""
        if not question.question.strip():
            raise AgentError("invalid_request", "The question is empty.")
        session = await self.session()
        request = ChatRequest(
            message=question.question,
            session_id=session.id,
            model=question.model,
            mode="ask",
            client_id=question.client_id,
            active_notebook=None,
            about_session=question.session_id,
        )
        try:
            _, result = await session.chat(UserMessage(request=request), "none")
        except AgentError as error:
            if error.code != "turn_in_progress":
                raise
            raise AgentError(error.code, BUSY, {"sessionId": session.id}) from error
        reply = await result
        assert isinstance(reply, StrategistReply)
        answers = await self._sessions.runtime.store.past.responses_of(reply.turn_id)
        reply.provenance = answers[-1] if answers else None
        return reply
