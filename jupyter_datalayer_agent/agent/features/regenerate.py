"""Regenerate: another model answers the newest message from what the first one read.

It calls no tools, so nothing is changed or run. Its answer is one more response of the turn; the
user chooses which of the answers the conversation continues from.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial
from typing import Any

from ...models.types import ModelError, ModelRequest
from ...protocol import events
from ...protocol.base import new_id
from ...protocol.errors import AgentError, ErrorCode
from ...protocol.ops import AskAgain, ChooseAnswer
from ...protocol.requests import ChatRequest, Turn, Usage
from ...settings.turn import Settings, for_turn
from ...store.queries.chosen_answers import answered
from ..approvals.data_sharing import as_now
from ..budget import check_budget, estimated_usage
from ..context.system_prompt import prompt_text
from ..events.buffer import EventBuffer
from ..history.history import Item, read_history, user_item
from ..model_calls.call import ModelCall
from ..model_calls.complete import size_of
from ..model_calls.request import model_request
from ..request import TurnRequest, turn_request
from ..state import SessionState
from ..stop import Stop
from ..turn.ends import error_code

log = logging.getLogger(__name__)

NOT_NEWEST = "This is no longer the latest message. Fork from this turn to ask it there."
NO_ANSWER = "This turn has no model answer to regenerate."
PLANNED = "A plan's answer cannot be regenerated."
COMPACTED = "The conversation was summarised after this answer. Send the message again instead."
NO_CONTEXT = (
    "What was sent with this message was not kept by the version that sent it. Send the message "
    "again instead."
)
STOPPED = "Stopped before its end."
NOTHING = "The model returned an empty answer."


async def prepare_regeneration(session: SessionState, op: AskAgain) -> Regeneration:
    """Prepare the call. Raises ``AgentError`` if the turn cannot be regenerated."""
    turn = await _newest(session, op.turn_id)
    # As it is sent: with its pictures.
    parts = answered(session.history.turns[-1].items)
    asked = await session.services.store.answers.asked_with(turn.id)
    if turn.status != "completed" or not turn.reply or not parts.answer:
        raise AgentError("invalid_request", NO_ANSWER)
    keys = await session.services.store.past.responses_of(turn.id)
    if asked.request.workflow or any(key.response_type == "plan" for key in keys):
        raise AgentError("invalid_request", PLANNED)
    if asked.context is None:
        raise AgentError("invalid_request", NO_CONTEXT)
    services, record = session.services, session.record
    request = await turn_request(services, asked.request, record.settings, session.created)
    wanted = ChatRequest(message="", model=op.model, overrides=asked.request.overrides)
    settings = for_turn(services.settings(), record.settings, wanted, request.mode)
    before = session.history.items_before(turn.index)
    again = user_item(prompt_text("again.md"))
    context = [] if asked.context.item is None else [asked.context.item]
    items: list[Any] = [*before, *context, *parts.before, again]
    return Regeneration(session, turn, request, settings, services.resolve_model(settings), items)


async def choose(session: SessionState, op: ChooseAnswer) -> None:
    """Continue from another answer. Raises ``AgentError``."""
    turn = await _newest(session, op.turn_id)
    answers = session.services.store.answers
    chosen = events.AnswerChosen(answer_id=op.answer_id)
    await answers.choose(session.id, turn.id, op.answer_id, [chosen])
    session.is_stale = True
    calibration = session.history.calibration
    session.history = await read_history(session.services.store, session.id)
    session.history.calibration = calibration
    session.is_stale = False


async def _newest(session: SessionState, turn_id: str) -> Turn:
    """The turn, if it is the newest one that is sent, and nothing runs in the session."""
    if session.is_busy:
        raise AgentError(
            "turn_in_progress",
            "A turn is running, or another answer is being generated. Wait for its end or stop it.",
        )
    await session.refresh()
    store = session.services.store
    turn = await store.turn_reader.get(turn_id)
    newest = (await store.turn_reader.list_page(session.id, 1)).turns[-1]
    compaction = session.history.compaction
    if compaction is not None and compaction.through >= turn.index:
        raise AgentError("invalid_request", COMPACTED)
    sent = [each.index for each in session.history.turns]
    if newest.status == "running" or not sent or sent[-1] != turn.index:
        raise AgentError("invalid_request", NOT_NEWEST)
    return turn


class _AnswerBuffer(EventBuffer):
    """Emits a model call's events as a further answer of a turn, without tool calls."""

    def __init__(self, session: SessionState, turn_id: str, answer_id: str) -> None:
        super().__init__(partial(session.services.store.events.append, session.id, turn_id))
        self._answer_id = answer_id

    def add(self, event: events.BaseEvent | None, **belongings: Any) -> None:
        """See ``EventBuffer.add``."""
        if isinstance(event, events.TextDelta):
            item_id = self._item(event.item_id)
            delta = events.AnswerDelta(
                answer_id=self._answer_id, item_id=item_id, delta=event.delta
            )
            super().add(delta)
        elif isinstance(event, events.ItemDiscarded):
            super().add(events.ItemDiscarded(item_id=self._item(event.item_id)))

    def count(self, call: Usage, model: str) -> None:
        """A call cost this."""
        super().add(None, usage=call, model=model)

    def _item(self, item_id: str) -> str:
        # Names of items are the provider's, and may come again.
        return f"{self._answer_id}:{item_id}"


class Regeneration:
    """One more answer to a turn's message, by another model."""

    def __init__(
        self,
        session: SessionState,
        turn: Turn,
        request: TurnRequest,
        settings: Settings,
        model: str,
        items: list[Item],
    ) -> None:
        self._session = session
        self._turn = turn
        self._turn_request = request
        self._settings = settings
        self._model = model
        self._items = items
        self._id = new_id("answer")
        self._usage = Usage()
        self._buffer = _AnswerBuffer(session, turn.id, self._id)
        self._size = 0

    async def run(self, stop: Stop) -> None:
        """Ask, and emit the answer or why there is none.

        Raises ``AgentError`` where the database cannot be used.
        """
        answers = self._session.services.store.answers
        started = events.AnswerStarted(answer_id=self._id, model=self._model)
        await answers.begin(self._session.id, self._turn.id, self._id, self._model, [started])
        try:
            text = await stop.work(self._answer())
        except asyncio.CancelledError:
            await self._end("stopped", message=STOPPED)
        except ModelError as error:
            await self._end("failed", code=error_code(error), message=error.message)
        except AgentError as error:
            await self._end("failed", code=error.code, message=error.message)
        except Exception:
            log.exception("Asking the turn %s again failed", self._turn.id)
            message = "The agent failed with an internal error. See the server log."
            await self._end("failed", code="internal", message=message)
        else:
            await self._end("completed", text=text)

    async def _answer(self) -> str:
        request = self._request()
        self._size = size_of(request)
        check_budget(self._settings.token_limit, self._session.tokens, self._size)
        call = ModelCall(
            self._session.services.model,
            self._session.services.registry,
            self._request,
            self._items.extend,
            self._buffer,
            lambda: None,
            self._count_unfinished,
        )
        answer = await call.run()
        self._count(answer.usage)
        await self._buffer.flush()
        if not answer.text.strip():
            raise ModelError("server", NOTHING, retryable=False)
        return answer.text

    def _request(self) -> ModelRequest:
        session = self._session
        settings = as_now(self._settings, session.services.settings(), session.record.settings)
        request = model_request(
            session.services, self._turn_request, settings, self._model, self._items
        )
        # The tools stay in the request: it contains calls of them, and providers require their
        # definitions.
        return replace(request, tool_choice="none")

    def _count_unfinished(self, tokens: int) -> None:
        self._count(estimated_usage(self._model, self._size, tokens))

    def _count(self, call: Usage) -> None:
        self._usage = self._session.count(self._usage, call)
        self._buffer.count(call, self._model)

    async def _end(
        self, status: Any, text: str = "", code: ErrorCode | None = None, message: str | None = None
    ) -> None:
        await self._buffer.flush()
        finished = events.AnswerFinished(
            answer_id=self._id,
            model=self._model,
            status=status,
            text=text,
            code=code,
            message=message,
            usage=self._usage,
        )
        try:
            answers = self._session.services.store.answers
            await answers.finish(self._session.id, self._turn.id, finished)
        except AgentError as error:
            finished.status, finished.text, finished.message = "failed", "", error.message
            self._session.channel.send_unsaved(finished, self._turn.id)
            raise
