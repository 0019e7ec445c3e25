"""Signals as events of Jupyter's own event system, each by a schema of ours (``schemas/``).

Operators collect them with a handler (``c.EventLogger.handlers``); extensions listen with
``serverapp.event_logger.add_listener``. Without listeners an event costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from ..protocol.requests import Usage
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

BASE = "https://schema.datalayer.tech/jupyter_datalayer_agent"
SCHEMAS = Path(__file__).parent / "schemas"


class EventLogger(Protocol):
    """The used part of ``jupyter_events.EventLogger``."""

    def register_event_schema(self, schema: Any) -> None: ...

    def emit(self, *, schema_id: str, data: dict[str, Any]) -> Any: ...


def schema_id(name: str) -> str:
    """The ``$id`` of the schema in ``schemas/{name}.yaml``."""
    return f"{BASE}/{name}/v1"


class SignalLog:
    """Registers the schemas, and emits signals by them."""

    def __init__(self, logger: EventLogger, known: Callable[[str], bool]) -> None:
        """``known``: whether the logger has a schema of that id already."""
        self._logger = logger
        for file in sorted(SCHEMAS.glob("*.yaml")):
            if not known(schema_id(file.stem)):
                logger.register_event_schema(file)

    def __call__(self, signal: Signal) -> None:
        name, data = as_event(signal)
        self._logger.emit(
            schema_id=schema_id(name),
            data={"session": signal.session, "turn": signal.turn or None, **data},
        )


def as_event(signal: Signal) -> tuple[str, dict[str, Any]]:
    """The name of the signal's schema, and what the event contains besides session and turn."""
    match signal:
        case TurnBegan():
            return "turn_start", {
                "mode": signal.mode,
                "notebook_mode": signal.notebook_mode,
                "model": signal.model,
            }
        case TurnEndedSignal():
            return "turn_end", {
                "status": signal.status,
                "reason": signal.reason,
                "mode": signal.mode,
                "duration_ms": signal.duration_ms,
                "time_to_first_token_ms": signal.first_token_ms,
                **_tokens(signal.usage),
            }
        case ModelCallBegan():
            return "model_call_start", _model_call(signal)
        case ModelCallEnded():
            return "model_call_stop", {
                **_model_call(signal),
                "status": signal.status,
                "error": signal.error,
                "duration_ms": signal.duration_ms,
            }
        case ToolCallBegan():
            return "tool_call_start", {"tool": signal.tool, "call_id": signal.call}
        case ToolCallEnded():
            return "tool_call_stop", {
                "tool": signal.tool,
                "call_id": signal.call,
                "status": signal.status,
                "duration_ms": signal.duration_ms,
            }
        case TokensUsed():
            return "token_usage", {
                "model": signal.model,
                **_tokens(signal.usage),
                "estimated": signal.usage.estimated,
            }
        case Failed():
            return "error", {"code": signal.code}
    raise TypeError(f"{type(signal).__name__} is no signal that has a schema")


def _model_call(signal: ModelCallBegan | ModelCallEnded) -> dict[str, Any]:
    return {"model": signal.model, "call": signal.number, "attempt": signal.attempt}


def _tokens(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost": usage.cost,
    }
