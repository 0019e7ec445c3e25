"""A planned workflow in which step 2 of 4 fails, for each kind of error that has a fix."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cars import LOAD, write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_request import RecordedRequest
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.planning import add, of_type, plan_of, sources, task
from tests.support.wheels import wheel

FAILING = {
    "NameError": ("print(len(carz))", "print(len(cars))"),
    "FileNotFoundError": ('pd.read_csv("carrs.csv").shape', 'pd.read_csv("cars.csv").shape'),
    "KeyError": ('cars["Horsepowr"].max()', 'cars["Horsepower"].max()'),
    "bracket": ("print(len(cars)", "print(len(cars))"),
    "print": ('print "two"', 'print("two")'),
    "ModuleNotFoundError": ("import pandsa as pd2", "import pandas as pd2"),
}


@pytest.mark.parametrize("kind", FAILING)
def test_step_2_of_4_is_fixed_without_the_model(
    server: RunningServer, model: ScriptedModelServer, kind: str
) -> None:
    write_cars(server.root)
    wrong, right = FAILING[kind]
    model.script(
        plan_of("Load", "Look", "Three", "Four"),
        add(LOAD),
        Say("Loaded."),
        add(wrong),
        Say("Looked."),
        add("'three'"),
        Say("3"),
        add("'four'"),
        Say("4"),
    )
    reply = server.post("chat", task("agent: look at the cars"))
    events = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"][0][
        "events"
    ]
    assert reply["status"] == "completed", reply["reply"]
    assert sources(server) == ["# Cars", LOAD, right, "'three'", "'four'"]
    assert [e["index"] for e in of_type(events, "recovery_started")] == [1]
    [finished] = of_type(events, "recovery_finished")
    assert finished["success"]
    assert finished["message"][:1].islower(), finished
    # The model hears of the fix, and was not asked for it.
    assert len(model.requests) == 9
    assert "The cell was fixed" in model.requests[4].text


def test_after_a_fix_that_left_another_error_the_model_is_sent_that_one(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_cars(server.root)
    wrong = 'cars["Horsepowr"].max() + cars["Nothing like it"].max()'
    model.script(
        plan_of("Load", "Look"), add(LOAD), Say("Loaded."), add(wrong),
        Call("updateNotebookCell", {"cellId": {"regex": r'"cellId": ?"(\w+)"'}, "content": "1"}),
        Call("runNotebookCells", {"all": True}), Say("Looked."),
    )  # fmt: skip
    reply = server.post("chat", task("agent: look at the cars"))
    [turn] = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
    errors = [event["error"] for event in of_type(turn["events"], "recovery_started")]
    assert len(errors) == 2, errors
    assert "Horsepowr" in errors[0]
    assert "Nothing like it" in errors[1]
    [asked] = [text for text in texts(model.requests[4]) if text.startswith("[This step failed")]
    error, _, tried = asked.partition(" Tried before: ")
    assert "Nothing like it" in error
    assert "Horsepowr" not in error
    assert "Horsepowr" in tried


KILL = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"


def test_a_kernel_that_dies_in_a_step_is_said_to_the_model_with_what_has_to_run_again(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_cars(server.root)
    model.script(
        plan_of("Load", "Look", "Count"), add(LOAD), Say("Loaded."), add(KILL),
        Call("updateNotebookCell", {"cellId": {"regex": r'"cellId": ?"(\w+)"'}, "content": "1"}),
        Call("runNotebookCells", {"all": True}), Say("Looked."), add("len(cars)"), Say("406"),
    )  # fmt: skip
    reply = server.post("chat", task("agent: look at the cars", approval="never"))
    [turn] = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
    [started] = of_type(turn["events"], "recovery_started")
    [asked] = [text for text in texts(model.requests[4]) if text.startswith("[This step failed")]
    [died] = [call for call in reply["toolCalls"] if call["status"] == "error"]
    for said in (started["error"], asked, died["output"]["error"]["message"]):
        assert "The kernel died" in said
    assert "All variables are gone." in asked
    assert "Run cell 2 again" in asked
    assert "fix the cell" not in asked
    assert reply["status"] == "completed", reply["reply"]
    assert sources(server) == ["# Cars", LOAD, "1", "len(cars)"]


def texts(request: RecordedRequest) -> list[str]:
    """The texts of the user's messages, and of ours in their place."""
    found = [item["content"] for item in request.items if item.get("role") == "user"]
    return [
        text if isinstance(text, str) else "".join(part.get("text", "") for part in text)
        for text in found
    ]


def test_a_notebook_whose_kernel_does_not_exist_is_given_one(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_cars(server.root)
    path = server.root / "cars.ipynb"
    notebook: dict[str, Any] = json.loads(path.read_text())
    notebook["metadata"]["kernelspec"]["name"] = "gone"
    path.write_text(json.dumps(notebook))
    session = server.post("sessions", {})["id"]
    for each in server.get("/api/sessions"):
        server.request("DELETE", f"/api/sessions/{each['id']}")
    model.script(plan_of("Load", "Count"), add(LOAD), Say("Loaded."), add("len(cars)"), Say("406"))
    reply = server.post("chat", task("agent: look", sessionId=session))
    assert reply["status"] == "completed", reply["reply"]
    assert sources(server) == ["# Cars", LOAD, "len(cars)"]


def test_a_package_that_is_missing_is_installed_as_the_policy_allows(tmp_path: Path) -> None:
    target, wheels = tmp_path / "installed", tmp_path / "wheels"
    target.mkdir()
    wheels.mkdir()
    wheel(wheels, "pymupdf", "fitz")
    environment = {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_TARGET": str(target),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    with (
        ScriptedModelServer() as model,
        RunningServer(tmp_path, api_base=model.base_url, environment=environment) as server,
    ):
        write_cars(server.root)
        server.environment["PYTHONPATH"] += f":{target}"
        server.stop()
        server.start()
        model.script(
            plan_of("Import", "Go on"), add("import fitz"), Say("Imported."), add("2"), Say("2")
        )
        reply = server.post("chat", task("agent: import", approval="never"))
        assert reply["status"] == "completed", reply["reply"]
        assert sources(server)[1].startswith("%pip install")
        assert sources(server)[2:] == ["import fitz", "2"]


def test_an_ordinary_turn_offers_the_fixes_of_a_cell_that_still_fails(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_cars(server.root)
    model.script(add(LOAD + "\ncars['Horsepowr'].max()"), Say("It failed."))
    attached = [{"kind": "notebook", "path": "cars.ipynb"}]
    reply = server.post("chat", task("go", mode="agent", attachments=attached))
    events = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"][0][
        "events"
    ]
    (offered,) = of_type(events, "fixes_offered")
    assert "Horsepower" in offered["fixes"][0]["title"]
    assert events[-1]["type"] == "turn_completed"


WRITTEN = 'I will add it: {"name": "addNotebookCell", "arguments": {"content": "1", "run": true}}'
LINE = (
    "This looks like a call of addNotebookCell. It was not carried out: the answer has other text "
    "as well."
)


def test_a_step_that_only_writes_a_call_is_asked_for_it_and_what_is_left_is_said(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_cars(server.root)
    model.script(
        plan_of("Load", "Look"), Say(WRITTEN), add(LOAD), Say("Loaded."), add("2"), Say(WRITTEN)
    )
    reply = server.post("chat", task("agent: look at the cars"))
    [turn] = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
    assert reply["status"] == "completed", reply["reply"]
    assert sources(server) == ["# Cars", LOAD, "2"]
    [started] = of_type(turn["events"], "recovery_started")
    assert (started["index"], started["error"]) == (0, LINE)
    assert LINE in model.requests[2].text
    assert [e["success"] for e in of_type(turn["events"], "recovery_finished")] == [True]
    # The second step was done, and wrote a further call.
    assert reply["notDone"] == turn["notDone"] == {"kind": "call_as_text", "message": LINE}


def test_a_step_that_goes_on_writing_calls_is_not_done(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_cars(server.root)
    model.script(plan_of("Load"), Say(WRITTEN), Say(WRITTEN), Say(WRITTEN))
    reply = server.post("chat", task("agent: look at the cars"))
    [turn] = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
    assert reply["status"] == "failed"
    [finished] = of_type(turn["events"], "step_finished")
    assert (finished["success"], finished["message"]) == (False, LINE)
    assert sources(server) == ["# Cars"]
