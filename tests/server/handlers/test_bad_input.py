"""Bad input gets a clear error that says what to do, and nothing is lost."""

from __future__ import annotations

import contextlib
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Empty, Gate, Say, ScriptedModelServer, Status

CALL = Call("getActiveDocument")


def failed(response: requests.Response, status: int, code: str) -> str:
    """The error's message, after its form has been checked."""
    body = response.json()
    assert response.status_code == status, body
    assert body["error"]["code"] == code
    return str(body["error"]["message"])


def test_health_needs_no_authentication(server: RunningServer) -> None:
    assert requests.get(f"{server.url}datalayer-agent/health", timeout=10).json() == {
        "status": "ok"
    }


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "sessions"), ("GET", "models"), ("GET", "tools"), ("GET", "config"),
        ("GET", "context"), ("GET", "openapi.json"), ("POST", "chat"), ("POST", "chat/stream"),
        ("POST", "tools/getActiveDocument"), ("GET", "sessions/x"), ("POST", "sessions/x/ops"),
        ("GET", "sessions/x/events"), ("GET", "sessions/x/turns"), ("GET", "nothing"),
        ("GET", "page"),
    ],
)  # fmt: skip
def test_every_other_route_needs_it(server: RunningServer, method: str, path: str) -> None:
    answer = requests.request(method, f"{server.url}datalayer-agent/{path}", timeout=10)
    assert answer.status_code == 403


def test_unknown_session(server: RunningServer) -> None:
    for method, path in [
        ("GET", "sessions/nobody"),
        ("GET", "sessions/nobody/turns"),
        ("GET", "sessions/nobody/events"),
        ("DELETE", "sessions/nobody"),
    ]:
        failed(server.request(method, path), 404, "not_found")
    body = {"message": "hi", "sessionId": "nobody"}
    failed(server.request("POST", "chat", json=body), 404, "not_found")


def test_unknown_route(server: RunningServer) -> None:
    assert "openapi.json" in failed(server.request("GET", "nothing/here"), 404, "not_found")


def test_malformed_json(server: RunningServer) -> None:
    answer = server.request("POST", "chat", data="{broken")
    assert "not valid JSON" in failed(answer, 400, "invalid_request")


def test_fields_that_do_not_fit_are_named(server: RunningServer) -> None:
    body = {"message": "hi", "mode": "destroy", "colour": "blue"}
    message = failed(server.request("POST", "chat", json=body), 400, "invalid_request")
    assert "mode" in message
    assert "colour" in message


def test_a_5_mb_message(server: RunningServer) -> None:
    body = {"message": "x" * 5_000_000}
    message = failed(server.request("POST", "chat", json=body), 413, "too_large")
    assert "attach" in message


def test_an_empty_message(server: RunningServer) -> None:
    failed(server.request("POST", "chat", json={"message": "  "}), 400, "invalid_request")


@pytest.mark.parametrize("path", ["../secret.ipynb", "file:///etc/passwd", "link/secret.ipynb"])
def test_a_path_outside_the_root(server: RunningServer, path: str, tmp_path: Path) -> None:
    link = server.root / "link"
    if not link.exists():
        os.symlink(tmp_path, link)
    body = {"message": "hi", "attachments": [{"kind": "notebook", "path": path}]}
    answer = server.request("POST", "chat", json=body)
    assert "root" in failed(answer, 400, "invalid_request")
    result = server.request("POST", "tools/getNotebookCells", json={"arguments": {}, "path": path})
    assert result.status_code == 400


def test_an_attachment_that_does_not_exist(server: RunningServer) -> None:
    body = {"message": "hi", "attachments": [{"kind": "notebook", "path": "none.ipynb"}]}
    assert "none.ipynb" in failed(server.request("POST", "chat", json=body), 404, "not_found")


def test_a_notebook_that_is_not_valid(server: RunningServer) -> None:
    broken = server.root / "broken.ipynb"
    broken.write_text('{"cells": [')
    result = server.post("tools/getNotebookCells", {"arguments": {}, "path": "broken.ipynb"})
    assert not result["ok"]
    assert "broken.ipynb" in result["error"]["message"]
    assert broken.read_text() == '{"cells": ['


def test_peers_07_an_unknown_tool_does_not_end_the_turn(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("getNotebokCells"), Call("runEverything"), Say("Sorry."))
    reply = server.post(
        "chat", {"message": "@cars.ipynb hi", "mode": "agent", "activeNotebook": "cars.ipynb"}
    )
    near, far = [call["output"]["error"] for call in reply["toolCalls"]]
    assert reply["status"] == "completed"
    assert near["code"] == "not_found"
    assert "getNotebookCells" in near["hint"]
    assert far["code"] == "not_found"


def sent_calls(model: ScriptedModelServer) -> str:
    """The calls in the newest request, as JSON."""
    body = model.requests[-1].body
    items = body.get("input") or [
        call["function"] for each in body["messages"] for call in each.get("tool_calls") or []
    ]
    calls = [each for each in items if "arguments" in each]
    return json.dumps([{key: each[key] for key in ("name", "arguments")} for each in calls])


def test_the_name_of_an_unknown_tool_is_kept_as_servers_take_it(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    names = ["run all cells!", "a" * 100, "größe", "datalayer listKernels", "ns:what<|x|>"]
    model.script(*(Call(name) for name in names), Say("Sorry."))
    reply = server.post("chat", {"message": "hi", "mode": "agent", "activeNotebook": None})
    assert reply["status"] == "completed"
    assert [call["status"] for call in reply["toolCalls"]] == ["error"] * len(names)
    names = {call["name"] for call in reply["toolCalls"]}
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names), names
    assert names == set(re.findall(r'"name": "([^"]+)", "arguments"', sent_calls(model)))


def test_peers_07_broken_arguments_are_reported_to_the_model(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        Call("getNotebookCells", '{"start": '),
        Call("getNotebookCells", "[1, 2]"),
        Call("getNotebookCells", {"start": "many"}),
        Call("addNotebookCell", {"type": "code", "content": "1", "position": "below"}),
        Say("Sorry."),
    )
    reply = server.post(
        "chat", {"message": "@cars.ipynb hi", "mode": "agent", "activeNotebook": "cars.ipynb"}
    )
    errors = [call["output"]["error"] for call in reply["toolCalls"]]
    assert reply["status"] == "completed"
    assert [error["code"] for error in errors] == ["invalid_arguments"] * 4
    assert "not valid JSON" in errors[0]["message"]
    assert "schema" in errors[2]["hint"]
    # The user reads it, too: the place and the allowed values, without names of types.
    allowed = "position: Input should be 'start' or 'end', or Input should be an object."
    assert errors[3]["message"].endswith(allowed)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("runNotebookCells", "give cellIds, or all: true"), ("selectKernel", "give kernelId")],
)
def test_arguments_that_do_not_go_together_are_reported_as_that(
    server: RunningServer, name: str, expected: str
) -> None:
    result = server.post(f"tools/{name}", {"arguments": {}, "path": "cars.ipynb"})
    assert result["error"]["code"] == "invalid_arguments"
    assert f"arguments: {expected}" in result["error"]["message"]


@pytest.mark.parametrize("nothing", [Empty(), Say("```"), Say("```python\n```\n"), Say(" \n")])
def test_a_model_that_answers_with_nothing(
    nothing: Empty | Say, server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(nothing, Say("Better."))
    answer = server.request("POST", "chat", json={"message": "hi"})
    message = failed(answer, 502, "model_error")
    assert "empty answer" in message
    again = server.post("chat", {"message": "again", "sessionId": answer.json()["sessionId"]})
    assert again["reply"] == "Better."


def test_peers_07_the_same_failing_call_for_ever(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.set_default(Call("getCellOutputs", {"cellId": "none"}))
    reply = server.post(
        "chat", {"message": "@cars.ipynb hi", "mode": "ask", "activeNotebook": "cars.ipynb"}
    )
    assert reply["status"] == "aborted"
    assert len(reply["toolCalls"]) == 3
    assert "getCellOutputs failed 3 times" in reply["reply"]


def test_peers_07_the_number_of_tool_calls_is_limited(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.set_default(CALL)
    reply = server.post("chat", {"message": "hi", "overrides": {"maxToolCalls": 4}})
    assert reply["status"] == "aborted"
    assert [call["status"] for call in reply["toolCalls"]] == ["ok"] * 4 + ["aborted"]
    assert "Stopped after 4 tool calls" in reply["reply"]


def test_the_token_limit_ends_the_turn_before_the_call(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    body = {"message": "hi", "overrides": {"tokenLimit": 10}}
    message = failed(server.request("POST", "chat", json=body), 429, "token_limit")
    assert "10 allowed" in message
    assert model.requests == []


def test_two_turns_at_once_on_a_session(server: RunningServer, model: ScriptedModelServer) -> None:
    model.script(Gate(Say("One.")), Say("Two."))
    session = server.post("sessions", {})["id"]
    events = server.stream("chat/stream", {"message": "one", "sessionId": session})
    assert next(events)["type"] in ("turn_started", "session_configured")
    model.wait_for(model.at_gate)
    body = {"message": "two", "sessionId": session}
    failed(server.request("POST", "chat", json=body), 409, "turn_in_progress")
    failed(server.request("POST", "chat/stream", json=body), 409, "turn_in_progress")
    queued = server.request(
        "POST", f"sessions/{session}/ops", json={"type": "user_message", "request": body}
    )
    assert queued.status_code == 202
    model.release()
    assert [event["text"] for event in events if event["type"] == "final_reply"] == ["One."]
    texts = []
    for event in server.stream(f"sessions/{session}/events"):
        if event["type"] == "final_reply":
            texts.append(event["text"])
        if len(texts) == 2 and event["type"] == "turn_completed":
            break
    assert texts == ["One.", "Two."]


def test_a_client_that_goes_away_in_mid_stream_does_not_end_the_turn(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("The whole answer.")))
    session = server.post("sessions", {})["id"]
    events = server.stream("chat/stream", {"message": "hi", "sessionId": session})
    next(events)
    model.wait_for(model.at_gate)
    events.close()  # type: ignore[attr-defined]
    model.release()
    seen = server.stream(f"sessions/{session}/events")
    last = next(event for event in seen if event["type"] in ("turn_completed", "turn_aborted"))
    assert last["type"] == "turn_completed"
    turns = server.get(f"sessions/{session}/turns")["turns"]
    assert turns[0]["reply"] == "The whole answer."


def test_an_act_that_needs_approval_with_nobody_there_is_denied_with_the_reason(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("deleteNotebookCells", {"cellIds": ["heading"]}), Say("It was not approved."))
    reply = server.post(
        "chat", {"message": "@cars.ipynb rm", "mode": "agent", "activeNotebook": "cars.ipynb"}
    )
    assert reply["status"] == "completed"
    call = reply["toolCalls"][0]
    assert call["status"] == "denied"
    assert "no user is available" in call["output"]["error"]["message"]
    assert "The user" not in call["output"]["error"]["message"]
    assert reply["changes"] == []


def test_an_op_that_is_not_known(server: RunningServer) -> None:
    session = server.post("sessions", {})["id"]
    answer = server.request("POST", f"sessions/{session}/ops", json={"type": "explode"})
    failed(answer, 400, "invalid_request")


def test_peers_18_a_wrong_key_is_named_and_never_shown(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    body: Any = {"error": {"message": "Incorrect API key provided: sk-test-0123456789abcdef"}}
    model.script(Status(401, body=body))
    answer = server.request("POST", "chat", json={"message": "hi"})
    message = failed(answer, 502, "model_error")
    assert "key" in message
    assert "sk-test-0123456789abcdef" not in answer.text
    assert "sk-test-0123456789abcdef" not in server.log.read_text()
    assert len(model.requests) == 1


def test_peers_15_no_key_is_kept_in_any_file_or_shown_by_any_route(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Hello."))
    reply = server.post("chat", {"message": "hi"})
    key = server.environment["OPENAI_API_KEY"]
    for route in ("models", "config", f"sessions/{reply['sessionId']}/turns", "openapi.json"):
        assert key not in server.request("GET", route).text
    files = [path for path in server.folder.rglob("*") if path.is_file()]
    assert any(path.name == "agent.db" for path in files)
    assert [path for path in files if key.encode() in path.read_bytes()] == []


def test_peers_15_only_the_server_itself_listens_and_only_behind_its_token(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Hello."))
    server.post("chat", {"message": "hi"})
    assert server.process is not None
    listening = listening_ports(server.process.pid)
    assert listening == {server.port}


def listening_ports(pid: int) -> set[int]:
    """The TCP ports on which a process listens (Linux)."""
    sockets = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            sockets.add(os.readlink(link))
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                ports.add(int(fields[1].rsplit(":", 1)[1], 16))
    return ports
