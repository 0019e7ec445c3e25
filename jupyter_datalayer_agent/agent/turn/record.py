"""What a turn did, as it is stored and returned."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

from ...protocol import events
from ...protocol.errors import ErrorBody
from ...protocol.quality import QualityReport
from ...protocol.renames import Rename
from ...protocol.requests import ChatReply, Incomplete, ToolCallRecord, Usage
from ...protocol.tools import Change, NotDone, TurnFacts
from ...protocol.workflows import WorkflowOffer
from ..history.history import Item
from ..model_calls.call import ModelAnswer
from ..request import TurnRequest
from ..state import SessionState
from ..tool_calls.scheduler import FinishedCall
from .ends import AbortReason
from .facts import facts_of
from .not_done import not_done
from .restored import Restored

TurnStatus = Literal["completed", "failed", "aborted"]
STEPS = {"items", "tool_calls"}
"""What a step of the turn stores, and a piece of streamed text does not."""
DURATION_STEP_SECONDS = 1
"""How much of a turn's time may be lost with its server."""


class TurnRecord:
    """The calls, changes and reply of a turn; stores its start and its end.

    ``calls`` and ``summaries`` are by call id. ``index`` is None until the turn is in the database.
    ``ending``: its end was emitted, or is about to be. ``call_as_text`` is about a call in the last
    answer that was not carried out.
    """

    def __init__(
        self,
        session: SessionState,
        turn_id: str,
        request: TurnRequest,
        op_id: str | None,
        restored: Restored | None,
    ) -> None:
        self.calls: dict[str, ToolCallRecord] = {}
        self.summaries: dict[str, str] = {}
        self.changes: list[Change] = []
        self.reply = ""
        self.offers: list[WorkflowOffer] = []
        self.warnings: list[str] = []
        self.quality: QualityReport | None = None
        self.not_done: NotDone | None = None
        self.call_as_text: NotDone | None = None
        self.facts: TurnFacts | None = None
        self.incomplete: Incomplete | None = None
        self.index: int | None = None
        self.ending = False
        self._session = session
        self._id = turn_id
        self._request = request
        self._op_id = op_id
        self._began = time.monotonic()
        self._stored_seconds = 0.0
        if restored is not None:
            turn = restored.turn
            self.index = turn.index
            self.calls = {record.call_id: record for record in turn.tool_calls}
            self.changes = list(turn.changes)
            self._began -= (turn.duration_ms or 0) / 1000

    @property
    def number(self) -> int:
        """The turn's number in its session, from 1."""
        assert self.index is not None
        return self.index + 1

    @property
    def seconds(self) -> float:
        """The turn's duration so far."""
        return time.monotonic() - self._began

    def note_answer(self, answer: ModelAnswer) -> None:
        """The model has answered; its last text is the reply."""
        self.reply = answer.text or self.reply
        self.call_as_text = answer.notice
        self.incomplete = None if answer.calls else answer.incomplete

    def add_call(self, done: FinishedCall) -> None:
        """A call has ended."""
        self.calls[done.record.call_id] = done.record
        self.summaries[done.record.call_id] = done.done.summary

    def renamed(self, rename: Rename) -> None:
        """The changes were to the same documents, under their newer paths."""
        self.changes[:] = [
            each.model_copy(update={"path": rename.path(each.path)}) for each in self.changes
        ]

    def find_not_done(self, items: Sequence[Item]) -> NotDone | None:
        """The notice above the reply; where nothing may be changed, only about a call as text."""
        if not self._request.gate.may_change:
            return self.call_as_text
        tools = self._request.tools
        found = not_done(items, self.calls, self.summaries, tools)
        has_failed = found is not None and found.kind != "nothing_done"
        return found if has_failed else self.call_as_text or found

    def find_facts(self) -> TurnFacts | None:
        """What the calls did; None where nothing may be changed."""
        if not self._request.gate.may_change:
            return None
        return facts_of(self.calls.values(), self._request.tools)

    def started(self, model: str) -> events.TurnStarted:
        """The event that begins the turn."""
        request, gate = self._request, self._request.gate
        return events.TurnStarted(
            mode=request.mode,
            notebook_mode=gate.notebook_mode,
            tools=[
                tool.name for tool in gate.allowed(request.tools) if not tool.is_found_by_search
            ],
            message=request.chat.message,
            model=model or None,
            target=gate.target,
            op_id=self._op_id,
            workflow=request.chat.workflow,
            compare=request.chat.compare,
        )

    async def append(self, **belongings: Any) -> None:
        """Store events and what belongs to them, and now and then for how long the turn has worked:
        if the server dies, that is its duration."""
        if (
            self.seconds - self._stored_seconds >= DURATION_STEP_SECONDS
            or belongings.keys() & STEPS
        ):
            self._stored_seconds = self.seconds
            belongings["duration_ms"] = self._stored_seconds * 1000
        await self._session.runtime.store.events.append(self._session.id, self._id, **belongings)

    async def write_start(
        self, started: events.TurnStarted, model: Callable[[], str], items: Sequence[Item]
    ) -> None:
        """Store the start of the turn, with its message; ``model`` returns the current one."""
        self.index = await self._session.runtime.store.turns.start(
            session_id=self._session.id,
            turn_id=self._id,
            mode=self._request.mode,
            notebook_mode=self._request.gate.notebook_mode,
            location=self._request.location,
            model=model() or None,
            request=self._request.as_decided(),
            op_id=self._op_id,
            events=[started],
            items=items,
        )

    async def write_end(
        self,
        status: TurnStatus,
        reason: AbortReason | None,
        error: ErrorBody | None,
        usage: Usage,
        first_text_at: float | None,
    ) -> None:
        """Store the end of the turn; ``reason`` is None if it was completed."""
        self.ending = True
        duration = self.seconds * 1000
        first = None if first_text_at is None else (first_text_at - self._began) * 1000
        ended: events.BaseEvent = (
            events.TurnCompleted(duration_ms=duration, time_to_first_token_ms=first, usage=usage)
            if reason is None
            else events.TurnAborted(reason=reason, duration_ms=duration)
        )
        await self._session.runtime.store.turns.finish(
            self._id,
            status=status,
            reply=self.reply,
            error=error,
            not_done=self.not_done,
            facts=self.facts,
            usage=usage,
            ttft_ms=first,
            duration_ms=duration,
            events=[ended],
        )

    def as_reply(self, status: TurnStatus, error: ErrorBody | None, usage: Usage) -> ChatReply:
        """The turn as one reply, for callers without events."""
        return ChatReply(
            session_id=self._session.id,
            turn_id=self._id,
            status=status,
            mode=self._request.mode,
            notebook_mode=self._request.gate.notebook_mode,
            reply=self.reply,
            tool_calls=list(self.calls.values()),
            changes=self.changes,
            usage=usage,
            error=error,
            offers=self.offers,
            quality=self.quality,
            not_done=self.not_done,
            facts=self.facts,
            incomplete=self.incomplete,
            warnings=self.warnings,
        )
