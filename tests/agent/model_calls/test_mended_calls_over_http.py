"""Calls whose name or arguments are not as they were sent: mended where one reading fits exactly,
else the model hears what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_request import RecordedRequest
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.sessions import new_notebook, sources

CODE = 'print("six",\n      6 * 7)'
ARGUMENTS = {"type": "code", "content": CODE, "position": {"after": "c0"}}
JSON = json.dumps(ARGUMENTS)


@pytest.fixture(scope="module")
def server(server_of_api: RunningServer) -> RunningServer:
    return server_of_api


@pytest.fixture(autouse=True)
def notebook(server: RunningServer) -> Path:
    path = server.root / "a.ipynb"
    new_notebook(path, "x = 1", "x")
    return path


def ask(server: RunningServer) -> dict[str, Any]:
    reply: dict[str, Any] = server.post(
        "chat",
        {
            "message": "Add a cell",
            "mode": "agent",
            "attachments": [{"kind": "notebook", "path": "a.ipynb"}],
            "activeNotebook": "a.ipynb",
        },
    )
    assert reply["status"] == "completed", reply
    return reply


def calls_in(request: RecordedRequest) -> list[dict[str, Any]]:
    """The calls of the history, as the API has them."""
    made = [each for each in request.items if each.get("type") == "function_call"]
    for message in request.items:
        made += [each["function"] for each in message.get("tool_calls") or []]
    return made


@pytest.mark.parametrize(
    "arguments",
    [
        f"```json\n{JSON}\n```",
        json.dumps(JSON),
        json.dumps({**ARGUMENTS, "position": json.dumps(ARGUMENTS["position"])}),
        repr(ARGUMENTS),
        JSON[:-1] + ",}",
        JSON.replace("\\n", "\n"),
        JSON.replace("{", "{'run': False, ", 1),
        JSON.replace('"type"', "type").replace('"position"', "position"),
    ],
)
def test_arguments_are_mended(
    server: RunningServer, model: ScriptedModelServer, notebook: Path, arguments: str
) -> None:
    model.script(Call("addNotebookCell", arguments), Say("Added."))
    reply = ask(server)
    assert sources(notebook) == ["x = 1", CODE, "x"]
    [call] = reply["toolCalls"]
    assert {**call["arguments"], "run": False} == {**ARGUMENTS, "run": False}
    assert call["status"] == "ok"
    # The model sees the call as it was understood.
    [made] = calls_in(model.requests[1])
    assert json.loads(made["arguments"]) == call["arguments"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (JSON[:-1], "The arguments are not valid JSON"),
        (JSON[:30], "The arguments are not valid JSON"),
        ('{"content": "print("a")"}', "The arguments are not valid JSON"),
        ("{'content': 'x', 'code': 'y'}", "The arguments are not valid JSON"),
        (json.dumps(json.dumps(JSON[:-1])), "must be a JSON object, not str"),
        (json.dumps({**ARGUMENTS, "position": "c0"}), "position: "),
        ("[1]", "must be a JSON object, not list"),
    ],
)
def test_what_would_have_to_be_guessed_goes_back_to_the_model(
    server: RunningServer,
    model: ScriptedModelServer,
    notebook: Path,
    arguments: str,
    problem: str,
) -> None:
    model.script(Call("addNotebookCell", arguments), Say("It failed."))
    reply = ask(server)
    assert sources(notebook) == ["x = 1", "x"]
    assert [call["status"] for call in reply["toolCalls"]] == ["error"]
    [output] = model.requests[1].tool_outputs.values()
    assert problem in output


@pytest.mark.parametrize(
    "name",
    [
        "functions.addNotebookCell",
        "default_api.addNotebookCell",
        "functions.addNotebookCell:0",
        "addNotebookCell<|channel|>commentary",
    ],
)
def test_names_lose_what_is_around_them(
    server: RunningServer, model: ScriptedModelServer, notebook: Path, name: str
) -> None:
    model.script(Call(name, ARGUMENTS), Say("Added."))
    reply = ask(server)
    assert sources(notebook) == ["x = 1", CODE, "x"]
    assert [call["name"] for call in reply["toolCalls"]] == ["addNotebookCell"]
    # OpenAI refuses a history with names that have other characters.
    assert [call["name"] for call in calls_in(model.requests[1])] == ["addNotebookCell"]


def test_a_name_of_no_tool_stays_one_that_servers_take(
    server: RunningServer, model: ScriptedModelServer, notebook: Path
) -> None:
    model.script(Call("functions.shell", {"command": "ls"}), Say("There is none."))
    reply = ask(server)
    assert [call["status"] for call in reply["toolCalls"]] == ["error"]
    [output] = model.requests[1].tool_outputs.values()
    assert "There is no tool named 'functions-shell'." in output
