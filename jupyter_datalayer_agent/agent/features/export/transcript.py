"""The messages and calls of a turn, in order, for exports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from ....protocol.answers import FurtherAnswer
from ....protocol.requests import ToolCallRecord, Turn

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


@dataclass(frozen=True)
class Said:
    """A piece of an answer."""

    text: str


@dataclass(frozen=True)
class Contradicted:
    """The notice above the answer: something was not done."""

    text: str


Part = Said | Contradicted | ToolCallRecord


def parts_of(turn: Turn) -> list[Part]:
    """The answers and the tool calls of a turn, in the order in which they came."""
    parts: list[Part] = list(_parts(turn))
    if turn.not_done is not None:
        answers = [place for place, part in enumerate(parts) if isinstance(part, Said)]
        place = answers[-1] if answers else len(parts)
        parts.insert(place, Contradicted(turn.not_done.message))
    return parts


def _parts(turn: Turn) -> Iterator[Said | ToolCallRecord]:
    calls = {call.call_id: call for call in turn.tool_calls}
    said = ""
    for item in turn.items:
        if item.get("role") == "assistant" and (text := text_of(item)):
            said = text
            yield Said(text)
        elif item.get("type") == "function_call" and item.get("call_id") in calls:
            yield calls.pop(item["call_id"])
    yield from calls.values()
    if turn.reply.strip() and turn.reply.strip() not in said:
        yield Said(turn.reply)


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
