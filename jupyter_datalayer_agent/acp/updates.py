"""A turn's events as the updates of an ACP session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    Cost,
    PlanEntry,
    PlanEntryStatus,
    TextContentBlock,
    UsageUpdate,
    UserMessageChunk,
)

from ..protocol.turn_view import GrowingText, Note, NoteKind, Part, Text, TurnView
from .tool_calls import ToolCalls

STATUSES: dict[str, PlanEntryStatus] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "failed": "completed",
    "skipped": "completed",
}
"""The protocol knows no step that failed: its text says so."""
IN_ANSWER: tuple[NoteKind, ...] = ("not_done", "facts", "warning")
"""The notes that are a part of the answer's text."""
IN_THOUGHTS: tuple[NoteKind, ...] = ("recovery", "recovered")


def message_chunk(text: str) -> AgentMessageChunk:
    """A piece of the agent's answer."""
    return AgentMessageChunk(
        session_update="agent_message_chunk", content=TextContentBlock(type="text", text=text)
    )


def user_chunk(text: str) -> UserMessageChunk:
    """What the user wrote."""
    return UserMessageChunk(
        session_update="user_message_chunk", content=TextContentBlock(type="text", text=text)
    )


def thought_chunk(text: str) -> AgentThoughtChunk:
    """A piece of its reasoning."""
    return AgentThoughtChunk(
        session_update="agent_thought_chunk", content=TextContentBlock(type="text", text=text)
    )


class TurnUpdates:
    """Translates the events of one turn, live or replayed. ``context_window`` is that of the
    session's model, None where it is not known."""

    def __init__(self, root: Path, context_window: int | None = None) -> None:
        self._calls = calls = ToolCalls(root)
        self._context_window = context_window
        self.view = TurnView()
        self._text = GrowingText()
        self._makers: dict[str, Callable[[dict[str, Any]], list[Any]]] = {
            "reasoning_delta": lambda event: [thought_chunk(event["delta"])],
            "tool_call_started": lambda event: [calls.started(event)],
            "tool_call_arguments": lambda event: [calls.arguments(event)],
            "document_changed": lambda event: [calls.changed(event)],
            "tool_call_output": lambda event: [calls.finished(event)],
            "action_started": lambda event: [calls.action_started(event)],
            "action_progress": lambda event: [calls.action_progress(event)],
            "action_finished": lambda event: [calls.action_finished(event)],
            "plan_updated": lambda event: [_plan(event)],
            "token_usage": self._token_usage,
        }

    def of(self, event: dict[str, Any]) -> list[Any]:
        """The updates that an event makes."""
        parts = self.view.take(event)
        updates: list[Any] = [message_chunk(text) for text in map(self._added, parts) if text]
        updates += [
            thought_chunk(f"{part.text}\n")
            for part in parts
            if isinstance(part, Note) and part.kind in IN_THOUGHTS
        ]
        if (make := self._makers.get(event["type"])) is not None:
            updates += [each for each in make(event) if each is not None]
        return updates

    def _added(self, part: Part) -> str:
        is_said = isinstance(part, Text) or (isinstance(part, Note) and part.kind in IN_ANSWER)
        return self._text.add(part) if is_said else ""

    def _token_usage(self, event: dict[str, Any]) -> list[Any]:
        call, usage = event.get("call"), event["usage"]
        if not call or self._context_window is None:
            return []
        cost = usage.get("sessionCost")
        return [
            UsageUpdate(
                session_update="usage_update",
                used=call["totalTokens"],
                size=self._context_window,
                cost=Cost(amount=cost, currency="USD") if cost is not None else None,
            )
        ]


def _plan(event: dict[str, Any]) -> AgentPlanUpdate:
    entries = [
        PlanEntry(content=_step_text(step), priority="medium", status=STATUSES[step["status"]])
        for step in event["steps"]
    ]
    return AgentPlanUpdate(session_update="plan", entries=entries)


def _step_text(step: dict[str, Any]) -> str:
    marks = {"failed": " (failed)", "skipped": " (skipped)"}
    return f"{step['description']}{marks.get(step['status'], '')}"
