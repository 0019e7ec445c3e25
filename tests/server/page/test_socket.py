"""``WS page`` on the server's side: who may connect, which page gets requests, what is replayed."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
import requests

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Gate, Say, ScriptedModelServer
from tests.support.page import FakePage


def notebook_answer(message: dict[str, Any]) -> dict[str, Any]:
    """A page with one notebook of one cell, whose text is not on disk."""
    source = "unsaved = 1"
    cell = {
        "id": "c1",
        "index": 0,
        "type": "code",
        "source": source,
        "hash": hashlib.sha256(source.encode()).hexdigest(),
        "executionStatus": "running",
        "selectionStatus": "active",
    }
    if message["method"] == "notebook.read":
        result = {"path": message["params"]["path"], "cells": [cell], "order": ["c1"]}
        return {"ok": True, "result": result}
    return {"ok": False, "error": {"code": "invalid", "message": "not here"}}


def editor_state(*paths: str, active: str | None = None) -> dict[str, Any]:
    """What a page reports."""
    document = {"path": active, "kind": "notebook"} if active else None
    return {
        "type": "editor_state",
        "activeDocument": document,
        "notebooks": [{"path": path} for path in paths],
    }


def test_a_page_without_a_token_is_refused(server: RunningServer) -> None:
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    headers["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ=="
    answer = requests.get(f"{server.url}datalayer-agent/page", headers=headers, timeout=10)
    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"type": "explode"}, "not valid"),
        ({"type": "subscribe", "sessionId": "nobody"}, "nobody"),
        (
            {
                "type": "submit_op",
                "ref": "r1",
                "sessionId": "nobody",
                "op": {"type": "user_message", "request": {"message": "x" * 2_000_000}},
            },
            "limit is 1,000,000",
        ),
    ],
)
def test_a_bad_message_is_refused_and_the_connection_stays(
    server: RunningServer, message: dict[str, Any], expected: str
) -> None:
    with FakePage(server) as page:
        page.send(message)
        refusal = page.wait_for("op_rejected")
        assert expected in refusal["error"]["message"]
        assert refusal.get("ref") == message.get("ref")
        page.send({"type": "hello", "clientId": "page-1"})
        page.wait_for("welcome")


def test_the_live_context_comes_from_the_page_that_asked(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Seen."))
    with (
        FakePage(server, "mine", notebook_answer) as mine,
        FakePage(server, "other", notebook_answer) as other,
    ):
        for page in (mine, other):
            page.send(editor_state("cars.ipynb", active="cars.ipynb"))
        session = server.post("sessions", {})["id"]
        mine.send({"type": "subscribe", "sessionId": session})
        request = {
            "message": "@cars.ipynb what?",
            "mode": "ask",
            "clientId": "mine",
            "location": "panel",
        }
        op = {"type": "user_message", "request": request}
        mine.send({"type": "submit_op", "ref": "r1", "sessionId": session, "op": op})
        assert mine.wait_for("op_accepted")["ref"] == "r1"
        started = mine.wait_for("turn_started")
        assert started["notebookMode"] == "read-only"
        mine.wait_for("turn_completed")
        asked = [message["type"] for message in list(other.received.queue)]
        assert "request" not in asked, "peers 2: never every page"
    text = model.requests[0].text
    assert "unsaved = 1" in text
    assert "running" in text


def test_a_page_that_comes_back_gets_what_it_missed_and_continues_live(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("One two three four.", chunk=4), after=2))
    session = server.post("sessions", {})["id"]
    with FakePage(server) as page:
        page.send({"type": "subscribe", "sessionId": session})
        op = {"type": "user_message", "request": {"message": "hi"}}
        page.send({"type": "submit_op", "ref": "r", "sessionId": session, "op": op})
        seen = page.wait_for("text_delta")
    model.release()
    with FakePage(server) as page:
        page.send({"type": "subscribe", "sessionId": session, "after": seen["seq"]})
        text = seen["delta"]
        last = seen["seq"]
        while (event := page.received.get(timeout=30)).get("event", {}).get("type") not in (
            "turn_completed",
            "turn_aborted",
        ):
            if event["type"] != "event":
                continue
            assert event["event"]["seq"] > last
            last = event["event"]["seq"]
            if event["event"]["type"] == "text_delta":
                text += event["event"]["delta"]
    assert text == "One two three four."


def test_peers_01_a_page_that_refuses_an_edit_is_an_error_and_not_a_success(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("addNotebookCell", {"type": "code", "content": "x"}), Say("Failed."))
    with FakePage(server, "mine", notebook_answer) as page:
        page.send(editor_state("cars.ipynb", active="cars.ipynb"))
        page.send({"type": "hello", "clientId": "mine"})
        page.wait_for("welcome")
        reply = server.post(
            "chat", {"message": "@cars.ipynb add", "mode": "agent", "clientId": "mine"}
        )
    assert reply["toolCalls"][0]["status"] == "error"
    assert reply["changes"] == []


def test_an_op_that_is_sent_again_after_a_lost_answer_is_carried_out_once(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Once."))
    session = server.post("sessions", {})["id"]
    op = {"type": "user_message", "request": {"message": "hi"}}
    message = {"type": "submit_op", "ref": "same", "sessionId": session, "op": op}
    accepted = []
    for _ in range(2):
        with FakePage(server) as page:
            page.send(message)
            accepted.append(page.wait_for("op_accepted")["opId"])
    with FakePage(server) as page:
        page.send({"type": "subscribe", "sessionId": session})
        page.wait_for("turn_completed")
    assert accepted[0] == accepted[1]
    assert len(server.get(f"sessions/{session}/turns")["turns"]) == 1


def test_an_op_that_comes_again_while_the_first_is_under_way_is_carried_out_once(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Once."))
    # Its session is not in memory, so that the first one takes its time.
    session = server.post("sessions", {})["id"]
    server.stop()
    server.start()
    op = {"type": "user_message", "request": {"message": "hi"}}
    message = {"type": "submit_op", "ref": "under way", "sessionId": session, "op": op}
    with FakePage(server) as first:
        first.send(message)
        with FakePage(server) as page:
            page.send({**message, "again": True})
            again = page.wait_for("op_accepted")["opId"]
        assert first.wait_for("op_accepted")["opId"] == again
        first.send({"type": "subscribe", "sessionId": session})
        first.wait_for("turn_completed")
    assert len(server.get(f"sessions/{session}/turns")["turns"]) == 1


def test_a_message_that_comes_again_to_a_server_that_was_started_again_is_carried_out_once(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Once."))
    session = server.post("sessions", {})["id"]
    op = {"type": "user_message", "request": {"message": "hi"}}
    message = {"type": "submit_op", "ref": "restarted", "sessionId": session, "op": op}
    with FakePage(server) as page:
        page.send(message)
        accepted = page.wait_for("op_accepted")["opId"]
    for event in server.stream(f"sessions/{session}/events?after=0"):
        if event["type"] == "turn_completed":
            break
    server.kill()
    server.start()
    with FakePage(server) as page:
        page.send({**message, "again": True})
        assert page.wait_for("op_accepted")["opId"] == accepted
    assert len(server.get(f"sessions/{session}/turns")["turns"]) == 1
