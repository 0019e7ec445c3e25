"""The quality report for the agent: a tool, and never in the context."""

from __future__ import annotations

import json

import nbformat
import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.planning import task

CARS = [{"kind": "notebook", "path": "poor.ipynb"}]
SOURCES = ["import json", "print(undefined_name)"]
REPORT = "Quality of the notebook: "


@pytest.fixture(autouse=True)
def poor(server: RunningServer) -> None:
    cells = [nbformat.v4.new_code_cell(each) for each in SOURCES]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), server.root / "poor.ipynb")


def about_poor(message: str, mode: str = "agent") -> dict[str, object]:
    return task(message, mode=mode, attachments=CARS, activeNotebook="poor.ipynb")


@pytest.mark.parametrize(
    "message", ["Review this notebook", "What is wrong with the data?", "Verbessere das bitte"]
)
def test_no_message_brings_the_report_into_the_context(
    server: RunningServer, model: ScriptedModelServer, message: str
) -> None:
    model.script(Say("It has no title."))
    server.post("chat", about_poor(message))
    [request] = model.requests
    assert "poor.ipynb" in request.text
    assert REPORT not in request.text


@pytest.mark.parametrize("mode", ["ask", "edit", "agent"])
def test_the_report_is_a_tool_in_every_mode(
    server: RunningServer, model: ScriptedModelServer, mode: str
) -> None:
    model.script(Call("getNotebookQuality"), Say("It could be better."))
    reply = server.post("chat", about_poor("What would you do?", mode))
    [call] = reply["toolCalls"]
    assert call["status"] == "ok"
    assert call["output"]["output"] == {
        "path": "poor.ipynb",
        **server.get("quality", path="poor.ipynb"),
    }
    [report] = [json.loads(output) for output in model.requests[1].tool_outputs.values()]
    assert report["score"] < 100
    assert report["suggestions"]
    assert {"undefined_name"} <= {
        word.strip("“”\"'.,`") for issue in report["issues"] for word in issue["message"].split()
    }
    direct = server.post("tools/getNotebookQuality", {"path": "poor.ipynb", "arguments": {}})
    assert direct["output"] == call["output"]["output"]
