"""A message that several models answer side by side. They only read, in every mode.

The turn has no answer of its own: each model's is one of its further answers. The conversation
continues from the first complete one, in the order of the models, until the user chooses another.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ...models.types import ModelRequest
from ...protocol import events
from ...protocol.answers import CitedAnswer
from ...protocol.base import Audience
from ...protocol.errors import AgentError, ErrorBody
from ...protocol.ops import AskAgain, ChooseAnswer, Synthesise
from ...protocol.requests import ChatReply, ChatRequest, Turn
from ...protocol.tools import ShareKind
from ...settings.turn_settings import Settings, for_turn
from ...store.queries.chosen_answers import answered
from ...store.records import AskedWith
from ...tools.context import SeenCells
from ...tools.dispatcher import Dispatcher
from ...tools.gate import Gate, GatedTool, Refusal
from ...tools.redaction import BY_SETTING, CallRef, Question, Refused
from ..context.system_prompt import prompt_text
from ..data_sharing import as_now, policies
from ..history import Item, read_history, user_item
from ..model_calls.request import model_request
from ..request import TurnRequest, turn_request
from ..state import SessionState, Stop
from ..turn.ends import AbortReason, TurnEnds
from ..turn.loop import Turn as LoopTurn
from ..turn.record import Restored, TurnStatus
from .answer import Answer, SharedBudget, run_together
from .answer import Question as AnswerQuestion

# What models that answer side by side may do: read, with the usual dispatcher and gate.


NOT_ASKED = "by the setting, which asks first: models that answer side by side cannot ask"


@dataclass
class ReadingGate(Gate):
    """Allows tools that read, and none that change, run, plan or ask the user."""

    def refusal(self, tool: GatedTool) -> Refusal | None:
        """See ``Gate.refusal``."""
        if tool.parallel and not tool.changes:
            return super().refusal(tool)
        return Refusal(
            f"{tool.name} is not available here: several models answer this message side by side, "
            "and each only reads.",
            "Answer from what you can read, and say what Agent mode could do.",
            "Not done: a comparison only reads",
        )


def reading(request: TurnRequest) -> TurnRequest:
    """The request with only reading tools, in any mode."""
    gate = request.gate
    return replace(
        request,
        mode="ask",
        planned=False,
        plan_first=False,
        gate=ReadingGate(
            mode="ask",
            location=gate.location,
            attached=gate.attached,
            active=gate.active,
            created=gate.created,
            lexical_attached=gate.lexical_attached,
            lexical_active=gate.lexical_active,
        ),
    )


class _WithoutAsking:
    """Sends what may be sent or was approved for the session, and withholds what would be asked."""

    def __init__(self, session: SessionState, settings: Callable[[], Settings]) -> None:
        self._session = session
        self._settings = settings

    async def refused(
        self, parts: Sequence[frozenset[ShareKind]], call: CallRef, question: Question
    ) -> Refused:
        """See ``tools.redaction.Sharing``."""
        refused: dict[ShareKind, str] = {}
        for kind, rule in policies(self._settings()).items():
            approved = f"share:{kind}" in self._session.waiting.approved_tools
            if not any(kind in part for part in parts):
                continue
            if rule == "never":
                refused[kind] = BY_SETTING
            elif rule == "ask" and not approved:
                refused[kind] = NOT_ASKED
        return refused


def reading_dispatcher(
    session: SessionState, turn_id: str, request: TurnRequest, settings: Callable[[], Settings]
) -> Dispatcher:
    """Calls the tools of one answer. What it reads does not count as read by the conversation,
    since only the text of the chosen answer is sent later."""
    context = replace(
        session.runtime.tool_context(request.gate, settings()),
        client_id=request.chat.client_id,
        session_id=session.id,
        turn_id=turn_id,
        seen=SeenCells(),
        active_document=request.active_document,
        sharing=_WithoutAsking(session, settings),
    )
    return Dispatcher(request.tools, context)


# What each model is asked: the message as sent, with its context.


LOCKED = (
    "The administrator of this server chose the model, so several models cannot answer here. Send "
    "the message to the one that is set."
)


def check_unlocked(session: SessionState, request: TurnRequest) -> None:
    """Raises ``AgentError`` ``forbidden`` if no other model may be asked."""
    base = session.runtime.settings()
    by_mode = request.mode in base.mode_models and "mode_models" in base.locked
    if by_mode or "model" in base.locked:
        raise AgentError("forbidden", LOCKED, {"setting": "model"})


def settings_of(session: SessionState, request: TurnRequest, model: str | None) -> Settings:
    """The settings for asking this model. Raises ``AgentError`` ``forbidden``."""
    wanted = ChatRequest(message="", model=model, overrides=request.chat.overrides)
    return for_turn(session.runtime.settings(), session.record.settings, wanted, request.mode)


def settings_now(session: SessionState, settings: Settings) -> Callable[[], Settings]:
    """The settings, with the current rules for what may be sent."""
    return lambda: as_now(settings, session.runtime.settings(), session.record.settings)


def reading_question(
    session: SessionState, turn_id: str, request: TurnRequest, model: str, items: Sequence[Item]
) -> AnswerQuestion:
    """A question to a model that may read; ``request`` has the gate for that."""
    settings = settings_of(session, request, model)
    dispatcher = reading_dispatcher(session, turn_id, request, settings_now(session, settings))
    return AnswerQuestion(
        model,
        lambda: session.runtime.resolve_model(settings),
        lambda name, sent: request_of(session, request, settings, name, sent),
        items,
        dispatcher,
        settings.max_tool_calls,
    )


def request_of(
    session: SessionState,
    request: TurnRequest,
    settings: Settings,
    model: str,
    items: Sequence[Item],
) -> ModelRequest:
    """The request with the system prompt and tools that the gate allows."""
    now = settings_now(session, settings)()
    is_blind = model in session.history.blind
    return model_request(session.runtime, request, now, model, items, is_blind=is_blind)


# Regenerate: other models answer the newest message, and the user chooses one of the answers.
#
# They answer from what the first one read and call no tools, so nothing is changed or run. In a
# comparison, where every model reads for itself, they get the same reading tools.


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
    """Answers that are generated together, outside of turns."""

    answers: Sequence[Answer]

    async def run(self, stop: Stop) -> None:
        """Ask the models, and emit each answer or why there is none. Raises ``AgentError``."""
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
    """What is sent: the same as the first time, with its pictures."""
    before = session.history.items_before(turn.index)
    context = asked.context.item if asked.context is not None else None
    parts = answered(session.history.turns[-1].items)
    again = [] if turn.compare else [user_item(prompt_text("again.md"))]
    own = [dict(item) for item in parts.before]
    return [*before, *([] if context is None else [context]), *own, *again]


def _question(
    session: SessionState, turn: Turn, request: TurnRequest, model: str, items: Sequence[Item]
) -> AnswerQuestion:
    if turn.compare:
        return reading_question(session, turn.id, request, model, items)
    settings = settings_of(session, request, model)
    return AnswerQuestion(
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
    """Reload what is sent from the database, since the newest turn now has another answer."""
    session.is_stale = True
    before = session.history
    session.history = await read_history(session.runtime.store, session.id)
    session.history.calibration = before.calibration
    session.history.blind = before.blind
    session.is_stale = False


async def newest_turn(session: SessionState, turn_id: str) -> Turn:
    """The turn, if it is the newest one that is sent and the session is idle."""
    if session.is_busy:
        raise AgentError(
            "turn_in_progress",
            "A turn or another answer is running. Wait for it to end, or stop it.",
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


# Synthesise: a model writes where the answers to one message agree and where they differ.
#
# It reads the message and the answers as data, and has no tools.


TOO_FEW = (
    "A synthesis needs two complete answers to the same message. Ask another model first: "
    "Regenerate, or /compare."
)
_MARK = re.compile(r"<(?=/?\s*(?:answer|message)\b)", re.IGNORECASE)


async def prepare_synthesis(session: SessionState, op: Synthesise) -> Answers:
    """Prepare the call. Raises ``AgentError`` for a turn without two complete answers."""
    turn = await newest_turn(session, op.turn_id)
    answers = await _answers(session, turn)
    if len(answers) < 2:
        raise AgentError("invalid_request", TOO_FEW)
    asked = await session.runtime.store.answers.asked_with(turn.id)
    record = session.record
    request = await turn_request(session.runtime, asked.request, record.settings, session.created)
    settings = settings_of(session, request, op.model)
    question = AnswerQuestion(
        op.model or settings.model or "",
        lambda: session.runtime.resolve_model(settings),
        lambda model, items: _request(settings, model, items),
        [user_item(_text(turn, answers))],
        sources=[source for source, _ in answers],
    )
    return Answers(
        [Answer(session, turn.id, question, SharedBudget(session, settings.token_limit))]
    )


async def _answers(session: SessionState, turn: Turn) -> list[tuple[CitedAnswer, str]]:
    """The turn's complete answers, numbered from 1: its own, then those of other models."""
    found: list[tuple[CitedAnswer, str]] = []
    others = [answer.provenance for answer in turn.answers]
    for key in await session.runtime.store.past.responses_of(turn.id):
        if turn.reply and key.response_type in ("batch", "proposal") and key not in others:
            own = CitedAnswer(number=1, model=turn.model or key.provider_id, provenance=key)
            found.append((own, turn.reply))
    for answer in turn.answers:
        if answer.sources is None:
            cited = CitedAnswer(
                number=len(found) + 1,
                answer_id=answer.answer_id,
                model=answer.model,
                provenance=answer.provenance,
            )
            found.append((cited, answer.text))
    return found


def _text(turn: Turn, answers: Sequence[tuple[CitedAnswer, str]]) -> str:
    """The message and the answers, each between marks that its text cannot close."""
    blocks = [f"<message>\n{_marked(turn.message)}\n</message>"]
    blocks += [
        f'<answer number="{source.number}">\n{_marked(text)}\n</answer>' for source, text in answers
    ]
    return "\n\n".join(blocks)


def _marked(text: str) -> str:
    return _MARK.sub("&lt;", text)


def _request(settings: Settings, model: str, items: Sequence[Item]) -> ModelRequest:
    return ModelRequest(
        model=model,
        instructions=prompt_text("synthesis.md"),
        input=list(items),
        tools=[],
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_output_tokens=settings.max_output_tokens,
        stream=settings.streaming,
        api_base=settings.api_base,
        model_api=settings.model_api,
    )


NONE_ANSWERED = "None of the models answered. The reason is shown under each."
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
    """The turn of a message to several models. Raises ``AgentError`` if they cannot answer it."""
    if request.location in ("inline", "magic"):
        raise AgentError("invalid_request", NOT_HERE)
    if request.chat.workflow is not None or request.chat.action is not None:
        raise AgentError("invalid_request", ONE_WITH_WORK)
    request = reading(request)
    check_unlocked(session, request)
    return CompareTurn(session, request, settings, audience, op_id, restored)


class CompareTurn(LoopTurn):
    """Asks several models at once, with the same history, context and message."""

    def __init__(
        self,
        session: SessionState,
        request: TurnRequest,
        settings: Settings,
        audience: Audience,
        op_id: str | None,
        restored: Restored | None,
    ) -> None:
        # The turn has no model of its own.
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
        """Summarise a history of too many turns first, with the session's model. If it is still too
        long for one of the models, that one's provider refuses it."""
        try:
            self._window.model = self.runtime.resolve_model(self._summarises_with)
        except AgentError:
            return
        await self._window.make_room()

    def _becomes_chosen(self, answer: Answer) -> bool:
        """Whether no model before this one has answered."""
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
        # If this fails, it is read before the next turn.
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
