"""Streamed text on its way to those who read it: the same text for all, in few and small frames."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from jupyter_datalayer_agent.agent.event_buffer import WINDOW_SECONDS
from tests.support.jupyter import RunningServer
from tests.support.model_server import Gate, Say, ScriptedModelServer
from tests.support.page import FakePage

ENDS = ("turn_completed", "turn_aborted")
ANSWER = " ".join(f"line {number} says something else" for number in range(300))[:8000]
STREAMED = Say(ANSWER, chunk=16, delay_ms=10)
"""8 kB, 100 pieces a second."""
STREAMED_SECONDS = 5
MESSAGE = {"message": "hi"}


def send(page: FakePage, session: str, kind: str = "user_message", **op: Any) -> None:
    ref = f"{session} {kind}"
    page.send({"type": "submit_op", "ref": ref, "sessionId": session, "op": {"type": kind, **op}})


def deltas(events: list[Any]) -> list[Any]:
    return [event for event in events if event["type"] == "text_delta"]


def text_of(events: list[Any]) -> str:
    return "".join(event["delta"] for event in deltas(events))


def test_a_long_answer_costs_a_page_five_times_its_text_at_most(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(STREAMED)
    session = server.post("sessions", {})["id"]
    streamed: list[Any] = []

    def listen() -> None:
        for event in server.stream(f"sessions/{session}/events"):
            streamed.append(event)
            if event["type"] in ENDS:
                return

    program = threading.Thread(target=listen)
    program.start()
    shown: list[Any] = []
    with FakePage(server) as page:
        page.send({"type": "subscribe", "sessionId": session})
        before = page.frame_bytes
        send(page, session, request=MESSAGE)
        while not shown or shown[-1]["type"] not in ENDS:
            message = page.received.get(timeout=30)
            if message["type"] == "event":
                shown.append(message["event"])
        size = page.frame_bytes - before
    program.join(30)
    assert text_of(shown) == text_of(streamed) == ANSWER
    assert deltas(streamed) == deltas(shown)
    replayed: list[Any] = []
    for event in server.stream(f"sessions/{session}/events"):
        replayed.append(event)
        if event["type"] in ENDS:
            break
    assert text_of(replayed) == ANSWER
    times = [event["at"] for event in deltas(shown)]
    # All but the last, which the answer's end sends off.
    gaps = [later - earlier for earlier, later in itertools.pairwise(times[:-1])]
    assert min(gaps) >= WINDOW_SECONDS * 1000 - 2
    # A machine that is busy streams for longer, and what is not text costs so much more.
    longer = max(1.0, (times[-1] - times[0]) / 1000 / STREAMED_SECONDS)
    assert size - 2 * len(ANSWER) <= (40_000 - 2 * len(ANSWER)) * longer


def test_the_first_piece_of_an_answer_waits_for_no_other(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("One two three.", chunk=4), after=1))
    session = server.post("sessions", {})["id"]
    with FakePage(server) as page:
        page.send({"type": "subscribe", "sessionId": session})
        send(page, session, request=MESSAGE)
        assert page.wait_for("text_delta")["delta"] == "One "
        model.release()
        assert page.wait_for("final_reply")["text"] == "One two three."
        page.wait_for("turn_completed")


def test_a_stop_shows_all_that_was_gathered(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("One two three.", chunk=4), after=3))
    session = server.post("sessions", {})["id"]
    with FakePage(server) as page:
        page.send({"type": "subscribe", "sessionId": session})
        send(page, session, request=MESSAGE)
        text = page.wait_for("text_delta")["delta"]
        while len(text) < len("One two thre"):
            text += page.wait_for("text_delta")["delta"]
        send(page, session, "interrupt")
        page.wait_for("turn_aborted")
    model.release()
    assert text == "One two thre"
    [turn] = server.get(f"sessions/{session}/turns")["turns"]
    assert turn["reply"] == "One two thre"
