"""Tool results as text for the model."""

from __future__ import annotations

import json
from typing import Any

from ..protocol.tools import ToolResult


def for_model(result: ToolResult) -> str:
    """A result as the model reads it: the output alone when all went well, compact JSON."""
    if result.ok:
        return compact(result.output)
    told: dict[str, Any] = {}
    if result.error is not None:
        told["error"] = result.error.to_wire()
    if result.output is not None:
        told["output"] = result.output
    return compact(told)


def compact(value: Any) -> str:
    """JSON without spare characters; other scripts than Latin as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
