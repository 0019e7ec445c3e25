"""An answer in a turn's items, and another model's in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...protocol.pictures import pictures_in

Items = Sequence[Mapping[str, Any]]
CALLS = ("function_call", "function_call_output")


@dataclass(frozen=True)
class Answered:
    """A turn's items: all that its last request had, the answer to that, and notes of later."""

    before: list[Mapping[str, Any]]
    answer: list[Mapping[str, Any]]
    notes: list[Mapping[str, Any]]


def answered(items: Items) -> Answered:
    """The parts of a turn's items. Without an answer at its end, ``answer`` is empty."""
    calls = [place for place, item in enumerate(items) if item.get("type") in CALLS]
    first = calls[-1] + 1 if calls else min(1, len(items))
    while first < len(items) and pictures_in(items[first]):
        first += 1  # those of the last call's output
    rest = items[first:]
    notes = [item for item in rest if item.get("role") == "user"]
    answer = [item for item in rest if item.get("role") != "user"]
    if not any(item.get("role") == "assistant" for item in answer):
        answer = []
    return Answered(list(items[:first]), answer, notes)


def with_answer(items: Items, text: str | None) -> list[dict[str, Any]]:
    """The turn's items as they are sent: with this text for its answer, which a comparison does not
    have itself; None for its own."""
    parts = answered(items)
    if text is None:
        return [dict(item) for item in items]
    content = [{"type": "output_text", "text": text}]
    said = {"type": "message", "role": "assistant", "content": content}
    return [dict(item) for item in (*parts.before, said, *parts.notes)]
