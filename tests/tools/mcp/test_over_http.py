"""MCP servers in turns and in the panel's routes, over a real Jupyter server."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.jupyter import RunningServer
from tests.support.mcp.http_fixture import http_server
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.page import FakePage, request_in_page

from .client import fixture

SECRET = "hush-5f2d8c1e9b7a4630"


def config(server: RunningServer) -> Path:
    return Path(server.environment["JUPYTER_CONFIG_DIR"], "mcp.json")


@pytest.fixture
def clean(server: RunningServer) -> Iterator[RunningServer]:
    """The shared server, without MCP servers before and after."""
    config(server).parent.mkdir(exist_ok=True)
    with FakePage(server, client_id="of-the-user"):
        yield server
    for each in server.get("mcp-servers")["servers"]:
        if each["source"] == "user":
            server.request("DELETE", f"mcp-servers/{each['name']}")
    config(server).unlink(missing_ok=True)
    (server.root / "mcp.json").unlink(missing_ok=True)


def put(server: RunningServer, name: str, entry: dict[str, Any]) -> dict[str, Any]:
    response = request_in_page(server, "PUT", f"mcp-servers/{name}", json=entry)
    assert response.ok, response.text
    [found] = [each for each in response.json()["servers"] if each["name"] == name]
    return dict(found)


def patch(server: RunningServer, name: str, body: dict[str, Any]) -> dict[str, Any]:
    response = request_in_page(server, "PATCH", f"mcp-servers/{name}", json=body)
    assert response.ok, response.text
    return dict(response.json())


def turn(
    server: RunningServer, decision: str = "deny", mode: str = "agent", **more: Any
) -> list[dict[str, Any]]:
    """The events of a turn whose approvals are decided so."""
    session = server.post("sessions", {})["id"]
    events = []
    request = {"message": "go", "mode": mode, "sessionId": session, **more}
    for event in server.stream("chat/stream", request):
        events.append(event)
        if event["type"] == "approval_requested":
            op = {"type": "approval_decision", "decision": decision}
            server.post(f"sessions/{session}/ops", {**op, "approvalId": event["approvalId"]})
        if event["type"] in ("turn_completed", "turn_aborted"):
            return events
    raise AssertionError("the turn has no end")


def of(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == kind]


def sent_tools(model: ScriptedModelServer) -> list[str]:
    return [
        each.get("name") or each["function"]["name"] for each in model.requests[-1].body["tools"]
    ]


def test_without_servers_a_request_is_byte_for_byte_the_same(
    clean: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("One."), Say("Two."), Say("Three."))

    def fixed() -> str:
        clean.post("chat", {"message": "go", "mode": "agent"})
        body = dict(model.requests[-1].body)
        # The system prompt is a message or a field of its own, by the API.
        body["messages"] = body.get("messages", [])[:1]
        body.pop("input", None)
        return json.dumps(body)

    before = fixed()
    config(clean).write_text("{broken")
    assert fixed() == before
    config(clean).write_text('{"mcpServers": {}}')
    assert fixed() == before
    assert "mcp" not in before


def test_a_tool_is_called_when_the_user_approves_and_not_when_not(
    clean: RunningServer, model: ScriptedModelServer
) -> None:
    config(clean).write_text(json.dumps({"mcpServers": {"fix": fixture("plain")}}))
    call = Call("fix__echo", {"text": "from the server"})
    model.script(call, Say("Denied."), call, Say("Approved."), call, Say("Nobody."))
    denied = turn(clean)
    assert {"type": "status", "message": "Starting fix"}.items() <= of(denied, "status")[0].items()
    assert "fix__echo" in sent_tools(model)
    [asked] = of(denied, "approval_requested")
    assert (asked["name"], asked["arguments"]) == ("fix__echo", {"text": "from the server"})
    assert "MCP server fix" in asked["reason"]
    assert of(denied, "tool_call_started")[0]["label"]["action"] == "Use echo of fix"
    assert of(denied, "tool_call_output")[0]["status"] == "denied"
    [output] = of(turn(clean, "approve"), "tool_call_output")
    assert (output["status"], output["output"]) == ("ok", '"from the server"')
    assert output["summary"] == "Used echo of fix"
    reply = clean.post("chat", {"message": "go", "mode": "agent"})
    assert reply["toolCalls"][0]["status"] == "denied"
    assert "no user is available" in str(reply["toolCalls"][0]["output"])


def test_what_is_trusted_and_what_reads(clean: RunningServer, model: ScriptedModelServer) -> None:
    info = put(clean, "fix", fixture("plain"))
    assert (info["state"], info["saysItIs"], len(info["tools"])) == ("running", "fixture 1", 4)
    assert {each["trust"] for each in info["tools"]} == {"ask"}
    call = Call("fix__echo", {"text": "hi"})
    model.script(call, Say("Not there."), call, Say("Trusted."), call, Say("Reads."))
    refused = turn(clean, mode="ask")
    assert of(refused, "tool_call_output")[0]["needs"] == "mode"
    assert "fix__echo" not in sent_tools(model)
    patch(clean, "fix", {"tools": {"echo": {"trust": "call"}}})
    trusted = turn(clean)
    assert of(trusted, "approval_requested") == []
    assert of(trusted, "tool_call_output")[0]["status"] == "ok"
    reply = patch(clean, "fix", {"trust": "read"})
    assert {each["trust"] for each in reply["servers"][0]["tools"]} == {"read"}
    read = turn(clean, mode="ask")
    assert "fix__echo" in sent_tools(model)
    assert of(read, "tool_call_output")[0]["status"] == "ok"
    assert "fix__echo" in {each["name"] for each in clean.get("tools", mode="ask")["tools"]}
    patch(clean, "fix", {"enabled": False})
    assert "fix__echo" not in {each["name"] for each in clean.get("tools")["tools"]}


def test_a_server_that_fails_ends_its_call_and_not_the_turn(
    clean: RunningServer, model: ScriptedModelServer
) -> None:
    put(clean, "fix", fixture("plain", "bad"))
    patch(clean, "fix", {"trust": "call"})
    model.script(
        Call("fix__dies"), Call("fix__large"), Call("fix__parts"), Call("fix__fails"), Say("Well.")
    )
    events = turn(clean)
    assert events[-1]["type"] == "turn_completed"
    outputs = of(events, "tool_call_output")
    assert [each["status"] for each in outputs] == ["error", "ok", "ok", "error"]
    assert outputs[1]["truncated"]
    assert len(outputs[1]["output"]) < 50_000
    # The picture is part of what the model is sent.
    assert "data:image/png;base64," in json.dumps(model.requests[-1].body)
    assert of(events, "final_reply")[0]["notDone"]["kind"] == "call_failed"


def test_answers_are_kept_from_the_model_where_outputs_are(
    clean: RunningServer, model: ScriptedModelServer
) -> None:
    put(clean, "fix", fixture("plain"))
    patch(clean, "fix", {"trust": "call"})
    model.script(Call("fix__echo", {"text": "walnut"}), Call("fix__parts"), Say("Well."))
    session = clean.post("sessions", {"settings": {"outputs": "never"}})["id"]
    request = {"message": "go", "mode": "agent", "sessionId": session}
    events = list(clean.stream("chat/stream", request))
    assert of(events, "tool_call_output")[0]["output"] == '"walnut"'
    sent = json.dumps(model.requests[-1].body)
    assert "answer of 6 characters withheld by the setting" in sent
    assert "data:image" not in sent
    # The model wrote it itself into the call.
    assert sent.count("walnut") == 1


def test_500_tools_are_searched_and_make_a_request_a_little_longer(
    clean: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Before."))
    turn(clean)
    own = sent_tools(model)
    put(clean, "fix", fixture("many"))
    call = {"name": "fix__thing_42", "arguments": {"x": 1}}
    model.script(Call("searchTools", {"query": "thing 42"}), Call("callTool", call), Say("Done."))
    events = turn(clean, "approve")
    assert sent_tools(model) == [*own, "searchTools", "callTool"]
    [asked] = of(events, "approval_requested")
    assert (asked["name"], asked["label"]["action"]) == ("fix__thing_42", "Use thing_42 of fix")
    assert of(events, "tool_call_output")[-1]["name"] == "fix__thing_42"
    assert clean.get("mcp-servers")["isSearched"]
    model.script(Say("Nothing to search."))
    turn(clean, mode="ask")
    assert "searchTools" not in sent_tools(model)
    # A comparison cannot call what it would find, though it only reads.
    patch(clean, "fix", {"trust": "read"})
    model.script(Say("One."))
    turn(clean, mode="ask")
    assert {"searchTools", "callTool"} <= set(sent_tools(model))
    model.script(Say("Two."), Say("Three."))
    turn(clean, compare=["openai/alpha", "openai/beta"])
    assert not {"searchTools", "callTool"} & set(sent_tools(model))


def test_the_file_of_the_server_root_starts_nothing_until_it_is_allowed(
    clean: RunningServer, model: ScriptedModelServer
) -> None:
    log = clean.folder / "folder-log"
    path = clean.root / "mcp.json"
    fix = fixture("plain", MCP_FIXTURE_LOG=str(log), PLACE="${HOME}")
    entry = {"mcpServers": {"fix": fix}}
    path.write_text(json.dumps(entry))
    model.script(Say("Nothing."), Say("Nothing."))
    turn(clean)
    reply = clean.get("mcp-servers")
    folder = reply["folder"]
    assert (reply["servers"], folder["allowed"], folder["path"]) == ([], False, str(path))
    [shown] = folder["servers"]
    assert (shown["command"], shown["args"]) == (fix["command"], fix["args"])
    assert (shown["sets"], shown["reads"]) == (["MCP_FIXTURE_LOG", "PLACE"], ["HOME"])
    wrong = {"contentHash": "0" * 64, "allowed": True}
    assert clean.request("PUT", "mcp-folder-file", json=wrong).status_code == 400
    for method, route in (("POST", "mcp-servers/fix/start"), ("GET", "mcp-servers/fix/log")):
        assert clean.request(method, route).status_code == 404
    assert not log.exists()
    right = {"contentHash": folder["contentHash"], "allowed": True}
    allowed = clean.request("PUT", "mcp-folder-file", json=right).json()
    assert [each["source"] for each in allowed["servers"]] == ["folder"]
    turn(clean)
    assert "fix__echo" in sent_tools(model)
    assert log.exists()
    assert clean.request("DELETE", "mcp-servers/fix").status_code == 400
    path.write_text(json.dumps(entry).replace("plain", "many"))
    changed = clean.get("mcp-servers")
    assert (changed["servers"], changed["folder"]["hasChanged"]) == ([], True)


def test_values_stay_in_the_file(clean: RunningServer, model: ScriptedModelServer) -> None:
    entry = fixture("plain", FIXTURE_TOKEN=SECRET)
    replies = [json.dumps(put(clean, "fix", entry))]
    assert '"env": ["FIXTURE_TOKEN"]' in replies[0]
    # The page sends back what it knows, and the value stays.
    put(clean, "fix", {**entry, "env": {"FIXTURE_TOKEN": None}})
    assert json.loads(config(clean).read_text())["mcpServers"]["fix"]["env"] == entry["env"]
    model.script(Call("fix__env"), Say("Done."))
    replies.append(json.dumps(turn(clean, "approve")))
    for route in ("mcp-servers", "mcp-servers/fix/log", "tools", "openapi.json", "config"):
        replies.append(clean.request("GET", route).text)
    wrong = {"name": "x", "command": "no-such", "env": {"A": SECRET}}
    replies.append(clean.request("POST", "mcp-servers", json=wrong).text)
    for bad in ({"env": SECRET}, {"url": "http://h", "headers": {"X-Key": f"{SECRET}\n"}}):
        replies.append(clean.request("PUT", "mcp-servers/other", json=bad).text)
    assert "[redacted]" in clean.request("GET", "mcp-servers/fix/log").text
    assert not [each for each in replies if SECRET in each]
    found = [
        str(path.relative_to(clean.folder))
        for path in clean.folder.rglob("*")
        if path.is_file() and SECRET.encode() in path.read_bytes()
    ]
    assert found == ["home/config/mcp.json"]
    assert config(clean).stat().st_mode & 0o077 == 0
    # Nor does the agent read it, where it is under the root.
    with sqlite3.connect(next(clean.folder.rglob("agent.db"))) as database:
        assert database.execute("select count(*) from events").fetchone()[0]


def test_a_server_is_tried_without_saving_it(clean: RunningServer) -> None:
    tried = clean.post("mcp-servers", {"name": "fix", **fixture("plain")})
    assert tried["ok"], tried
    assert tried["message"] == "Works: 4 tools (fixture 1)"
    for entry, problem in (
        (fixture("broken"), "No licence was found."),
        ({"command": "no-such-program"}, "was not found"),
        ({"url": "file:///etc"}, "http:// or https://"),
    ):
        failed = clean.post("mcp-servers", {"name": "fix", **entry})
        assert (failed["ok"], problem in failed["message"]) == (False, True), failed
    assert clean.get("mcp-servers")["servers"] == []
    assert not config(clean).exists()


def test_a_bad_file_is_named_with_its_line_and_left_as_it_is(clean: RunningServer) -> None:
    config(clean).write_text('{"mcpServers": {\n  "fix": {"command": 3}\n}}')
    [problem] = clean.get("mcp-servers")["problems"]
    assert problem.startswith(f"{config(clean)}, line 2: fix:")
    config(clean).write_text("{broken")
    refused = clean.request("PUT", "mcp-servers/new", json={"command": "x"})
    assert refused.status_code == 400
    assert "could not be written" in refused.text
    assert config(clean).read_text() == "{broken"


def test_an_administrator_switches_it_off(tmp_path: Path) -> None:
    arguments = ["--DatalayerAgentApp.mcp_servers=False"]
    with RunningServer(tmp_path, arguments=arguments) as server:
        config(server).parent.mkdir(exist_ok=True)
        config(server).write_text(json.dumps({"mcpServers": {"fix": fixture("plain")}}))
        reply = server.get("mcp-servers")
        assert (reply["servers"], "administrator" in reply["locked"]) == ([], True)
        for method, route, body in (
            ("PUT", "mcp-servers/new", {"command": "x"}),
            ("POST", "mcp-servers", {"name": "x", "command": "x"}),
            ("POST", "mcp-servers/fix/start", None),
            ("PATCH", "mcp-servers/fix", {}),
            ("DELETE", "mcp-servers/fix", None),
            ("PUT", "mcp-folder-file", {"contentHash": "", "allowed": True}),
        ):
            assert server.request(method, route, json=body).status_code == 403


def test_nothing_survives_the_jupyter_server_however_it_ends(tmp_path: Path) -> None:
    for is_killed in (True, False):
        with (
            http_server("plain") as http,
            RunningServer(tmp_path, arguments=["--debug"]) as server,
        ):
            config(server).parent.mkdir(exist_ok=True)
            address = f"{http.url}?key=in-{SECRET}"
            put(server, "http", {"url": address, "headers": {"X-Key": SECRET}})
            assert http.seen[-1]["x-key"] == SECRET
            put(server, "fix", fixture("bad", "stays"))
            called = server.post("tools/fix__starts", {})
            child = psutil.Process(int(called["output"]))
            family = [child, *child.parents()[:2]]
            assert any("guard.py" in " ".join(each.cmdline()) for each in family)
            server.kill() if is_killed else server.stop()
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline and any(map(is_running, family)):
                time.sleep(0.02)
            assert not any(map(is_running, family))
            log = server.log.read_text()
            assert "/mcp-servers/http" in log
            assert SECRET not in log


def is_running(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
