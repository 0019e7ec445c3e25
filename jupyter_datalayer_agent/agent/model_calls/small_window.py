"""Models with a small context window: a short system prompt, and the basic tools of their mode."""

from __future__ import annotations

from ...models.prices import context_window
from ...settings.turn import Settings
from ...tools.registry import Tool, ToolRegistry, normalise
from ..request import TurnRequest

SMALL_WINDOW = 16_000
"""Tokens; a model that reads fewer gets the short form. An unknown window counts as a large one."""


def has_small_window(settings: Settings, model: str) -> bool:
    """Whether the model reads little, as the setting, litellm or the catalogue have it."""
    window = settings.context_window or context_window(model)
    return window is not None and window < SMALL_WINDOW


def sent_tools(registry: ToolRegistry, request: TurnRequest, *, is_small: bool) -> list[Tool]:
    """The tools that the model is sent: what the gate allows; for a small window the basic ones of
    them, and those that the message names."""
    allowed = request.gate.allowed(registry)
    if not is_small:
        return allowed
    named = {normalise(name) for name in request.references}
    return [tool for tool in allowed if tool.basic or normalise(tool.name) in named]
