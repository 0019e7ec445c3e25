"""One call of a model outside of turns: its answer, and what it cost, however it ended."""

from __future__ import annotations

from contextlib import aclosing

from ...models.tokens import estimate_item, estimate_tokens
from ...models.types import (
    Model,
    ModelRequest,
    ReasoningChunk,
    ResponseDone,
    StreamStarted,
    TextChunk,
)
from ...protocol.requests import Usage
from ..budget import estimated_usage
from .call import ModelAnswer


async def ask_once(model: Model, request: ModelRequest, spent: list[Usage]) -> ModelAnswer:
    """One answer, once it is whole. ``spent`` gets what it cost, estimated where it broke off or
    was stopped. Raises ``ModelError``; cancelling it closes the connection."""
    unpaid: list[str] | None = None
    answer = ModelAnswer(finish_reason="")
    try:
        async with aclosing(model.stream(request)) as stream:
            async for event in stream:
                if isinstance(event, ResponseDone):
                    unpaid = None
                    spent.append(event.usage)
                    answer = ModelAnswer(list(event.items), event.usage, event.finish_reason)
                elif isinstance(event, StreamStarted):
                    unpaid = []
                elif isinstance(event, TextChunk | ReasoningChunk) and unpaid is not None:
                    unpaid.append(event.delta)
    finally:
        if unpaid is not None:
            answered = estimate_tokens("".join(unpaid))
            spent.append(estimated_usage(request.model, size_of(request), answered))
    return answer


def size_of(request: ModelRequest) -> int:
    """Tokens of a request, estimated."""
    fixed = estimate_tokens(request.instructions) + estimate_tokens(list(request.tools))
    return fixed + sum(map(estimate_item, request.input))
