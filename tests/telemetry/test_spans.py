"""OpenTelemetry spans of a real turn, with a real SDK and its exporter in memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.support.model_server import Answer, Call, Say, ScriptedModelServer, TokenCounts
from tests.telemetry.conftest import Chat


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """An SDK as an operator configures it. A process takes a provider only once, so it is put in
    the place of the one that is asked for."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield exporter
    provider.shutdown()


async def test_a_turn_is_a_span_with_its_calls_in_it(
    jp_serverapp: Any, model: ScriptedModelServer, chat: Chat, exported: InMemorySpanExporter
) -> None:
    model.script(
        Call("updateNotebookCell", {"cellId": "no-such"}, call_id="call_1"),
        Answer([Say("A wombat.")], usage=TokenCounts(100, 20, 64)),
    )
    reply = await chat("An okapi?")
    spans = {span.name: span for span in exported.get_finished_spans()}
    chats = [span for span in exported.get_finished_spans() if span.name == "chat scripted"]
    turn = spans["invoke_agent Jupyter Datalayer Agent"]
    tool = spans["execute_tool updateNotebookCell"]
    assert len(chats) == 2
    assert len(exported.get_finished_spans()) == 4
    assert all(_parent(span) == turn.context.span_id for span in [tool, *chats])
    assert (turn.kind, chats[0].kind) == (trace.SpanKind.INTERNAL, trace.SpanKind.CLIENT)
    for span in (turn, tool, *chats):
        assert span.attributes is not None
        assert span.attributes["gen_ai.conversation.id"] == reply["sessionId"]
        assert span.start_time <= span.end_time
    attributes = chats[1].attributes
    assert attributes["gen_ai.operation.name"] == "chat"
    assert attributes["gen_ai.provider.name"] == "openai"
    assert attributes["gen_ai.request.model"] == "scripted"
    assert attributes["gen_ai.usage.input_tokens"] == 100
    assert attributes["gen_ai.usage.output_tokens"] == 20
    assert attributes["gen_ai.usage.cache_read.input_tokens"] == 64
    assert turn.attributes["gen_ai.usage.input_tokens"] == reply["usage"]["inputTokens"]
    assert turn.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert tool.attributes["gen_ai.operation.name"] == "execute_tool"
    assert tool.attributes["gen_ai.tool.call.id"] == "call_1"
    assert (tool.attributes["error.type"], tool.status.is_ok) == ("error", False)
    text = "".join(span.to_json() for span in exported.get_finished_spans())
    assert "wombat" not in text
    assert "okapi" not in text


def _parent(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent is not None else None


def test_without_an_sdk_nothing_of_opentelemetry_is_imported() -> None:
    code = """
import sys
from jupyter_datalayer_agent.telemetry.wiring import telemetry
from jupyter_datalayer_agent.protocol.events import TurnStarted
sink = telemetry(None, metrics=False, log_content=False, version="1", redact=str,
                 is_tool=bool, is_model=bool)
sink("s", TurnStarted(mode="ask", notebook_mode="off", tools=[], turn_id="t"))
heavy = ("opentelemetry", "prometheus_client")
print([name for name in sys.modules if name.split(".")[0] in heavy])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
