"""Structured log lines: events with ids, times and tokens, without content."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from .log_lines import Line
from .signals import (
    Failed,
    ModelCallBegan,
    ModelCallEnded,
    Signal,
    TokensUsed,
    ToolCallBegan,
    ToolCallEnded,
    TurnBegan,
    TurnEndedSignal,
)

log = logging.getLogger(__name__)

LONGEST_NAME = 64
LONGEST_CONTENT = 2000
"""Characters of a text that is logged with ``log_content``."""

HIDDEN = ("at", "content", "usage", "began_at")
NAMES: dict[type[Signal], tuple[str, int]] = {
    TurnBegan: ("turn_started", logging.DEBUG),
    TurnEndedSignal: ("turn_ended", logging.INFO),
    ModelCallBegan: ("model_call_started", logging.DEBUG),
    ModelCallEnded: ("model_call_ended", logging.INFO),
    ToolCallBegan: ("tool_call_started", logging.DEBUG),
    ToolCallEnded: ("tool_call_ended", logging.INFO),
    Failed: ("error", logging.WARNING),
}


class Logs:
    """Logs signals. ``content`` also what was written, passed through ``redact``."""

    def __init__(self, *, content: bool, redact: Callable[[str], str]) -> None:
        self._content = content
        self._redact = redact

    def __call__(self, signal: Signal) -> None:
        if isinstance(signal, TokensUsed):
            return  # is in the line of its call
        name, level = NAMES[type(signal)]
        if not log.isEnabledFor(level):
            return
        fields = {
            key: _short(value)
            for key, value in vars(signal).items()
            if value is not None and key not in HIDDEN
        }
        usage = getattr(signal, "usage", None)
        if usage is not None:
            fields["input_tokens"] = usage.input_tokens
            fields["output_tokens"] = usage.output_tokens
            fields["cached_tokens"] = usage.cached_tokens
            if usage.cost is not None:
                fields["cost"] = usage.cost
        if self._content:
            fields |= {key: self._text(value) for key, value in signal.content.items()}
        log.log(level, Line(name, fields))

    def _text(self, value: Any) -> str:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return self._redact(text[: 2 * LONGEST_CONTENT])[:LONGEST_CONTENT]


def _short(value: Any) -> Any:
    """The name, cut: one that a model invented may be long."""
    return value[:LONGEST_NAME] if isinstance(value, str) else value
