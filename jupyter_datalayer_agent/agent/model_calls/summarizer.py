"""The summary of older turns, written by the model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ...models.retry import delay_before
from ...models.tokens import estimate_item
from ...models.types import Item, Model, ModelError, ModelRequest
from ...protocol.requests import Usage
from ..context.system_prompt import prompt_text
from ..history.history import user_item
from .complete import ask_once

MAX_RETRIES = 2
"""Retries of the call for a summary; an unreachable model is retried as often as for a turn."""
MAX_SUMMARY_TOKENS = 4_000
SHARE = 0.8
"""Of the window: what the request for a summary may fill."""

MakeRequest = Callable[[Sequence[Item]], ModelRequest]
"""A request as a turn would send it, with other items: its prefix is in the provider's cache."""


@dataclass(frozen=True)
class Summarizer:
    """Writes a summary with a model, a request, and a window in estimated tokens. ``spent`` is
    called with the usage of each call, even one that broke off or was stopped."""

    model: Model
    name: str
    make_request: MakeRequest
    window: int
    spent: list[Usage] = field(default_factory=list)


async def summarise(summarizer: Summarizer, parts: Sequence[Sequence[Item]]) -> str:
    """Let the model summarise ``parts`` (turns, oldest first).

    What does not fit its window is left out, the oldest turns first. Raises ``ModelError`` if there
    is no summary. Cancelling closes the connection.
    """
    room, retries = summarizer.window * SHARE, 0
    while True:
        request = _request(summarizer.make_request, _newest(parts, room), summarizer.window)
        try:
            return await _answer(summarizer, request)
        except ModelError as error:
            retries += 1
            if error.code == "context_window" and retries <= MAX_RETRIES:
                room /= 2
                continue
            delay = delay_before(retries, error)
            if delay is None or (retries > MAX_RETRIES and error.code != "connection"):
                raise
            await asyncio.sleep(delay)


def _request(make_request: MakeRequest, items: Sequence[Item], window: int) -> ModelRequest:
    request = make_request([*items, user_item(prompt_text("summary.md"))])
    most = min(MAX_SUMMARY_TOKENS, max(500, window // 12))
    return replace(request, tool_choice="none", output_schema=None, max_output_tokens=most)


def _newest(parts: Sequence[Sequence[Item]], room: float) -> list[Item]:
    """The items of the newest turns that fit, and of an earlier compaction, if it fits."""
    sizes = [sum(map(estimate_item, part)) for part in parts]
    first = len(parts)
    while first > 0 and sizes[first - 1] <= room:
        first -= 1
        room -= sizes[first]
    return [item for part in parts[min(first, len(parts) - 1) :] for item in part]


async def _answer(summarizer: Summarizer, request: ModelRequest) -> str:
    text = (await ask_once(summarizer.model, request, summarizer.spent)).text.strip()
    if not text:
        raise ModelError("server", "The model wrote no summary.", retryable=False)
    return text
