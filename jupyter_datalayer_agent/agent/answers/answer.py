"""One of several answers of a turn: from a model that may call tools, and stored."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ...models.types import ModelError, ModelRequest
from ...protocol import events
from ...protocol.answers import AnswerFailure, CitedAnswer, FurtherAnswer
from ...protocol.base import new_id, now_ms
from ...protocol.errors import AgentError, ErrorCode
from ...protocol.requests import ToolCallRecord, Usage
from ...tools.dispatcher import Dispatcher
from ...tools.registry import ToolRegistry
from ..event_buffer import EventBuffer
from ..history import Item
from ..model_calls.call import ModelAnswer, ModelCall, size_of
from ..state import SessionState, Stop, check_budget, estimated_usage
from ..tool_calls.scheduler import aborted_call, run_group, schedule
from ..turn.ends import error_code, why_empty

# The token limit for concurrent calls.


class SharedBudget:
    """Counts what concurrent calls are about to use, so that their sum stays within the session's
    ``limit``."""

    def __init__(self, session: SessionState, limit: int | None) -> None:
        self._session = session
        self._limit = limit
        self._open = 0

    @contextmanager
    def call(self, size: int) -> Iterator[None]:
        """Make a call of about ``size`` tokens. Raises ``AgentError`` ``token_limit``."""
        check_budget(self._limit, self._session.tokens + self._open, size)
        self._open += size
        try:
            yield
        finally:
            self._open -= size


# Emits the events of a model call as those of one of several answers of a turn.


CALLS = (events.ToolCallStarted, events.ToolCallArguments, events.ToolCallOutput)


class AnswerBuffer(EventBuffer):
    """Renames what a ``ModelCall`` emits for a turn: providers choose the names of items and calls,
    which may repeat, so the answer's id is put before them.

    Tool calls are emitted if the answer makes any (``calls_tools``). Its items are not stored with
    the turn, since only the chosen answer is sent later.
    """

    def __init__(
        self, session: SessionState, turn_id: str, answer_id: str, *, calls_tools: bool
    ) -> None:
        super().__init__(partial(session.runtime.store.events.append, session.id, turn_id))
        self._answer_id = answer_id
        self._calls_tools = calls_tools
        self._status = "Thinking"

    def add(self, event: events.BaseEvent | None, **belongings: Any) -> None:
        """See ``EventBuffer.add``."""
        if isinstance(event, events.TextDelta):
            item_id = self._named(event.item_id)
            delta = events.AnswerDelta(
                answer_id=self._answer_id, item_id=item_id, delta=event.delta
            )
            super().add(delta)
        elif isinstance(event, events.ItemDiscarded):
            super().add(event.model_copy(update={"item_id": self._named(event.item_id)}))
        elif isinstance(event, events.Status):
            self.status(event.message)
        elif isinstance(event, CALLS) and self._calls_tools:
            own = {"answer_id": self._answer_id, "call_id": self._named(event.call_id)}
            calls: list[ToolCallRecord] = belongings.get("tool_calls", [])
            kept = [call.model_copy(update=own) for call in calls]
            super().add(event.model_copy(update=own), **({"tool_calls": kept} if kept else {}))

    def status(self, message: str) -> None:
        """Report what the model is doing, if it changed."""
        if message != self._status:
            self._status = message
            super().add(events.AnswerStatus(answer_id=self._answer_id, message=message))

    def count(self, call: Usage, model: str) -> None:
        """Report the cost of a call."""
        super().add(None, usage=call, model=model)

    def _named(self, name: str) -> str:
        return f"{self._answer_id}:{name}"


# The numbers with which a synthesis cites answers.


CODE = re.compile(r"(`{3,}|~{3,}).*?(?:\1|\Z)|(`+)[^`].*?\2", re.DOTALL)
# The page links the same ones (``citations.ts``).
NUMBER = re.compile(r"(?<![\w\\])\[(\d{1,2})\](?![\w(:])", re.ASCII)


def with_cited(sources: Sequence[CitedAnswer], text: str) -> list[CitedAnswer]:
    """The answers, each with whether the text cites it: "[1]", "[1][2]" outside of code."""
    prose = CODE.sub(" ", text)
    numbers = {int(number) for number in NUMBER.findall(prose)}
    return [each.model_copy(update={"cited": each.number in numbers}) for each in sources]


log = logging.getLogger(__name__)

STOPPED = "Stopped before its end."
TOO_MANY_CALLS = "Stopped after {}, the limit of one turn: the model did not answer without more."
ATTEMPTS_WITHOUT_TOOLS = 2


@dataclass(frozen=True)
class Question:
    """What a model is asked.

    ``resolve`` returns the model's name, or raises ``AgentError`` if it cannot be called;
    ``make_request`` builds the request with the items so far, which begin with ``items``.
    ``dispatcher`` calls tools, at most ``max_tool_calls``; None: the model calls none. ``sources``
    are the answers that a synthesis is about.
    """

    model: str
    resolve: Callable[[], str]
    make_request: Callable[[str, Sequence[Item]], ModelRequest]
    items: Sequence[Item]
    dispatcher: Dispatcher | None = None
    max_tool_calls: int = 0
    sources: list[CitedAnswer] | None = None


@dataclass(eq=False)
class Answer:
    """One model's answer to a turn's message, beside others. ``becomes_chosen`` is called when it
    is complete and returns whether the conversation continues from it."""

    session: SessionState
    turn_id: str
    question: Question
    budget: SharedBudget
    becomes_chosen: Callable[[Answer], bool] = lambda answer: False
    id: str = field(default_factory=lambda: new_id("answer"))
    finished: events.AnswerFinished | None = None
    calls: list[ToolCallRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._model = self.question.model
        self._items = list(self.question.items)
        self._usage = Usage()
        self._size = self._calls_made = 0
        self._began = time.monotonic()
        self._buffer = AnswerBuffer(
            self.session,
            self.turn_id,
            self.id,
            calls_tools=self.question.dispatcher is not None,
        )
        if self.question.dispatcher is not None:
            self.question.dispatcher.context.on_status = self._report

    @property
    def usage(self) -> Usage:
        """What its model calls have cost so far."""
        return self._usage

    async def _report(self, message: str) -> None:
        self._buffer.status(message)

    async def run(self, stop: Stop) -> None:
        """Ask the model, and emit its answer or why there is none.

        Raises ``AgentError`` if the database cannot be used.
        """
        answers = self.session.runtime.store.answers
        started = events.AnswerStarted(
            answer_id=self.id, model=self._model, sources=self.question.sources
        )
        self._began = time.monotonic()
        await answers.begin(self.session.id, self.turn_id, self.id, self._model, [started])
        try:
            text = await stop.work(self._answer())
        except asyncio.CancelledError:
            await self._end("stopped", message=STOPPED)
        except ModelError as error:
            await self._end("failed", code=error_code(error), message=error.message)
        except AgentError as error:
            await self._end("failed", code=error.code, message=error.message)
        except Exception:
            log.exception("An answer to the turn %s failed", self.turn_id)
            message = "The agent failed with an internal error. See the server log."
            await self._end("failed", code="internal", message=message)
        else:
            await self._end("completed", text=text)

    async def _answer(self) -> str:
        self._model = self.question.resolve()
        most = self.question.max_tool_calls
        asked_without_tools = 0
        while True:
            asked_without_tools += self._calls_made >= most
            answer = await self._query()
            if not answer.calls or self.question.dispatcher is None:
                break
            if asked_without_tools == ATTEMPTS_WITHOUT_TOOLS:
                count = "1 tool call" if most == 1 else f"{most} tool calls"
                raise ModelError("server", TOO_MANY_CALLS.format(count), retryable=False)
            await self._execute(self.question.dispatcher, answer)
        if not answer.text.strip():
            raise ModelError("server", why_empty(answer), retryable=False)
        cut = answer.incomplete
        return answer.text if cut is None else f"{answer.text}\n\n*{cut.message}*"

    # -- query ---------------------------------------------------------------------------------

    async def _query(self) -> ModelAnswer:
        self._size = size_of(self._request())
        with self.budget.call(self._size):
            call = ModelCall(
                self.session.runtime.model,
                self._tools,
                self._request,
                self._items.extend,
                self._buffer,
                lambda: None,
                self._count_unfinished,
            )
            answer = await call.run()
            self._count(answer.usage)
        await self._buffer.flush()
        return answer

    @property
    def _tools(self) -> ToolRegistry:
        dispatcher = self.question.dispatcher
        return self.session.runtime.registry if dispatcher is None else dispatcher.registry

    def _request(self) -> ModelRequest:
        request = self.question.make_request(self._model, self._items)
        if self._calls_made >= self.question.max_tool_calls:
            # The tools stay in the request, since it contains calls of them, and providers require
            # their definitions.
            return replace(request, tool_choice="none" if request.tools else None)
        return request

    def _count_unfinished(self, tokens: int) -> None:
        self._count(estimated_usage(self._model, self._size, tokens))

    def _count(self, call: Usage) -> None:
        self.session.touch()
        self._usage = self.session.count(self._usage, call)
        self._buffer.count(call, self._model)

    # -- execute -------------------------------------------------------------------------------

    async def _execute(self, dispatcher: Dispatcher, answer: ModelAnswer) -> None:
        """Run the calls that are allowed. Every call gets an answer, which makes the next request
        valid."""
        runtime = self.session.runtime
        calls = answer.calls
        allowed = max(0, self.question.max_tool_calls - self._calls_made)
        self._calls_made += len(calls)
        for group in schedule(self._tools, calls[:allowed]):
            for done in await run_group(dispatcher, group, answer.failures):
                self._items.append(done.item)
                self._keep(done.event, done.record)
                if done.done.images and runtime.supports_vision(self._model):
                    self._items.append(await done.pictures(self._items))
        for call in calls[allowed:]:
            item, event, record = aborted_call(call, call["name"])
            self._items.append(item)
            self._keep(event, record)
        await self._buffer.flush()

    def _keep(self, event: events.ToolCallOutput, record: ToolCallRecord) -> None:
        self.calls.append(record)
        self._buffer.add(event, tool_calls=[record])

    # -- the end -------------------------------------------------------------------------------

    async def _end(
        self, status: Any, text: str = "", code: ErrorCode | None = None, message: str | None = None
    ) -> None:
        await self._buffer.flush()
        sources = self.question.sources
        finished = events.AnswerFinished(
            answer_id=self.id,
            model=self._model,
            status=status,
            text=text,
            code=code,
            message=message,
            usage=self._usage,
            duration_ms=(time.monotonic() - self._began) * 1000,
            sources=None if sources is None else with_cited(sources, text),
        )
        chosen = status == "completed" and self.becomes_chosen(self)
        try:
            answers = self.session.runtime.store.answers
            await answers.finish(self.session.id, self.turn_id, finished, chosen=chosen)
        except AgentError as error:
            finished.status, finished.text, finished.message = "failed", "", error.message
            self.session.channel.send_unsaved(finished, self.turn_id)
            raise
        finally:
            self.finished = finished

    @property
    def completed(self) -> FurtherAnswer | None:
        """The answer, if it is complete and stored."""
        ended = self.finished
        if ended is None or ended.status != "completed" or ended.provenance is None:
            return None
        return FurtherAnswer(
            answer_id=self.id,
            model=ended.model,
            text=ended.text,
            provenance=ended.provenance,
            created_at=ended.at or now_ms(),
            usage=ended.usage,
            duration_ms=ended.duration_ms,
            tool_calls=self.calls,
            sources=ended.sources,
        )

    @property
    def failure(self) -> AnswerFailure | None:
        """Why there is no answer."""
        ended = self.finished
        if ended is None or ended.status == "completed":
            return None
        return AnswerFailure(
            answer_id=self.id,
            model=ended.model,
            status=ended.status,
            code=ended.code,
            message=ended.message,
        )


async def run_together(answers: Sequence[Answer]) -> None:
    """Ask all of them at once. If cancelled, all are stopped, and what each has is stored first.
    Raises ``AgentError`` if the database cannot be used."""
    stops = [Stop() for _ in answers]
    open_stops = answers[0].session.answer_stops
    open_stops.update({answer.id: stop for answer, stop in zip(answers, stops, strict=True)})
    work = [
        asyncio.create_task(answer.run(stop)) for answer, stop in zip(answers, stops, strict=True)
    ]
    try:
        await asyncio.wait(work)
    except asyncio.CancelledError:
        for stop in stops:
            stop.request()
        await asyncio.wait(work)
        raise
    finally:
        for answer in answers:
            open_stops.pop(answer.id, None)
    for each in work:
        each.result()


def stop_answer(session: SessionState, answer_id: str) -> None:
    """Stop one of the answers in progress; the others continue. Raises ``AgentError``."""
    stop = session.answer_stops.get(answer_id)
    if stop is None:
        raise AgentError("not_found", "This answer is no longer in progress.")
    stop.request()
