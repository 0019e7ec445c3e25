"""Emits a model call's events as those of one of several answers of a turn."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...protocol import events
from ...protocol.requests import ToolCallRecord, Usage
from ..events.buffer import EventBuffer
from ..state import SessionState

CALLS = (events.ToolCallStarted, events.ToolCallArguments, events.ToolCallOutput)


class AnswerBuffer(EventBuffer):
    """Renames what a ``ModelCall`` emits for a turn. Names of items and calls are the providers',
    and may come again: the answer's id is put before them.

    Tool calls are emitted where the answer makes some (``calls_tools``); its items are not stored
    with the turn, which is sent with the answer that is chosen alone.
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
        """Report the current activity, where it is another."""
        if message != self._status:
            self._status = message
            super().add(events.AnswerStatus(answer_id=self._answer_id, message=message))

    def count(self, call: Usage, model: str) -> None:
        """A call cost this."""
        super().add(None, usage=call, model=model)

    def _named(self, name: str) -> str:
        return f"{self._answer_id}:{name}"
