"""A turn's events as the Markdown of a chat message."""

from __future__ import annotations

from typing import Any

from ...protocol.approval_text import approval_parts, visible
from ...protocol.fences import fenced
from ...protocol.turn_view import GrowingText, TurnView, asks
from .replies import how_to_answer


class Transcript:
    """The text of one turn, which only grows."""

    def __init__(self) -> None:
        self.view = TurnView()
        self._text = GrowingText()
        self._has_plan = False

    def of(self, event: dict[str, Any]) -> str:
        """What the turn's next event adds."""
        added = [self._text.add(part) for part in self.view.take(event)]
        if asked := self._asked(event):
            added.append(self._text.paragraph(asked))
        return "".join(added)

    def _asked(self, event: dict[str, Any]) -> str:
        """What the event asks or plans."""
        kind = event["type"]
        if kind == "plan_updated":
            return self._plan(event)
        if kind == "approval_requested":
            return _approval(event)
        if kind == "user_input_requested" and (form := event.get("form")) is not None:
            asked = f"**The MCP server {form['server']} asks you:**"
            return f"{asked}\n\n{fenced(event['question'])}\n\n{how_to_answer(event)}"
        if kind == "user_input_requested":
            return f"**{event['question']}**\n\n{how_to_answer(event)}"
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
