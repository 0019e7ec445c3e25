"""Tool results as text for the model."""

from __future__ import annotations

from typing import Any

from ...protocol.json_text import to_json
from ...protocol.tools import ToolResult


def for_model(result: ToolResult) -> str:
    """A result as the model reads it: the output alone when all went well, compact JSON."""
    if result.ok:
        return to_json(result.output)
    shown: dict[str, Any] = {}
    if result.error is not None:
        shown["error"] = result.error.to_wire()
    if result.output is not None:
        shown["output"] = result.output
    return to_json(shown)
