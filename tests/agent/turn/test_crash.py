"""``kill -9`` of the server in mid-turn: nothing that was shown is lost, the session continues."""

from __future__ import annotations

from pathlib import Path

import requests

from jupyter_datalayer_agent.store.queries.event_log import join_deltas
from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Gate, Say, ScriptedModelServer


def test_kill_9_in_mid_turn(tmp_path: Path) -> None:
    with (
        ScriptedModelServer() as model,
        RunningServer(tmp_path, api_base=model.base_url) as server,
    ):
        write_cars(server.root)
        model.script(
            Call("addNotebookCell", {"type": "markdown", "content": "Added."}),
            Gate(Say("Half of the answer was shown.", chunk=5), after=3),
            Say("I know."),
        )
        session = server.post("sessions", {})["id"]
        events = server.stream(
            "chat/stream",
            {
                "message": "@cars.ipynb remember the number 4711",
                "sessionId": session,
                "mode": "agent",
                "activeNotebook": "cars.ipynb",
            },
        )
        shown = []
        try:
            for event in events:
                shown.append(event)
                text = "".join(e["delta"] for e in shown if e["type"] == "text_delta")
                if text == "Half of the ans":
                    server.kill()
        except requests.exceptions.ChunkedEncodingError:
            pass
        server.start()

        turn = server.get(f"sessions/{session}/turns", include="events")["turns"][0]
        assert turn["status"] == "aborted"
        assert turn["reply"] == "Half of the ans"
        kept = {event["seq"]: event for event in server_events(server, session)}
        # What was streamed may be kept in one piece by now.
        in_short = {event["seq"]: event for event in join_deltas(kept.values())}
        for event in join_deltas(shown):
            assert in_short[event["seq"]] == event
        ends = [e for e in kept.values() if e["type"] in ("turn_completed", "turn_aborted")]
        assert [end["reason"] for end in ends] == ["shutdown"]
        assert [change["after"] for change in turn["changes"]] == ["Added."]

        model.release()
        reply = server.post("chat", {"message": "What number?", "sessionId": session})
        assert reply["reply"] == "I know."
        known = model.requests[-1].text
        assert "4711" in known
        assert "Half of the ans" in known
        assert "The server stopped here" in known


def server_events(server: RunningServer, session: str) -> list[dict[str, object]]:
    seen = []
    for event in server.stream(f"sessions/{session}/events"):
        seen.append(event)
        if event["type"] in ("turn_completed", "turn_aborted"):
            break
    return seen


def test_messages_that_waited_are_taken_after_a_crash(tmp_path: Path) -> None:
    with (
        ScriptedModelServer() as model,
        RunningServer(tmp_path, api_base=model.base_url) as server,
    ):
        model.script(Gate(Say("One.")), Say("Two."))
        session = server.post("sessions", {})["id"]
        for message in ("one", "two"):
            op = {"type": "user_message", "request": {"message": message}}
            server.post(f"sessions/{session}/ops", op)
        # A new server's first message waits for the import of litellm.
        model.wait_for(model.at_gate, timeout=60)
        for event in server.stream(f"sessions/{session}/events"):
            if event["type"] == "op_queued":
                break
        server.kill()
        server.start()
        replies = []
        for event in server.stream(f"sessions/{session}/events"):
            if event["type"] == "final_reply":
                replies.append(event["text"])
            if event["type"] == "turn_completed":
                break
        assert replies == ["Two."]
