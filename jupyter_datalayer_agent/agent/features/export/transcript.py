"""The messages and calls of a turn, in order, for exports."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from ....protocol.answers import FurtherAnswer
from ....protocol.requests import ToolCallRecord, Turn
from ....protocol.turn_view import BOLD, Call, Note, Text, TurnView

ENDED = {
    "failed": "This turn failed.",
    "aborted": "This turn was stopped before its end.",
    "running": "This turn was still running.",
}


def heading_of(turn: Turn, answer: FurtherAnswer) -> str:
    """How an answer beside others came about."""
    if answer.sources is not None:
        return f"synthesis: {answer.model}"
    return f"compared: {answer.model}" if turn.compare else f"asked again: {answer.model}"


def sources_of(answer: FurtherAnswer) -> str | None:
    """The numbers that a synthesis cites; None for any other answer."""
    if answer.sources is None:
        return None
    return ", ".join(f"[{each.number}] {each.model}" for each in answer.sources)


GOES_ON = "The session went on from this answer."


def view_of(turn: Turn) -> TurnView:
    """A stored turn as it was shown: its answers and tool calls in the order in which they came."""
    view = TurnView(turn_id=turn.id)
    calls = {call.call_id: call for call in turn.tool_calls}
    for item in turn.items:
        if item.get("role") == "assistant" and (text := text_of(item)):
            view.parts.append(Text(str(item.get("id")), [text]))
        elif item.get("type") == "function_call" and item.get("call_id") in calls:
            view.parts.append(_call(calls.pop(item["call_id"])))
    view.parts += map(_call, calls.values())
    view.take(
        {
            "type": "final_reply",
            "text": turn.reply,
            "notDone": turn.not_done and turn.not_done.to_wire(),
            "facts": turn.facts and turn.facts.to_wire(),
        }
    )
    return view


def _call(record: ToolCallRecord) -> Call:
    return Call(record.call_id, record.name, record.status)


def note_text(note: Note) -> str:
    """A note as one line of Markdown."""
    emphasis = "**" if note.kind in BOLD else "*"
    return f"{emphasis}{' '.join(note.text.split())}{emphasis}"


def text_of(item: dict[str, Any]) -> str:
    """The text of a message item."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part.get("text") or "" for part in parts if isinstance(part, dict))


def how_it_ended(turn: Turn) -> str | None:
    """A sentence about a turn that did not end well; None for one that did."""
    if turn.status == "completed":
        return None
    ending = ENDED[turn.status]
    return f"{ending} {turn.error.message}" if turn.error is not None else ending


def day_and_time(ms: int) -> str:
    """A time in ms since 1970, for people, the same wherever it is written."""
    return f"{datetime.fromtimestamp(ms / 1000, timezone.utc):%Y-%m-%d %H:%M} UTC"
