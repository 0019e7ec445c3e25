"""The log of a real server during a real turn: structured, and without what was said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_server import Answer, Call, Say, ScriptedModelServer, Status, TokenCounts

KEY = "sk-secret-key-0123456789abcdef"
SAID = ("okapi", "wombat", "quagga", "Horsepowr")
"""Texts of the user, of the model's answer, of a call's arguments, and of its error."""


def a_turn(folder: Path, **environment: str) -> tuple[str, dict[str, Any]]:
    """The log of a server in which one turn ran, and the turn's reply."""
    with (
        ScriptedModelServer() as model,
        RunningServer(
            folder,
            api_base=model.base_url,
            environment={
                "OPENAI_API_KEY": KEY,
                **{f"DATALAYER_AGENT_{name}": value for name, value in environment.items()},
            },
        ) as server,
    ):
        write_cars(server.root)
        failing = {"type": "code", "content": "quagga = {}\nquagga['Horsepowr']", "run": True}
        model.script(
            Call("addNotebookCell", failing, call_id="call_1"),
            Status(429, headers={"Retry-After": "0"}, body={"error": {"message": f"slow, {KEY}"}}),
            Answer([Say(f"A wombat. {KEY}")], usage=TokenCounts(100, 20, 64)),
        )
        reply = server.post(
            "chat",
            {
                "message": f"An okapi? {KEY}",
                "mode": "agent",
                "activeNotebook": "cars.ipynb",
                "attachments": [{"kind": "notebook", "path": "cars.ipynb"}],
            },
        )
        assert model.errors == []
    return server.log.read_text(), reply


def test_json_lines_report_a_turn_and_not_its_texts(tmp_path: Path) -> None:
    log, reply = a_turn(tmp_path, LOG_FORMAT="json", LOG_LEVEL="DEBUG")
    for said in (*SAID, KEY):
        assert said not in log
    lines = [json.loads(line) for line in log.splitlines() if line.startswith('{"time"')]
    of_turn = [line for line in lines if line.get("turn") == reply["turnId"]]
    assert [line["event"] for line in of_turn] == [
        "turn_started",
        "model_call_started",
        "tool_call_started",
        "model_call_ended",
        "tool_call_ended",
        "model_call_started",
        "model_call_ended",
        "model_call_started",
        "model_call_ended",
        "turn_ended",
    ]
    assert {line["session"] for line in of_turn} == {reply["sessionId"]}
    *_, last_call, end = of_turn
    assert (last_call["attempt"], last_call["number"], last_call["status"]) == (2, 3, "ok")
    tokens = ("input_tokens", "output_tokens", "cached_tokens")
    assert [last_call[name] for name in tokens] == [100, 20, 64]
    assert last_call["model"] == "openai/scripted"
    assert last_call["duration_ms"] >= 0
    tool = next(line for line in of_turn if line["event"] == "tool_call_ended")
    assert (tool["tool"], tool["call"]) == ("addNotebookCell", "call_1")
    assert (end["status"], end["mode"], end["level"]) == ("completed", "agent", "info")
    assert end["input_tokens"] == reply["usage"]["inputTokens"]


def test_text_lines_look_as_the_servers_own(tmp_path: Path) -> None:
    log, reply = a_turn(tmp_path, LOG_LEVEL="nonsense")
    for said in (*SAID, KEY):
        assert said not in log
    line = next(line for line in log.splitlines() if "turn_ended" in line)
    assert line.startswith("[I 20")
    assert f"session={reply['sessionId']} turn={reply['turnId']} status=completed" in line
    assert "turn_started" not in log, "that is for the level of debugging"
    assert "DATALAYER_AGENT_LOG_LEVEL is not valid" in log


def test_content_is_logged_where_a_setting_asks_for_it_and_keys_never(
    tmp_path: Path,
) -> None:
    log, _ = a_turn(tmp_path, LOG_FORMAT="json", LOG_LEVEL="DEBUG", LOG_CONTENT="true")
    lines = [json.loads(line) for line in log.splitlines() if line.startswith('{"time"')]
    events = {line["event"]: line for line in lines if "event" in line}
    assert events["turn_started"]["message"].startswith("An okapi? ")
    assert "quagga" in events["tool_call_started"]["arguments"]
    assert "Horsepowr" in events["tool_call_ended"]["output"]
    assert "wombat" in events["turn_ended"]["reply"]
    assert KEY not in log


def test_the_level_is_a_setting(tmp_path: Path) -> None:
    environment = {"DATALAYER_AGENT_LOG_LEVEL": "warning", "DATALAYER_AGENT_LOCKED": '["nothing"]'}
    with RunningServer(tmp_path, environment=environment) as server:
        values = {each["name"]: each for each in server.get("config")["values"]}
        assert not any("datalayer_agent_" in line for line in metrics(server))
    assert (values["log_level"]["value"], values["log_level"]["source"]) == (
        "WARNING",
        "environment",
    )
    log = server.log.read_text()
    assert "No such setting to be locked: nothing" in log
    assert "Migrated" not in log, "which is information"


def metrics(server: RunningServer) -> list[str]:
    """What ``/metrics`` has without the setting that asks for ours."""
    response = server.request("GET", "/metrics")
    assert response.ok
    return response.text.splitlines()
