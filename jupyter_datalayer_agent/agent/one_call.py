"""One call of a model for its words alone, and what it cost, however it ended."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass

from ..models.tokens import estimate_item, estimate_tokens
from ..models.types import (
    Item,
    Model,
    ModelRequest,
    ReasoningDelta,
    ResponseDone,
    StreamStarted,
    TextDelta,
)
from ..protocol.requests import Usage
from .budget import estimated_usage


@dataclass(frozen=True)
class Words:
    """What a model wrote, and why it ended; nothing where it did not come to its end."""

    text: str = ""
    finish_reason: str = ""


async def ask_once(model: Model, request: ModelRequest, spent: list[Usage]) -> Words:
    """The words of one answer. ``spent`` gets what it cost, estimated where it broke off or was
    stopped. Raises ``ModelError``; cancelling it closes the connection."""
    unpaid: list[str] | None = None
    words = Words()
    try:
        async with aclosing(model.stream(request)) as stream:
            async for event in stream:
                if isinstance(event, ResponseDone):
                    unpaid = None
                    spent.append(event.usage)
                    words = Words("".join(map(_text, event.items)), event.finish_reason)
                elif isinstance(event, StreamStarted):
                    unpaid = []
                elif isinstance(event, TextDelta | ReasoningDelta) and unpaid is not None:
                    unpaid.append(event.delta)
    finally:
        if unpaid is not None:
            answered = estimate_tokens("".join(unpaid))
            spent.append(estimated_usage(request.model, _size(request), answered))
    return words


def _size(request: ModelRequest) -> int:
    fixed = estimate_tokens(request.instructions) + estimate_tokens(list(request.tools))
    return fixed + sum(map(estimate_item, request.input))


def _text(item: Item) -> str:
    if item.get("type") != "message":
        return ""
    return "".join(part.get("text", "") for part in item.get("content") or [])
