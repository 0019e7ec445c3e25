"""A turn's events as the updates of an ACP session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    ContentToolCallContent,
    Cost,
    FileEditToolCallContent,
    PlanEntry,
    PlanEntryStatus,
    TextContentBlock,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolKind,
    UsageUpdate,
    UserMessageChunk,
)

from ..protocol.fences import fenced
from ..protocol.turn_view import GrowingText, Note, NoteKind, Part, Text, TurnView

# Tool calls, their diffs and what they ask, as a client shows them.


Content = ContentToolCallContent | FileEditToolCallContent
VERBS: dict[str, ToolKind] = {
    "Ask": "other",
    "Delete": "delete",
    "List": "search",
    "Move": "move",
    "Remove": "delete",
    "Search": "search",
    "Update the plan": "think",
}
"""Kinds that a tool's label gives away by how it begins."""


def kind_of(event: dict[str, Any]) -> ToolKind:
    """The kind of a call, from what its ``tool_call_started`` says of the tool."""
    label = (event.get("label") or {}).get("action", "")
    for verb, kind in VERBS.items():
        if label.startswith(verb):
            return kind
    if event.get("runs"):
        return "execute"
    if event.get("reads"):
        return "read"
    return "edit" if label else "other"


def text_content(text: str) -> ContentToolCallContent:
    """Text as the content of a call."""
    return ContentToolCallContent(type="content", content=TextContentBlock(type="text", text=text))


def code_content(code: str) -> ContentToolCallContent:
    """Code that is about to run."""
    return text_content(fenced(code))


def diffs(changes: Sequence[dict[str, Any]], root: Path) -> list[FileEditToolCallContent]:
    """The changes that have one: a cell that was only moved has none."""
    return [
        FileEditToolCallContent(
            type="diff",
            path=str(root / change["path"]),
            old_text=change.get("before"),
            new_text=change.get("after") or "",
        )
        for change in changes
        if change.get("before") != change.get("after")
    ]


class ToolCalls:
    """The calls of a turn, as they go on. An update replaces a call's content, so all of it is
    kept."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._content: dict[str, list[Content]] = {}

    def started(self, event: dict[str, Any]) -> ToolCallStart:
        """The model began to write a call."""
        label = event.get("label") or {}
        self._content[event["callId"]] = []
        return ToolCallStart(
            session_update="tool_call",
            tool_call_id=event["callId"],
            title=label.get("action") or event["name"],
            kind=kind_of(event),
            status="pending",
        )

    def arguments(self, event: dict[str, Any]) -> ToolCallProgress:
        """Its arguments are complete, and it begins."""
        arguments = event["arguments"]
        path = arguments.get("path") if isinstance(arguments, dict) else None
        return self._update(
            event["callId"],
            status="in_progress",
            raw_input=arguments,
            locations=self._locations([path]) if isinstance(path, str) and path else None,
        )

    def changed(self, event: dict[str, Any]) -> ToolCallProgress | None:
        """It changed a document."""
        call_id = event.get("callId")
        if call_id not in self._content:
            return None
        self._content[call_id] += diffs(event["changes"], self._root)
        return self._update(
            call_id, content=self._content[call_id], locations=self._locations([event["path"]])
        )

    def finished(self, event: dict[str, Any]) -> ToolCallProgress:
        """It ended."""
        call_id = event["callId"]
        content = self._content.setdefault(call_id, [])
        if event.get("summary"):
            content.append(text_content(event["summary"]))
        return self._update(
            call_id,
            title=event.get("summary"),
            status="completed" if event["status"] == "ok" else "failed",
            content=content or None,
            raw_output=event.get("output"),
        )

    def action_started(self, event: dict[str, Any]) -> ToolCallStart:
        """The user ran an action of a service."""
        return ToolCallStart(
            session_update="tool_call",
            tool_call_id=f"action:{event['turnId']}",
            title=event["title"],
            kind="execute",
            status="in_progress",
        )

    def action_progress(self, event: dict[str, Any]) -> ToolCallProgress:
        """How far it is."""
        fraction = event.get("fraction")
        share = f" ({fraction:.0%})" if fraction is not None else ""
        return self._update(
            f"action:{event['turnId']}", content=[text_content(f"{event['message']}{share}")]
        )

    def action_finished(self, event: dict[str, Any]) -> ToolCallProgress:
        """It ended."""
        text = event.get("error") or event.get("output")
        return self._update(
            f"action:{event['turnId']}",
            status="completed" if event["status"] == "ok" else "failed",
            content=[text_content(text)] if text else None,
            locations=self._locations(event.get("paths") or []) or None,
        )

    def _locations(self, paths: Sequence[str]) -> list[ToolCallLocation]:
        return [ToolCallLocation(path=str(self._root / path)) for path in paths]

    @staticmethod
    def _update(call_id: str, **more: Any) -> ToolCallProgress:
        given = {name: value for name, value in more.items() if value is not None}
        return ToolCallProgress(session_update="tool_call_update", tool_call_id=call_id, **given)


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
