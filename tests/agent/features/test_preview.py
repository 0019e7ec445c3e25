"""``GET context`` beside what the model server then received: they must not differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_datalayer_agent.models.tokens import estimate_tokens
from tests.support.cars import write_cars
from tests.support.instructions import allow_instructions
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer

KEY = "sk-test-0123456789abcdef"
ATTACHED = [
    {"kind": "notebook", "path": "cars.ipynb"},
    {"kind": "notebook", "path": "long.ipynb"},
    {"kind": "cell", "path": "long.ipynb", "cellId": "c7"},
    {"kind": "cell", "path": "cars.ipynb", "cellId": "heading"},
    {"kind": "file", "path": "notes.txt"},
]


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    """A server that sends the Responses API's input items as they are."""
    environment = {"DATALAYER_AGENT_MODEL_API": "responses"}
    with RunningServer(
        tmp_path_factory.mktemp("server"), api_base=shared_model.base_url, environment=environment
    ) as running:
        write_cars(running.root)
        (running.root / "notes.txt").write_text("Horsepower is brake horsepower.")
        allow_instructions(running, "Always use polars.")
        cells = [
            nbformat.v4.new_code_cell(f"x = {number}\n" * 3, id=f"c{number}")
            for number in range(25)
        ]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), running.root / "long.ipynb")
        yield running


def asked(server: RunningServer, **parameters: Any) -> Any:
    parameters["attachments"] = json.dumps(parameters.get("attachments", []))
    return server.get("context", **parameters)


def test_a_preview_loads_no_litellm(tmp_path: Path, shared_model: ScriptedModelServer) -> None:
    with RunningServer(
        tmp_path,
        api_base=shared_model.base_url,
        environment={"PYTHONPROFILEIMPORTTIME": "1"},
        own_interpreter=True,
    ) as server:
        write_cars(server.root)
        asked(server, mode="agent", path="cars.ipynb")
    imported = server.log.read_text()
    assert "jupyter_datalayer_agent.agent.features.preview" in imported
    assert " litellm\n" not in imported


@pytest.mark.parametrize("mode", ["ask", "edit", "agent"])
def test_a_preview_is_what_the_model_then_receives(
    server: RunningServer, model: ScriptedModelServer, mode: str
) -> None:
    begin = {"mode": mode, "attachments": ATTACHED, "activeNotebook": "cars.ipynb"}
    notes = (server.root / "notes.txt").read_text()
    model.script(Call("getNotebookCells"), Say("Two."), Say("Three."), Say("Four."))
    session = server.post("chat", {"message": "One?", **begin})["sessionId"]
    server.post("chat", {"message": "And then?", "sessionId": session, **begin})

    known = asked(server, sessionId=session, **begin)
    assert (known["text"], known["tokens"]) == ("", 0), "it was sent before"
    assert known["request"]["contextTokens"] == 0
    assert {part["tokens"] for part in known["parts"]} == {0}
    assert "# Cars" in known["parts"][0]["text"]
    (server.root / "notes.txt").write_text(f"{notes} Read in {mode} mode.")
    shown = asked(server, sessionId=session, **begin)
    server.post("chat", {"message": "Last?", "sessionId": session, **begin})

    body = model.requests[-1].body
    *history, context, message = body["input"]
    assert f"Read in {mode} mode." in shown["text"]
    assert "# Cars" not in shown["text"]
    assert shown["text"].startswith("<context>\nAs of turn 3. ")
    request = shown["request"]
    assert request["mode"] == mode
    assert request["model"] == "openai/scripted"
    assert request["instructions"] == body["instructions"]
    assert "Always use polars." in request["instructions"]
    assert request["tools"] == [tool["name"] for tool in body["tools"]]
    assert context["content"][0]["text"] == shown["text"]
    assert message["content"][0]["text"] == "Last?"
    assert request["historyTurns"] == 2
    assert request["historyItems"] == len(history) == 7
    sizes = {
        "instructionsTokens": estimate_tokens(body["instructions"]),
        "toolsTokens": estimate_tokens(body["tools"]),
        "historyTokens": estimate_tokens(history),
        "contextTokens": estimate_tokens(shown["text"]),
    }
    assert {name: request[name] for name in sizes} == sizes
    assert request["totalTokens"] == sum(sizes.values())
    assert shown["tokens"] == request["contextTokens"]


def test_what_is_attached_is_in_the_context(server: RunningServer) -> None:
    shown = asked(server, mode="ask", attachments=ATTACHED, activeNotebook="cars.ipynb")
    text = shown["text"]
    assert "# Cars" in text
    assert "Horsepower is brake horsepower." in text
    assert "Attached cells of long.ipynb" in text
    assert "[8] code id=c7" in text
    assert "x = 7\nx = 7\nx = 7" in text
    assert "[1] markdown id=heading (as above)" in text
    assert "x = 8" not in text, "of a notebook that is not active, only what was attached"
    assert "Also attached, but not active, so you have no access: long.ipynb" in text


def test_a_preview_after_a_restart_has_the_history_and_the_sessions_mode(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Yes."))
    session = server.post("chat", {"message": "Ready?", "mode": "edit"})["sessionId"]
    before = asked(server, sessionId=session)
    server.stop()
    server.start()
    after = asked(server, sessionId=session)
    assert after == before
    assert after["request"]["mode"] == "edit"
    assert after["request"]["historyTurns"] == 1


def test_no_active_notebook_gives_no_notebook_tools(server: RunningServer) -> None:
    shown = asked(server, mode="agent", attachments=ATTACHED, activeNotebook="")
    assert shown["notebookMode"] == "off"
    assert "not the active tab" in shown["reason"]
    # In Agent mode a notebook may be created, so they are sent, and refused until then.
    assert "getNotebookCells" in shown["request"]["tools"]
    asking = asked(server, mode="ask", attachments=ATTACHED, activeNotebook="")
    assert "getNotebookCells" not in asking["request"]["tools"]


def test_a_preview_holds_no_secret(server: RunningServer) -> None:
    preview = json.dumps(asked(server, mode="agent", path="cars.ipynb"))
    assert KEY not in preview
    assert "127.0.0.1" not in preview


@pytest.mark.parametrize(
    ("parameters", "status", "expected"),
    [
        ({"attachments": "{"}, 400, "invalid_request"),
        ({"attachments": '[{"kind": "planet"}]'}, 400, "kind"),
        ({"attachments": '[{"kind": "file", "path": "gone.txt"}]'}, 404, "gone.txt"),
        ({"mode": "shout"}, 400, "mode"),
        ({"sessionId": "s_gone"}, 404, "not_found"),
        ({"path": "../../etc/passwd"}, 400, "outside"),
    ],
)
def test_a_bad_question_is_answered_with_what_is_wrong(
    server: RunningServer, parameters: dict[str, str], status: int, expected: str
) -> None:
    answer = server.request("GET", "context", params=parameters)
    assert answer.status_code == status
    assert expected in answer.text
