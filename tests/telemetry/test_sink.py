"""What an event costs in the turn that emits it, and that no failure of telemetry reaches one."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import pytest

from jupyter_datalayer_agent.protocol import events
from jupyter_datalayer_agent.protocol.events import BaseEvent
from jupyter_datalayer_agent.protocol.requests import Usage
from jupyter_datalayer_agent.telemetry import logs
from jupyter_datalayer_agent.telemetry.signals import Signal, TokensUsed, TurnEndedSignal
from jupyter_datalayer_agent.telemetry.wiring import MAX_COMPLAINTS, Telemetry, telemetry


def a_turn(turn: str = "turn_1") -> list[BaseEvent]:
    """The events of a turn with one call, 200 pieces of text, and an answer."""
    used = Usage(input_tokens=10, output_tokens=5, total_tokens=15)
    emitted: list[BaseEvent] = [
        events.TurnStarted(mode="agent", notebook_mode="full", tools=[], message="hi"),
        events.ModelStarted(model="openai/scripted", attempt=1),
        *(events.TextDelta(item_id="i", delta="word ") for _ in range(200)),
        events.ToolCallStarted(call_id="c", name="getNotebookCells"),
        events.ToolCallArguments(call_id="c", arguments={}),
        events.TokenUsage(usage=used, call=used),
        events.ToolCallOutput(call_id="c", name="getNotebookCells", status="ok", duration_ms=3),
        events.FinalReply(text="Done."),
        events.TurnCompleted(duration_ms=100, usage=used),
    ]
    for number, event in enumerate(emitted, 1):
        event.seq, event.turn_id, event.at = number, turn, 1_000 + number
    return emitted


def test_an_event_costs_microseconds_beside_what_it_costs_to_write_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Writing an event means making its JSON, once for all listeners: the cheapest part of it."""
    # The three lines of a turn cost as much as its 208 events where they are logged, which here
    # depends on whether a server was there before in this process.
    caplog.set_level(logging.WARNING, logger=logs.__name__)
    sink = telemetry(
        None, metrics=True, log_content=False, version="1", redact=str,
        is_tool=lambda name: True, is_model=lambda name: True,
    )  # fmt: skip
    turn = a_turn()

    def seconds(act: Callable[[BaseEvent], object]) -> float:
        # Of this thread: the core may be another process's meanwhile.
        began = time.thread_time()
        for event in turn:
            act(event)
        return time.thread_time() - began

    # In turns, so that a busy moment of the machine meets both.
    rounds = [
        (seconds(lambda event: sink("s", event)), seconds(lambda event: event.to_wire()))
        for _ in range(60)
    ]
    sunk, written = map(min, zip(*rounds, strict=True))
    assert sunk < written, f"{sunk / len(turn) * 1e6:.1f} µs an event"


def test_a_sink_that_fails_keeps_no_other_from_reporting(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[Signal] = []

    def broken(signal: Signal) -> None:
        raise RuntimeError("no disk")

    sink = Telemetry([broken, heard.append])
    with caplog.at_level(logging.ERROR):
        for number in range(3):
            for event in a_turn(f"turn_{number}"):
                sink("s", event)
    assert sum(isinstance(signal, TurnEndedSignal) for signal in heard) == 3
    assert len(caplog.records) == MAX_COMPLAINTS, "it is logged, and not without end"
    assert sink.signals.running == 0


def test_a_turn_whose_start_was_not_seen_is_reported_as_far_as_it_was() -> None:
    """As after a restart: what was used before is not counted again."""
    heard: list[Signal] = []
    sink = Telemetry([heard.append])
    before = Usage(input_tokens=1000, total_tokens=1000)
    call = Usage(input_tokens=10, total_tokens=10)
    together = Usage(input_tokens=1010, total_tokens=1010)
    for event in (
        events.ModelStarted(model="m", attempt=1),
        events.TokenUsage(usage=together, call=call),
        events.TurnAborted(reason="interrupted"),
    ):
        event.turn_id, event.at = "turn_9", 5
        sink("s", event)
    used = [signal.usage for signal in heard if isinstance(signal, TokensUsed)]
    assert used == [call]
    assert before not in used
    ended = heard[-1]
    assert isinstance(ended, TurnEndedSignal)
    assert (ended.mode, ended.status, ended.reason) == (None, "aborted", "interrupted")
    assert sink.signals.running == 0
