"""Counters and histograms on the server's own ``/metrics``.

Labels have few values: an unknown tool or model is ``other``. Imports ``prometheus_client``, which
Jupyter Server brings, when the first ``Metrics`` is made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .signals import (
    Failed,
    ModelCallEnded,
    Signal,
    TokensUsed,
    ToolCallEnded,
    TurnBegan,
    TurnEndedSignal,
)

OTHER = "other"
MAX_MODELS = 30
"""The most models with their own label value; any further one is ``other``."""
SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 150, 600, 1800)


class Metrics:
    """Counts signals. ``is_tool`` and ``is_model`` recognize names that may be labels."""

    def __init__(self, is_tool: Callable[[str], bool], is_model: Callable[[str], bool]) -> None:
        self._is_tool = is_tool
        self._is_model = is_model
        self._models: set[str] = set()
        self._collectors = collectors()

    def __call__(self, signal: Signal) -> None:
        count = self._collectors
        match signal:
            case TurnBegan():
                count["running"].inc()
            case TurnEndedSignal():
                mode = signal.mode or OTHER
                if signal.mode is not None:
                    count["running"].dec()
                count["turns"].labels(signal.status, mode).inc()
                count["turn_seconds"].labels(mode).observe(signal.duration_ms / 1000)
                if signal.first_token_ms is not None:
                    count["first_token"].labels(mode).observe(signal.first_token_ms / 1000)
            case ModelCallEnded():
                model = self._model(signal.model)
                count["model_calls"].labels(signal.status, model).inc()
                count["model_call_seconds"].labels(model).observe(signal.duration_ms / 1000)
            case ToolCallEnded():
                tool = signal.tool if self._is_tool(signal.tool) else OTHER
                count["tool_calls"].labels(signal.status, tool).inc()
                count["tool_call_seconds"].labels(tool).observe(signal.duration_ms / 1000)
            case TokensUsed():
                self._tokens(signal)
            case Failed():
                count["errors"].labels(signal.code).inc()

    def _tokens(self, signal: TokensUsed) -> None:
        model, usage = self._model(signal.model), signal.usage
        tokens = self._collectors["tokens"]
        tokens.labels("input", model).inc(usage.input_tokens)
        tokens.labels("output", model).inc(usage.output_tokens)
        tokens.labels("cached", model).inc(usage.cached_tokens)
        if usage.cost is not None:
            self._collectors["cost"].labels(model).inc(usage.cost)

    def _model(self, name: str) -> str:
        if name in self._models:
            return name
        if len(self._models) < MAX_MODELS and self._is_model(name):
            self._models.add(name)
            return name
        return OTHER


@cache
def collectors() -> dict[str, Any]:
    """The collectors of this process, in Prometheus' own registry, which Jupyter Server serves."""
    from prometheus_client import Counter, Gauge, Histogram

    def name(rest: str) -> str:
        return f"datalayer_agent_{rest}"

    return {
        "running": Gauge(name("running_turns"), "Turns that run now"),
        "turns": Counter(name("turns"), "Turns that ended", ["status", "mode"]),
        "turn_seconds": Histogram(
            name("turn_seconds"), "Seconds that turns took", ["mode"], buckets=SECONDS
        ),
        "first_token": Histogram(
            name("time_to_first_token_seconds"),
            "Seconds from a message to the first text of its answer",
            ["mode"],
            buckets=SECONDS,
        ),
        "model_calls": Counter(name("model_calls"), "Model calls", ["status", "model"]),
        "model_call_seconds": Histogram(
            name("model_call_seconds"), "Seconds that model calls took", ["model"], buckets=SECONDS
        ),
        "tool_calls": Counter(name("tool_calls"), "Tool calls", ["status", "tool"]),
        "tool_call_seconds": Histogram(
            name("tool_call_seconds"), "Seconds that tool calls took", ["tool"], buckets=SECONDS
        ),
        "tokens": Counter(
            name("tokens"), "Tokens; the cached ones are part of input", ["kind", "model"]
        ),
        "cost": Counter(
            name("cost_dollars"), "Cost of model calls whose price is known", ["model"]
        ),
        "errors": Counter(name("errors"), "Errors that were shown to a user", ["code"]),
    }
