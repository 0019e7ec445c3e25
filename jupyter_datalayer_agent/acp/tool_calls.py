"""Tool calls, their diffs and what they ask, as a client shows them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from acp.schema import (
    ContentToolCallContent,
    FileEditToolCallContent,
    TextContentBlock,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolKind,
)

from ..protocol.fences import fenced

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
