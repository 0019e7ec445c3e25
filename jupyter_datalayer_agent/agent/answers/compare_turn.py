"""A message that several models answer side by side. They only read, whatever the mode.

The turn has no answer of its own: each model's is one of its further answers, and the conversation
continues from the first complete one, in the order of the models, until the user chooses another.
"""

from __future__ import annotations

from contextlib import suppress

from ...protocol.errors import AgentError, ErrorBody
from ...protocol.requests import ChatReply
from ...settings.turn_settings import Settings
from ..approvals.pending import Audience
from ..request import TurnRequest
from ..state import SessionState
from ..turn.ends import AbortReason, TurnEnds
from ..turn.loop import Turn
from ..turn.record import TurnStatus
from ..turn.restored import Restored
from .answer import Answer, run_together
from .budget import SharedBudget
from .questions import check_unlocked, reading_question
from .reading import reading
from .regenerate import read_again

NONE_ANSWERED = "None of the models answered. What went wrong is written under each."
NOT_HERE = "Several models can answer in the chat panel and over the API, not in a cell's chat."
ONE_WITH_WORK = "A message to several models cannot run a workflow or an action: they only read."


def compare_turn(
    session: SessionState,
    request: TurnRequest,
    settings: Settings,
    audience: Audience,
    op_id: str | None,
    restored: Restored | None = None,
) -> CompareTurn:
    """The turn of a message to several models. Raises ``AgentError`` where it cannot be one."""
    if request.location in ("inline", "magic"):
        raise AgentError("invalid_request", NOT_HERE)
    if request.chat.workflow is not None or request.chat.action is not None:
        raise AgentError("invalid_request", ONE_WITH_WORK)
    request = reading(request)
    check_unlocked(session, request)
    return CompareTurn(session, request, settings, audience, op_id, restored)


class CompareTurn(Turn):
    """Asks the models at once, with the same history, context and message."""

    def __init__(
        self,
        session: SessionState,
        request: TurnRequest,
        settings: Settings,
        audience: Audience,
        op_id: str | None,
        restored: Restored | None,
    ) -> None:
        # No one model answers the turn.
        own = settings.model_copy(update={"model": None})
        super().__init__(session, request, own, audience, op_id, restored)
        self._summarises_with = settings
        self._answers: list[Answer] = []
        self._chosen: Answer | None = None

    async def _prepare(self) -> None:
        await self._statement.gather(self.request)

    async def _work(self) -> None:
        await self._make_room()
        session, request = self.session, self.request
        items = [*session.history.items(), *self._statement.items, *self._window.sent]
        budget = SharedBudget(session, self.settings.token_limit)
        self._answers = [
            Answer(
                session,
                self.id,
                reading_question(session, self.id, request, model, items),
                budget,
                self._becomes_chosen,
            )
            for model in request.chat.compare or []
        ]
        await self._buffer.flush()
        try:
            await run_together(self._answers)
        finally:
            self._usage.include([each.usage for each in self._answers])
        if self._chosen is None:
            raise TurnEnds("error", NONE_ANSWERED, "model_error")

    async def _make_room(self) -> None:
        """A history of too many turns is summarised before, by the session's model; what one of the
        models cannot read of it is refused by that one's provider."""
        try:
            self._window.model = self.runtime.resolve_model(self._summarises_with)
        except AgentError:
            return
        await self._window.make_room()

    def _becomes_chosen(self, answer: Answer) -> bool:
        """Whether no earlier one of the models has answered."""
        first, order = self._chosen, self._answers
        if first is not None and order.index(first) < order.index(answer):
            return False
        self._chosen = answer
        return True

    async def _complete(self) -> ChatReply:
        return await self._end("completed", None)

    async def _end(
        self, status: TurnStatus, reason: AbortReason | None, error: ErrorBody | None = None
    ) -> ChatReply:
        reply = await super()._end(status, reason, error)
        # Where it fails, it is read before the next turn.
        with suppress(AgentError):
            await read_again(self.session)
        return reply

    def _reply_as(self, status: TurnStatus, error: ErrorBody | None) -> ChatReply:
        reply = super()._reply_as(status, error)
        for answer in self._answers:
            if (completed := answer.completed) is not None:
                reply.answers.append(completed)
            elif (failure := answer.failure) is not None:
                reply.unanswered.append(failure)
        if self._chosen is not None and self._chosen.completed is not None:
            reply.chosen_answer = self._chosen.id
            reply.reply = self._chosen.completed.text
        return reply
