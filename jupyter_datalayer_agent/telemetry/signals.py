"""What is worth reporting of a session, derived from its events: turns, model calls, tool calls.

Times are in ms since 1970, durations in ms. Nothing here contains what users or models wrote,
except ``content``, which is read only with ``log_content``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from ..protocol import events
from ..protocol.events import BaseEvent
from ..protocol.requests import Usage

TurnEnd = Literal["completed", "failed", "aborted"]
CallEnd = Literal["ok", "error", "aborted"]
_ToolEvent = events.ToolCallStarted | events.ToolCallArguments | events.ToolCallOutput


@dataclass(frozen=True)
class Signal:
    """Something that happened in a turn. ``content`` is what was written, by name."""

    session: str
    turn: str
    at: int
    content: dict[str, Any] = field(default_factory=dict, repr=False, kw_only=True)


@dataclass(frozen=True)
class TurnBegan(Signal):
    mode: str
    notebook_mode: str
    model: str | None


@dataclass(frozen=True)
class TurnEndedSignal(Signal):
    """``mode`` and ``model`` are None for a turn that an earlier server began."""

    status: TurnEnd
    reason: str | None
    mode: str | None
    model: str | None
    duration_ms: float
    first_token_ms: float | None
    usage: Usage


@dataclass(frozen=True)
class ModelCallBegan(Signal):
    model: str
    attempt: int
    number: int


@dataclass(frozen=True)
class ModelCallEnded(Signal):
    """``usage`` is None if the call did not complete."""

    model: str
    attempt: int
    number: int
    status: CallEnd
    error: str | None
    duration_ms: float
    usage: Usage | None


@dataclass(frozen=True)
class TokensUsed(Signal):
    """The tokens of one call, also of one that had no ``ModelCallBegan``."""

    model: str
    usage: Usage


@dataclass(frozen=True)
class ToolCallBegan(Signal):
    tool: str
    call: str


@dataclass(frozen=True)
class ToolCallEnded(Signal):
    tool: str
    call: str
    status: str
    duration_ms: float
    began_at: int


@dataclass(frozen=True)
class Failed(Signal):
    """An error that was shown to the user; ``turn`` is empty outside of turns."""

    code: str


@dataclass
class _Call:
    model: str
    attempt: int
    number: int
    began: int


@dataclass
class _Turn:
    """The state of a running turn."""

    mode: str | None = None
    model: str | None = None
    calls: int = 0
    call: _Call | None = None
    began: int = 0
    error: str | None = None
    reply: str = ""
    usage: Usage = field(default_factory=Usage)
    tools: dict[str, tuple[str, int]] = field(default_factory=dict)


class Signals:
    """Follows the turns of all sessions; ``of`` returns an event's signals."""

    def __init__(self) -> None:
        self._turns: dict[str, _Turn] = {}
        self._answers: dict[str, _Turn] = {}
        self._readers: dict[type[BaseEvent], Callable[[str, Any], Iterator[Signal]]] = {
            events.TurnStarted: self._turn_started,
            events.ModelStarted: self._model_started,
            events.TokenUsage: self._token_usage,
            events.ToolCallStarted: self._tool_named,
            events.ToolCallArguments: self._tool_began,
            events.ToolCallOutput: self._tool_ended,
            events.AnswerStarted: self._answer_started,
            events.AnswerFinished: self._answer_finished,
            events.ErrorEvent: self._error,
            events.FinalReply: self._replied,
            events.TurnCompleted: self._completed,
            events.TurnAborted: self._aborted,
        }

    @property
    def running(self) -> int:
        """How many turns run."""
        return len(self._turns)

    def concerns(self, event: BaseEvent) -> bool:
        """Whether the event has signals; most do not, and cost no more than this check."""
        return type(event) in self._readers

    def of(self, session: str, event: BaseEvent) -> Iterator[Signal]:
        """The signals of an event, in order."""
        return self._readers[type(event)](session, event)

    def _caller(self, event: _ToolEvent) -> _Turn:
        """Whose call it is: the turn's, or that of one of several answers."""
        answer = self._answers.get(event.answer_id or "")
        return answer if answer is not None else self._turn(event)

    def _turn(self, event: BaseEvent) -> _Turn:
        assert event.turn_id is not None
        return self._turns.setdefault(event.turn_id, _Turn(began=event.at))

    def _turn_started(self, session: str, event: events.TurnStarted) -> Iterator[Signal]:
        turn = self._turn(event)
        turn.mode, turn.model = event.mode, event.model
        yield TurnBegan(
            session, event.turn_id or "", event.at, event.mode, event.notebook_mode, event.model,
            content={"message": event.message},
        )  # fmt: skip

    def _model_started(self, session: str, event: events.ModelStarted) -> Iterator[Signal]:
        turn = self._turn(event)
        if turn.call is not None:
            yield self._call_ended(session, event, turn, "error", "retried")
        turn.calls += 1
        turn.model = event.model
        turn.call = _Call(event.model, event.attempt, turn.calls, event.at)
        yield ModelCallBegan(
            session, event.turn_id or "", event.at, event.model, event.attempt, turn.calls
        )

    def _token_usage(self, session: str, event: events.TokenUsage) -> Iterator[Signal]:
        if event.turn_id is None:
            # A summary that was asked for outside of a turn.
            yield TokensUsed(session, "", event.at, "", event.call or event.usage)
            return
        turn = self._turn(event)
        turn.usage = event.usage
        used = event.call or event.usage
        if turn.call is not None:
            yield self._call_ended(session, event, turn, "ok", None, used)
        yield TokensUsed(session, event.turn_id or "", event.at, turn.model or "", used)

    def _answer_started(self, session: str, event: events.AnswerStarted) -> Iterator[Signal]:
        # One of several answers counts as one call of its model, in a turn or after its end.
        self._answers[event.answer_id] = _Turn(began=event.at)
        yield ModelCallBegan(session, event.turn_id or "", event.at, event.model, 1, 1)

    def _answer_finished(self, session: str, event: events.AnswerFinished) -> Iterator[Signal]:
        answer = self._answers.pop(event.answer_id, None)
        began = event.at if answer is None else answer.began
        ends: dict[str, CallEnd] = {"completed": "ok", "stopped": "aborted", "failed": "error"}
        yield ModelCallEnded(
            session, event.turn_id or "", event.at, event.model, 1, 1, ends[event.status],
            event.code, float(max(0, event.at - began)), event.usage,
        )  # fmt: skip
        if event.usage is not None and event.usage.total_tokens:
            yield TokensUsed(session, event.turn_id or "", event.at, event.model, event.usage)

    def _call_ended(
        self,
        session: str,
        event: BaseEvent,
        turn: _Turn,
        status: CallEnd,
        error: str | None,
        usage: Usage | None = None,
    ) -> ModelCallEnded:
        call, turn.call = turn.call, None
        assert call is not None
        return ModelCallEnded(
            session, event.turn_id or "", event.at, call.model, call.attempt, call.number,
            status, error, float(max(0, event.at - call.began)), usage,
        )  # fmt: skip

    def _tool_named(self, session: str, event: events.ToolCallStarted) -> Iterator[Signal]:
        # The model begins to write the call; it may never complete it.
        self._caller(event).tools[event.call_id] = (event.name, event.at)
        return iter(())

    def _tool_began(self, session: str, event: events.ToolCallArguments) -> Iterator[Signal]:
        tools = self._caller(event).tools
        name, _ = tools.get(event.call_id, ("", 0))
        tools[event.call_id] = (name, event.at)
        yield ToolCallBegan(
            session, event.turn_id or "", event.at, name, event.call_id,
            content={"arguments": event.arguments},
        )  # fmt: skip

    def _tool_ended(self, session: str, event: events.ToolCallOutput) -> Iterator[Signal]:
        _, began = self._caller(event).tools.pop(event.call_id, ("", event.at))
        yield ToolCallEnded(
            session, event.turn_id or "", event.at, event.name, event.call_id, event.status,
            event.duration_ms, min(event.at, max(began, event.at - int(event.duration_ms))),
            content={"output": event.output},
        )  # fmt: skip

    def _error(self, session: str, event: events.ErrorEvent) -> Iterator[Signal]:
        if event.turn_id is not None and (turn := self._turns.get(event.turn_id)) is not None:
            turn.error = event.code
        yield Failed(
            session, event.turn_id or "", event.at, event.code, content={"error": event.message}
        )

    def _replied(self, session: str, event: events.FinalReply) -> Iterator[Signal]:
        self._turn(event).reply = event.text
        return iter(())

    def _completed(self, session: str, event: events.TurnCompleted) -> Iterator[Signal]:
        return self._end(session, event, "completed", None)

    def _aborted(self, session: str, event: events.TurnAborted) -> Iterator[Signal]:
        status: TurnEnd = "failed" if event.reason == "error" else "aborted"
        return self._end(session, event, status, event.reason)

    def _end(
        self,
        session: str,
        event: events.TurnCompleted | events.TurnAborted,
        status: TurnEnd,
        reason: str | None,
    ) -> Iterator[Signal]:
        completed = event if isinstance(event, events.TurnCompleted) else None
        turn = self._turn(event)
        del self._turns[event.turn_id or ""]
        if turn.call is not None:
            how: CallEnd = "error" if status == "failed" else "aborted"
            yield self._call_ended(session, event, turn, how, turn.error or reason)
        yield TurnEndedSignal(
            session,
            event.turn_id or "",
            event.at,
            status,
            reason,
            turn.mode,
            turn.model,
            event.duration_ms or 0,
            completed.time_to_first_token_ms if completed else None,
            completed.usage if completed else turn.usage,
            content={"reply": turn.reply},
        )
