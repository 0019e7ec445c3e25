"""Jupyter's event system during real turns: every event by its schema, and nothing that is said."""

from __future__ import annotations

import io
import json
import logging
from typing import Any

import pytest
from jupyter_events import EventLogger

from jupyter_datalayer_agent.telemetry.jupyter_events import SCHEMAS, schema_id
from tests.support.model_server import (
    Answer,
    Call,
    Calls,
    Say,
    ScriptedModelServer,
    Status,
    TokenCounts,
)
from tests.telemetry.conftest import KEY, Chat

NAMES = [
    "error", "model_call_start", "model_call_stop", "token_usage", "tool_call_start",
    "tool_call_stop", "turn_end", "turn_start",
]  # fmt: skip


class Collected:
    """What a handler of the operator's is given: events that passed their schemas."""

    def __init__(self, logger: EventLogger) -> None:
        self._stream = io.StringIO()
        handler = logging.StreamHandler(self._stream)
        if logger.handlers is None:
            logger.handlers = []
        logger.register_handler(handler)

    def events(self) -> list[tuple[str, dict[str, Any]]]:
        lines = [json.loads(line) for line in self._stream.getvalue().splitlines()]
        return [
            (line["__schema__"].split("/")[-2], line)
            for line in lines
            if line["__schema__"].startswith(schema_id("x").rpartition("x/")[0])
        ]

    def text(self) -> str:
        return self._stream.getvalue()


def test_there_is_a_schema_for_each_event() -> None:
    assert sorted(file.stem for file in SCHEMAS.glob("*.yaml")) == NAMES


async def test_a_turn_reports_its_start_its_calls_and_its_end(
    jp_serverapp: Any, model: ScriptedModelServer, chat: Chat
) -> None:
    collected = Collected(jp_serverapp.event_logger)
    model.script(
        Status(429, headers={"Retry-After": "0"}),
        Calls([Call("getNotebookCells"), Call("updateNotebookCell", {"cellId": "no-such"})]),
        Answer([Say("A wombat.")], usage=TokenCounts(100, 20, 64)),
    )
    reply = await chat("Which animal? An okapi?")
    events = collected.events()
    assert [name for name, _ in events] == [
        "turn_start",
        "model_call_start",
        "model_call_stop",
        "model_call_start",
        "tool_call_start",
        "tool_call_start",
        "model_call_stop",
        "token_usage",
        "tool_call_stop",
        "tool_call_stop",
        "model_call_start",
        "model_call_stop",
        "token_usage",
        "turn_end",
    ]
    assert {each["session"] for _, each in events} == {reply["sessionId"]}
    assert {each["turn"] for _, each in events} == {reply["turnId"]}
    stops = [each for name, each in events if name == "model_call_stop"]
    assert [(each["call"], each["attempt"], each["status"]) for each in stops] == [
        (1, 1, "error"),
        (2, 2, "ok"),
        (3, 1, "ok"),
    ]
    tools = [each for name, each in events if name == "tool_call_stop"]
    assert [(each["tool"], each["status"]) for each in tools] == [
        ("getNotebookCells", "ok"),
        ("updateNotebookCell", "error"),
    ]
    used = [each for name, each in events if name == "token_usage"]
    assert (used[-1]["input_tokens"], used[-1]["output_tokens"], used[-1]["cached_tokens"]) == (
        100, 20, 64,
    )  # fmt: skip
    end = events[-1][1]
    assert end["status"] == "completed"
    assert end["input_tokens"] == reply["usage"]["inputTokens"] == used[0]["input_tokens"] + 100
    for said in ("wombat", "okapi", "no-such", KEY, "Cars"):
        assert said not in collected.text()


async def test_a_turn_that_fails_reports_its_error(
    jp_serverapp: Any, model: ScriptedModelServer, chat: Chat
) -> None:
    collected = Collected(jp_serverapp.event_logger)
    model.script(Status(401, body={"error": {"message": f"no such key {KEY}"}}))
    with pytest.raises(Exception, match="502"):
        await chat("hello")
    events = dict(collected.events())
    assert events["error"]["code"] == "model_error"
    assert (events["turn_end"]["status"], events["turn_end"]["reason"]) == ("failed", "error")
    assert events["model_call_stop"]["status"] == "error"
    assert KEY not in collected.text()
