"""A stop of the panel holds the messages that wait: nothing starts by itself after it."""

from __future__ import annotations

import pytest

from tests.agent.session.test_two_tabs import Tab, new_session, two_tabs
from tests.support.jupyter import RunningServer
from tests.support.model_server import Gate, Say, ScriptedModelServer


def queued(server: RunningServer, session: str) -> list[tuple[str, bool]]:
    waiting = server.get(f"sessions/{session}").get("queued") or []
    return [(each["message"], bool(each.get("held"))) for each in waiting]


def stopped_with_two_waiting(one: Tab, hold: bool = True) -> tuple[str, str]:
    """The ids of the ops that waited when the first turn was stopped."""
    one.say("first")
    one.wait_for("text_delta")
    one.say("second")
    second = one.wait_for("op_queued")["opId"]
    one.say("third")
    third = one.wait_for("op_queued")["opId"]
    one.submit({"type": "interrupt", "hold": hold})
    return second, third


def test_messages_that_wait_when_the_user_stops_are_held_until_they_are_sent(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("One two three", chunk=4), after=1), Say("Fourth."), Say("Third."))
    session = new_session(server)
    with two_tabs(server, session) as (one, two):
        second, third = stopped_with_two_waiting(one)
        for tab in (one, two):
            held = [tab.wait_for("op_held")["opId"] for _ in range(2)]
            assert held == [second, third]
            tab.wait_for("turn_aborted", reason="interrupted")
        assert queued(server, session) == [("second", True), ("third", True)]
        # A new message does not wait for those that are held, and does not take them along.
        one.say("fourth")
        one.wait_for("turn_started", message="fourth")
        one.wait_for("turn_completed")
        assert queued(server, session) == [("second", True), ("third", True)]
        two.submit({"type": "send_now", "opId": third})
        one.wait_for("op_dequeued", opId=third, reason="started")
        one.wait_for("turn_started", message="third")
        one.wait_for("turn_completed")
        two.submit({"type": "dequeue", "opId": second})
        one.wait_for("op_dequeued", opId=second, reason="removed")
    assert queued(server, session) == []
    assert len(model.requests) == 3


def test_held_messages_stay_held_when_the_session_is_loaded_again(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("One two three", chunk=4), after=1), Say("Second."))
    session = new_session(server)
    with two_tabs(server, session) as (one, _):
        second, _third = stopped_with_two_waiting(one)
        one.wait_for("turn_aborted")
    server.kill()
    server.start()
    assert queued(server, session) == [("second", True), ("third", True)]
    with two_tabs(server, session) as (one, two):
        two.submit({"type": "send_now", "opId": second})
        one.wait_for("turn_started", message="second")
        one.wait_for("turn_completed")
    assert queued(server, session) == [("third", True)]
    assert len(model.requests) == 2


def test_a_program_may_chat_in_a_session_with_held_messages(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("One two three", chunk=4), after=1), Say("Answer."))
    session = new_session(server)
    with two_tabs(server, session) as (one, _):
        stopped_with_two_waiting(one)
        one.wait_for("turn_aborted")
    reply = server.post("chat", {"message": "Now this", "sessionId": session})
    assert reply["reply"] == "Answer."
    assert queued(server, session) == [("second", True), ("third", True)]


@pytest.mark.parametrize("location", ["magic", "inline"])
def test_what_waits_where_no_queue_is_shown_is_not_held(
    server: RunningServer, model: ScriptedModelServer, location: str
) -> None:
    model.script(Gate(Say("One two three", chunk=4), after=1), Say("From a cell."))
    session = new_session(server)
    with two_tabs(server, session) as (one, _):
        one.say("first")
        one.wait_for("text_delta")
        request = {"message": "in a cell", "location": location}
        one.submit({"type": "user_message", "request": request})
        one.wait_for("op_queued")
        one.submit({"type": "interrupt", "hold": True})
        one.wait_for("turn_started", message="in a cell")
        one.wait_for("turn_completed")


def test_an_interrupt_without_hold_stops_the_turn_alone(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("One two three", chunk=4), after=1), Say("Second."), Say("Third."))
    session = new_session(server)
    with two_tabs(server, session) as (one, _):
        stopped_with_two_waiting(one, hold=False)
        one.wait_for("turn_started", message="second")
        one.wait_for("turn_started", message="third")
        one.wait_for("turn_completed")


def test_a_conversation_that_is_emptied_keeps_what_is_still_queued(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("One two three", chunk=4), after=1))
    session = new_session(server)
    with two_tabs(server, session) as (one, _):
        stopped_with_two_waiting(one)
        one.wait_for("turn_aborted")
        one.submit({"type": "reset"})
        one.wait_for("session_reset")
    assert queued(server, session) == [("second", True), ("third", True)]
