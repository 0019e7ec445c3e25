"""Stop at any moment: every message is in one turn with one end, and nothing fails inside."""

from __future__ import annotations

import random
import time
from collections import Counter
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer
from tests.support.sessions import turns

ENDS = ("turn_completed", "turn_aborted")


def events_of(server: RunningServer, session: str, until: Any) -> list[dict[str, Any]]:
    """The session's events from its first, until ``until`` says of them that they are all."""
    seen: list[dict[str, Any]] = []
    for event in server.stream(f"sessions/{session}/events?after=0"):
        seen.append(event)
        if until(seen):
            return seen
    raise AssertionError("The stream ended.")


def message(text: str) -> dict[str, Any]:
    return {"type": "user_message", "request": {"message": text}}


@pytest.mark.parametrize("seed", [1, 2])
def test_each_of_many_messages_that_are_stopped_early_is_in_one_turn_with_one_end(
    server: RunningServer, model: ScriptedModelServer, seed: int
) -> None:
    moments = random.Random(seed)
    model.script(*[Say("A few words.", chunk=4, delay_ms=5) for _ in range(60)])
    session = server.post("sessions", {})["id"]
    sent = []
    for number in range(42):
        op = server.post(f"sessions/{session}/ops", message(f"message {number}"))
        sent.append(op["opId"])
        time.sleep(moments.choice([0, 0, 0.005, 0.01, 0.02, 0.04, 0.08]))
        server.post(f"sessions/{session}/ops", {"type": "interrupt"})
    server.post(f"sessions/{session}/ops", message("the last one"))

    def all_ended(seen: list[dict[str, Any]]) -> bool:
        begun = [each for each in seen if each["type"] == "turn_started"]
        ended = [each for each in seen if each["type"] in ENDS]
        last = any(each["message"] == "the last one" for each in begun)
        return last and len(ended) >= len(begun)

    seen = events_of(server, session, all_ended)
    assert [each for each in seen if each["type"] == "error"] == []
    begun = Counter(each["opId"] for each in seen if each["type"] == "turn_started")
    queued = {each["opId"] for each in seen if each["type"] == "op_queued"}
    left = {each["opId"] for each in seen if each["type"] == "op_dequeued"}
    waits = queued - left
    assert {op: begun[op] + (op in waits) for op in sent} == dict.fromkeys(sent, 1)
    ends = Counter(each["turnId"] for each in seen if each["type"] in ENDS)
    assert set(ends.values()) == {1}
    stored = turns(server, session, limit=100)
    assert len(stored) == len(ends)
    assert {turn["status"] for turn in stored} <= {"completed", "aborted"}


def test_a_message_that_is_sent_now_while_the_turn_ends_has_its_turn(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    moments = random.Random(3)
    model.script(*[Say("A few words.", chunk=4, delay_ms=5) for _ in range(60)])
    session = server.post("sessions", {})["id"]
    sent = []
    for number in range(15):
        for which in ("first", "second"):
            op = server.post(f"sessions/{session}/ops", message(f"{which} {number}"))
            sent.append(op["opId"])
        # Around the end of the first one's turn, which takes some 30 ms.
        time.sleep(moments.uniform(0, 0.06))
        server.post(f"sessions/{session}/ops", {"type": "send_now", "opId": sent[-1]})

    def all_ended(seen: list[dict[str, Any]]) -> bool:
        begun = {each["opId"] for each in seen if each["type"] == "turn_started"}
        ended = [each for each in seen if each["type"] in ENDS]
        return begun >= set(sent) and len(ended) >= len(sent)

    seen = events_of(server, session, all_ended)
    begun = Counter(each["opId"] for each in seen if each["type"] == "turn_started")
    assert begun == Counter(sent)
    ends = Counter(each["turnId"] for each in seen if each["type"] in ENDS)
    assert set(ends.values()) == {1}
    # A message that had its turn already cannot be sent once more, and that is all that is refused.
    refused = [each["message"] for each in seen if each["type"] == "error"]
    assert set(refused) <= {"This message is no longer queued."}
    replaced = [each for each in seen if each["type"] in ENDS and each.get("reason") == "replaced"]
    assert replaced
