"""Models with a small context window: a short system prompt, and the basic tools of their mode."""

from __future__ import annotations

from ...models.prices import context_window
from ...settings.turn_settings import Settings
from ...tools.registry import Tool, normalise
from ..request import TurnRequest

SMALL_WINDOW = 16_000
"""Tokens; a model that reads fewer gets the short form. An unknown window counts as a large one."""


def has_small_window(settings: Settings, model: str) -> bool:
    """Whether the model reads little, as the setting, litellm or the catalogue have it."""
    window = settings.context_window or context_window(model)
    return window is not None and window < SMALL_WINDOW


def is_sent(tool: Tool, can_search: bool) -> bool:
    """Whether an allowed tool is part of a request; ``can_search``: there are others to search."""
    return not tool.is_found_by_search and (can_search or not tool.searches)


def sent_tools(request: TurnRequest, *, is_small: bool, with_blocks: bool = False) -> list[Tool]:
    """The tools that the model is sent: what the gate allows, ``with_blocks`` those for blocks, and
    none of those that it searches; for a small window the basic ones of them, and those that the
    message names."""
    allowed = request.gate.sent(request.tools, with_blocks=with_blocks)
    if not is_small:
        searching = [tool for tool in request.tools if tool.searches]
        # Tools that are found and cannot be called are no use: a comparison has none of them.
        can_search = any(tool.is_found_by_search for tool in allowed) and all(
            tool in allowed for tool in searching
        )
        return [tool for tool in allowed if is_sent(tool, can_search)]
    named = {normalise(name) for name in request.references}
    return [tool for tool in allowed if tool.basic or normalise(tool.name) in named]
