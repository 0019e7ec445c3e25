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

from ..protocol.streamed_answer import StreamedAnswer
from .tool_calls import ToolCalls

STATUSES: dict[str, PlanEntryStatus] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "failed": "completed",
    "skipped": "completed",
}
"""The protocol knows no step that failed: its text says so."""


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
        self._answer = StreamedAnswer()
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
            "recovery_started": lambda event: [
                thought_chunk(f"Fixing, attempt {event['attempt']}: {event['error']}\n")
            ],
            "recovery_finished": lambda event: [thought_chunk(f"{event['message']}\n")],
            "token_usage": self._token_usage,
        }

    def of(self, event: dict[str, Any]) -> list[Any]:
        """The updates that an event makes."""
        if text := self._answer.take(event):
            return [message_chunk(text)]
        make = self._makers.get(event["type"])
        return [each for each in make(event) if each is not None] if make is not None else []

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
