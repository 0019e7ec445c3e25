"""OpenTelemetry spans by the conventions for generative AI: ``invoke_agent`` for a turn, in it
``chat`` for each model call and ``execute_tool`` for each tool call. The conventions are those of
version 1.41, https://opentelemetry.io/docs/specs/semconv/gen-ai/.

OpenTelemetry is used only if an SDK has been configured, and not imported otherwise.
"""

from __future__ import annotations

import sys
from typing import Any

from .signals import (
    ModelCallBegan,
    ModelCallEnded,
    Signal,
    ToolCallBegan,
    ToolCallEnded,
    TurnBegan,
    TurnEndedSignal,
)

AGENT = "Jupyter Datalayer Agent"
MAX_OPEN = 1000
"""The most turns with open spans. More would mean that some never end."""

# litellm's names to the conventions'; others are the same.
PROVIDERS = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}


def tracer(version: str) -> Any | None:
    """The tracer of the SDK that was configured for this process; None without one."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None or "opentelemetry.sdk.trace" not in sys.modules:
        return None
    provider = trace.get_tracer_provider()
    if not hasattr(provider, "add_span_processor"):
        return None  # the API's placeholder
    return provider.get_tracer(
        "jupyter_datalayer_agent",
        version,
        schema_url="https://opentelemetry.io/schemas/1.41.0",
    )


class Spans:
    """Opens and ends spans. A turn that began before an SDK was configured has none."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._turns: dict[str, _TurnSpans] = {}

    def __call__(self, signal: Signal) -> None:
        if isinstance(signal, TurnBegan):
            traced_by = tracer(self._version)
            if traced_by is not None and len(self._turns) < MAX_OPEN:
                self._turns[signal.turn] = _TurnSpans(traced_by, signal)
            return
        turn = self._turns.get(signal.turn)
        if turn is None:
            return
        match signal:
            case ModelCallBegan():
                turn.model_call_began(signal)
            case ModelCallEnded():
                turn.model_call_ended(signal)
            case ToolCallBegan():
                turn.tool_call_began(signal)
            case ToolCallEnded():
                turn.tool_call_ended(signal)
            case TurnEndedSignal():
                turn.end(signal)
                del self._turns[signal.turn]


class _TurnSpans:
    """The spans of one turn."""

    def __init__(self, tracer: Any, signal: TurnBegan) -> None:
        from opentelemetry import trace

        self._trace = trace
        self._tracer = tracer
        self._conversation = {"gen_ai.conversation.id": signal.session}
        self._root = tracer.start_span(
            f"invoke_agent {AGENT}",
            kind=trace.SpanKind.INTERNAL,
            start_time=_ns(signal.at),
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": AGENT,
                **self._conversation,
                **_model(signal.model),
                "jupyter_datalayer_agent.turn.id": signal.turn,
                "jupyter_datalayer_agent.mode": signal.mode,
            },
        )
        self._context = trace.set_span_in_context(self._root)
        self._chat: Any = None
        self._tools: dict[str, Any] = {}

    def model_call_began(self, signal: ModelCallBegan) -> None:
        self._chat = self._child(
            f"chat {_name(signal.model)}",
            self._trace.SpanKind.CLIENT,
            signal.at,
            {
                "gen_ai.operation.name": "chat",
                **_model(signal.model),
                "jupyter_datalayer_agent.attempt": signal.attempt,
            },
        )

    def model_call_ended(self, signal: ModelCallEnded) -> None:
        span, self._chat = self._chat, None
        if span is None:
            return
        if signal.usage is not None:
            span.set_attributes(_usage(signal.usage))
        if signal.status != "ok":
            self._fail(span, signal.error or signal.status)
        span.end(_ns(signal.at))

    def tool_call_began(self, signal: ToolCallBegan) -> None:
        self._tools[signal.call] = self._child(
            f"execute_tool {signal.tool}",
            self._trace.SpanKind.INTERNAL,
            signal.at,
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": signal.tool,
                "gen_ai.tool.type": "function",
                "gen_ai.tool.call.id": signal.call,
            },
        )

    def tool_call_ended(self, signal: ToolCallEnded) -> None:
        span = self._tools.pop(signal.call, None)
        if span is None:
            return
        if signal.status != "ok":
            self._fail(span, signal.status)
        span.end(_ns(signal.at))

    def end(self, signal: TurnEndedSignal) -> None:
        """End the turn's span, and the open ones in it."""
        for span in [*self._tools.values(), *([self._chat] if self._chat else [])]:
            self._fail(span, signal.reason or signal.status)
            span.end(_ns(signal.at))
        self._root.set_attributes(_usage(signal.usage))
        if signal.status != "completed":
            self._fail(self._root, signal.reason or signal.status)
        self._root.end(_ns(signal.at))

    def _child(self, name: str, kind: Any, at: int, attributes: dict[str, Any]) -> Any:
        return self._tracer.start_span(
            name,
            context=self._context,
            kind=kind,
            start_time=_ns(at),
            attributes=attributes | self._conversation,
        )

    def _fail(self, span: Any, why: str) -> None:
        span.set_attribute("error.type", why)
        span.set_status(self._trace.StatusCode.ERROR)


def _ns(at: int) -> int:
    return at * 1_000_000


def _name(model: str) -> str:
    return model.partition("/")[2] or model


def _model(model: str | None) -> dict[str, Any]:
    if not model:
        return {}
    provider, slash, _ = model.partition("/")
    named = {"gen_ai.provider.name": PROVIDERS.get(provider, provider)} if slash else {}
    return {"gen_ai.request.model": _name(model), **named}


def _usage(usage: Any) -> dict[str, Any]:
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
    }
