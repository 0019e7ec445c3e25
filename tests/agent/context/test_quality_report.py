"""The quality report for the agent: in the context and in a step's request, and as a tool."""

from __future__ import annotations

import json

import nbformat
import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.planning import add, plan_of, task

CARS = [{"kind": "notebook", "path": "poor.ipynb"}]
SOURCES = ["import json", "print(undefined_name)"]
REPORT = "Quality of the notebook: "
ADVICE = "To improve it:\n- "


@pytest.fixture(autouse=True)
def poor(server: RunningServer) -> None:
    cells = [nbformat.v4.new_code_cell(each) for each in SOURCES]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), server.root / "poor.ipynb")


def about_poor(message: str, mode: str = "agent") -> dict[str, object]:
    return task(message, mode=mode, attachments=CARS, activeNotebook="poor.ipynb")


@pytest.mark.parametrize(
    "message",
    [
        "Review this notebook",
        "What of the quality?",
        "check the cells",
        "improve it",
        "Verbessere das bitte",
    ],
)
def test_a_task_about_quality_is_given_the_report_with_suggestions(
    server: RunningServer, model: ScriptedModelServer, message: str
) -> None:
    model.script(Say("It has no title."))
    server.post("chat", about_poor(message))
    [request] = model.requests
    assert REPORT in request.text
    assert ADVICE in request.text


@pytest.mark.parametrize(("message", "mode"), [("What is 2 + 2", "agent"), ("check it", "ask")])
def test_other_messages_and_modes_are_not(
    server: RunningServer, model: ScriptedModelServer, message: str, mode: str
) -> None:
    model.script(Say("Four."))
    server.post("chat", about_poor(message, mode))
    assert REPORT not in model.requests[0].text


def test_a_step_about_quality_is_given_the_report_as_the_notebook_is_then(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        plan_of("Add a title", "Check what is left"),
        add("# Cars", "markdown"),
        Say("Added."),
        add("'checked'"),
        Say("Checked."),
    )
    reply = server.post("chat", about_poor("agent: do it"))
    assert reply["status"] == "completed", reply
    before, after = model.requests[2].text, model.requests[3].text
    assert REPORT not in before
    step, report = after[after.rindex("[Step 2 of 2:") :].split("]\n", 1)
    assert "Check what is left" in step
    assert report.startswith(REPORT)
    assert ADVICE in report


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
