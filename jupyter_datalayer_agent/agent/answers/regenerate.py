"""Regenerate: other models answer the newest message, and the user chooses one of the answers.

They answer from what the first one read and call no tools, so nothing is changed or run. To a
comparison, in which every model reads for itself, they are added with the same reading tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ...protocol import events
from ...protocol.errors import AgentError
from ...protocol.ops import AskAgain, ChooseAnswer
from ...protocol.requests import Turn
from ...store.queries.chosen_answers import answered
from ...store.records import AskedWith
from ..context.system_prompt import prompt_text
from ..history.history import Item, read_history, user_item
from ..request import TurnRequest, turn_request
from ..state import SessionState
from ..stop import Stop
from .answer import Answer, Question, run_together
from .budget import SharedBudget
from .questions import reading_question, request_of, settings_of
from .reading import reading

NOT_NEWEST = "This is no longer the latest message. Fork from this turn to ask it there."
NO_ANSWER = "This turn has no model answer to regenerate."
PLANNED = "A plan's answer cannot be regenerated."
COMPACTED = "The conversation was summarised after this answer. Send the message again instead."
NO_CONTEXT = (
    "What was sent with this message was not kept by the version that sent it. Send the message "
    "again instead."
)


@dataclass(frozen=True)
class Answers:
    """Answers that are asked for at once, beside turns."""

    answers: Sequence[Answer]

    async def run(self, stop: Stop) -> None:
        """Ask, and emit each answer or why there is none. Raises ``AgentError``."""
        try:
            await stop.work(run_together(self.answers))
        except asyncio.CancelledError:
            return


async def prepare_regeneration(session: SessionState, op: AskAgain) -> Answers:
    """Prepare the calls. Raises ``AgentError`` if the turn cannot be regenerated."""
    turn = await newest_turn(session, op.turn_id)
    asked = await session.runtime.store.answers.asked_with(turn.id)
    await _check(session, turn, asked)
    record = session.record
    request = await turn_request(session.runtime, asked.request, record.settings, session.created)
    if turn.compare:
        request = reading(request)
    items = _items(session, turn, asked)
    questions = [_question(session, turn, request, model, items) for model in op.models]
    limit = settings_of(session, request, None).token_limit
    budget = SharedBudget(session, limit)
    return Answers([Answer(session, turn.id, question, budget) for question in questions])


async def _check(session: SessionState, turn: Turn, asked: AskedWith) -> None:
    if asked.context is None:
        raise AgentError("invalid_request", NO_CONTEXT if turn.reply else NO_ANSWER)
    if turn.compare:
        return
    parts = answered(session.history.turns[-1].items)
    keys = await session.runtime.store.past.responses_of(turn.id)
    if turn.status != "completed" or not turn.reply or not parts.answer:
        raise AgentError("invalid_request", NO_ANSWER)
    if asked.request.workflow or any(key.response_type == "plan" for key in keys):
        raise AgentError("invalid_request", PLANNED)


def _items(session: SessionState, turn: Turn, asked: AskedWith) -> list[Item]:
    """What is sent: as it was sent, with its pictures."""
    before = session.history.items_before(turn.index)
    context = asked.context.item if asked.context is not None else None
    parts = answered(session.history.turns[-1].items)
    again = [] if turn.compare else [user_item(prompt_text("again.md"))]
    own = [dict(item) for item in parts.before]
    return [*before, *([] if context is None else [context]), *own, *again]


def _question(
    session: SessionState, turn: Turn, request: TurnRequest, model: str, items: Sequence[Item]
) -> Question:
    if turn.compare:
        return reading_question(session, turn.id, request, model, items)
    settings = settings_of(session, request, model)
    return Question(
        model,
        lambda: session.runtime.resolve_model(settings),
        lambda name, sent: request_of(session, request, settings, name, sent),
        items,
    )


async def choose(session: SessionState, op: ChooseAnswer) -> None:
    """Continue from another answer. Raises ``AgentError``."""
    turn = await newest_turn(session, op.turn_id)
    if turn.compare and op.answer_id is None:
        raise AgentError("invalid_request", "Name the answer of the comparison to continue from.")
    answers = session.runtime.store.answers
    chosen = events.AnswerChosen(answer_id=op.answer_id)
    await answers.choose(session.id, turn.id, op.answer_id, [chosen])
    await read_again(session)


async def read_again(session: SessionState) -> None:
    """The newest turn is sent with another answer: read what is sent from the database."""
    session.is_stale = True
    before = session.history
    session.history = await read_history(session.runtime.store, session.id)
    session.history.calibration = before.calibration
    session.history.blind = before.blind
    session.is_stale = False


async def newest_turn(session: SessionState, turn_id: str) -> Turn:
    """The turn, if it is the newest one that is sent, and nothing runs in the session."""
    if session.is_busy:
        raise AgentError(
            "turn_in_progress",
            "A turn is running, or another answer is being generated. Wait for its end or stop it.",
        )
    await session.refresh()
    store = session.runtime.store
    turn = await store.turn_reader.get(turn_id)
    newest = (await store.turn_reader.list_page(session.id, 1)).turns[-1]
    compaction = session.history.compaction
    if compaction is not None and compaction.through >= turn.index:
        raise AgentError("invalid_request", COMPACTED)
    sent = [each.index for each in session.history.turns]
    if newest.status == "running" or not sent or sent[-1] != turn.index:
        raise AgentError("invalid_request", NOT_NEWEST)
    return turn
