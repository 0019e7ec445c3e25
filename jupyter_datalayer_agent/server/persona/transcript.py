"""A turn's events as the Markdown of a chat message."""

from __future__ import annotations

from typing import Any

from ...protocol.approval_text import approval_parts, visible
from ...protocol.fences import fenced
from ...protocol.streamed_answer import StreamedAnswer
from .replies import asks, how_to_answer

MARKS = {"ok": "✓", "error": "✗", "denied": "–", "aborted": "–"}
DECISIONS = {
    "approve": "Approved",
    "approve_for_session": "Approved for this chat",
    "deny": "Denied",
    "expired": "Nobody answered in time: denied",
}
FORMS = {
    "accept": "*Answered.*",
    "decline": "*Declined to answer.*",
    "cancel": "*Not answered.*",
}
STOPPED = {
    "interrupted": "Stopped.",
    "replaced": "Stopped.",
    "shutdown": "The server ended. What was done is kept.",
}


class Transcript:
    """The text of one turn, which only grows."""

    def __init__(self) -> None:
        self._answer = StreamedAnswer()
        self._has_plan = False

    def of(self, event: dict[str, Any], by: str | None = None) -> str:
        """What an event adds; ``by`` is who decided on what it says to be decided."""
        if text := self._answer.take(event):
            return text
        line = self._line(event, by)
        return self._answer.paragraph(line) if line else ""

    def _line(self, event: dict[str, Any], by: str | None) -> str:
        kind = event["type"]
        if kind == "tool_call_output":
            return f"{MARKS[event['status']]} {event.get('summary') or event['name']}"
        if kind == "plan_updated":
            return self._plan(event)
        if kind == "step_started":
            return f"**Step {event['index'] + 1} of {event['total']}:** {event['description']}"
        if kind == "step_finished" and not event["success"]:
            return f"✗ {event['message']}"
        if kind == "recovery_started":
            return f"↻ Fixing, attempt {event['attempt']}: {event['error']}"
        if kind == "approval_requested":
            return _approval(event)
        if kind == "approval_resolved":
            decided = DECISIONS.get(event["decision"])
            return f"*{decided}{f' by {by}' if by else ''}.*" if decided else ""
        if kind == "user_input_requested" and (form := event.get("form")) is not None:
            asked = f"**The MCP server {form['server']} asks you:**"
            return f"{asked}\n\n{fenced(event['question'])}\n\n{how_to_answer(event)}"
        if kind == "user_input_resolved":
            return FORMS[event["action"]]
        if kind == "user_input_requested":
            return f"**{event['question']}**\n\n{how_to_answer(event)}"
        if kind == "action_progress":
            return event["message"] if event.get("fraction") is None else ""
        if kind == "action_finished":
            text = event.get("error") or event.get("output") or "Done."
            return f"{'✓' if event['status'] == 'ok' else '✗'} {text}"
        if kind == "error":
            return f"✗ {event['message']}"
        if kind == "turn_aborted":
            return STOPPED.get(event["reason"], "")
        return ""

    def _plan(self, event: dict[str, Any]) -> str:
        """The plan once, and again where it waits: its steps are shown as they run."""
        waits = asks(event)
        if self._has_plan and not waits:
            return ""
        self._has_plan = True
        if event.get("state") == "waiting":
            return how_to_answer(event)
        steps = [
            f"{number}. {step['description']}" for number, step in enumerate(event["steps"], 1)
        ]
        lines = ["**Plan**", "", *steps]
        return "\n".join([*lines, "", how_to_answer(event)] if waits else lines)


def _approval(event: dict[str, Any]) -> str:
    parts = [f"**Approval needed:** {visible(event['reason'])}"]
    for part in approval_parts(event):
        parts += [f"{part.heading}:"] if part.heading else []
        parts.append(fenced(part.text))
    return "\n\n".join([*parts, how_to_answer(event)])
