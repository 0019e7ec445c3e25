"""What follows a failed call in the same answer: runs wait for the repair, and so does the plan."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.support.jupyter import RunningServer
from tests.support.model_request import RecordedRequest
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer
from tests.support.planning import of_type

FAILS = Call("runNotebookCells", {"cellIds": ["bad"]})
Event = dict[str, Any]


@pytest.fixture
def notebooks(server: RunningServer) -> RunningServer:
    for name in ("one", "two"):
        cells = [
            new_code_cell("a = 1", id="good"),
            new_code_cell("b = missing", id="bad"),
            new_code_cell("open('ran', 'a').write('x')", id="after"),
        ]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(
            new_notebook(cells=cells, metadata={"kernelspec": kernel}),
            server.root / f"{name}.ipynb",
        )
    (server.root / "ran").unlink(missing_ok=True)
    return server


def chat(server: RunningServer, **more: Any) -> dict[str, Any]:
    body = {"message": "@one.ipynb go", "mode": "agent", "activeNotebook": "one.ipynb", **more}
    return dict(server.post("chat", body))


def outputs(request: RecordedRequest) -> list[Any]:
    return [json.loads(output) for output in request.tool_outputs.values()]


def ran(server: RunningServer) -> bool:
    return (server.root / "ran").exists()


def test_a_run_after_a_failed_run_is_held_back_with_the_reason_and_reads_go_on(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        Calls([
            FAILS,
            Call("runNotebookCells", {"cellIds": ["after"]}),
            Call("executeCode", {"code": "open('ran', 'w').close()"}),
            Call("getNotebookCells", {"cellIds": ["good"]}),
        ]),
        Call("updateNotebookCell", {"cellId": "bad", "content": "b = 2", "run": True}),
        Call("runNotebookCells", {"cellIds": ["after"]}),
        Say("Done."),
    )  # fmt: skip
    reply = chat(notebooks)
    failed, held, code, read = outputs(model.requests[1])
    assert failed["error"]["code"] == "kernel_error"
    assert held["error"]["code"] == code["error"]["code"] == "held_back"
    assert "NameError" in held["error"]["message"]
    assert held["output"] == {"notRun": ["after"]}
    assert read["cells"][0]["content"] == "a = 1"
    assert [each["status"] for each in reply["toolCalls"]] == [
        "error", "error", "error", "ok", "ok", "ok"
    ]  # fmt: skip
    assert (notebooks.root / "ran").read_text() == "x"
    assert "notDone" not in reply or reply["notDone"] is None


def test_a_change_goes_on_and_only_its_run_is_held_back(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        Calls([
            FAILS,
            Call("addNotebookCell", {"content": "open('ran', 'w').close()", "run": True}),
            Call("addNotebookCell", {"type": "markdown", "content": "# Next", "run": True}),
            Call("updateNotebookCell", {"cellId": "good", "content": "a = 3"}),
        ]),
        Say("There is an error."),
    )  # fmt: skip
    reply = chat(notebooks)
    assert not ran(notebooks)
    _, added, _, _ = outputs(model.requests[1])
    assert added["error"]["code"] == "held_back"
    assert added["error"]["message"].startswith("Added cell 4; its run was held back: ")
    assert added["output"]["notRun"] == [added["output"]["cellId"]]
    assert [each["status"] for each in reply["toolCalls"]] == ["error", "error", "ok", "ok"]
    cells = nbformat.read(notebooks.root / "one.ipynb", as_version=4).cells
    assert [cell.source for cell in cells] == [
        "a = 3", "b = missing", "open('ran', 'a').write('x')",
        "open('ran', 'w').close()", "# Next",
    ]  # fmt: skip
    assert reply["notDone"]["kind"] == "run_failed"


def test_after_a_failed_change_the_run_waits_too_but_not_after_a_failed_read(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    edit = {"cellId": "good", "edits": [{"oldString": "nothing like it", "newString": "x"}]}
    model.script(
        Calls([Call("updateNotebookCell", edit), Call("runNotebookCells", {"all": True})]),
        Calls([
            Call("getCellOutputs", {"cellId": "nowhere"}),
            Call("runNotebookCells", {"cellIds": ["after"]}),
        ]),
        Say("Done."),
    )  # fmt: skip
    reply = chat(notebooks)
    statuses = [each["status"] for each in reply["toolCalls"]]
    assert statuses == ["error", "error", "error", "ok"]
    assert outputs(model.requests[1])[1]["error"]["code"] == "held_back"
    assert (notebooks.root / "ran").read_text() == "x"


def test_another_notebook_goes_on(notebooks: RunningServer, model: ScriptedModelServer) -> None:
    model.script(
        Calls([
            Call("createNotebook", {"name": "new.ipynb"}),
            FAILS,
            Call("addNotebookCell", {"path": "new.ipynb", "content": "6 * 7", "run": True}),
        ]),
        Say("Done."),
    )  # fmt: skip
    reply = chat(notebooks)
    assert [each["status"] for each in reply["toolCalls"]] == ["ok", "error", "ok"]


def test_a_failed_file_change_holds_back_runs_in_every_notebook(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    edit = {"path": "helper.py", "edits": [{"oldString": "a", "newString": "b"}]}
    model.script(
        Calls([Call("editFile", edit), Call("runNotebookCells", {"cellIds": ["after"]})]),
        Say("There is no such file."),
    )
    chat(notebooks)
    assert not ran(notebooks)


def test_what_was_meant_for_a_notebook_that_could_not_be_created_changes_no_other(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    before = (notebooks.root / "one.ipynb").read_bytes()
    model.script(
        Calls([
            Call("createNotebook", {"name": "../outside.ipynb"}),
            Call("addNotebookCell", {"content": "1"}),
            Call("deleteNotebookCells", {"cellIds": ["good"]}),
        ]),
        Say("It cannot be there."),
    )  # fmt: skip
    reply = chat(notebooks)
    assert [each["status"] for each in reply["toolCalls"]] == ["error"] * 3
    assert (notebooks.root / "one.ipynb").read_bytes() == before


def test_being_held_back_again_and_again_does_not_end_the_turn(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    after = Call("runNotebookCells", {"cellIds": ["after"]})
    tries = [
        Call("updateNotebookCell", {"cellId": "bad", "content": f"b = {name}", "run": True})
        for name in ("no1", "no2", "no3", "4")
    ]
    model.script(*(Calls([each, after]) for each in tries), Say("Done."))
    reply = chat(notebooks)
    assert reply["status"] == "completed"
    assert [each["status"] for each in reply["toolCalls"]] == [*["error"] * 6, "ok", "ok"]
    assert reply.get("notDone") is None


def test_other_names_of_tools_are_held_back_too_and_so_is_a_run_after_a_denied_change(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        Calls([FAILS, Call("runCell", {"index": 2}), Call("python_repl", {"code": "1"})]),
        Calls([
            Call("deleteNotebookCells", {"cellIds": ["good"]}),
            Call("run_notebook_cells", {"cell_ids": ["after"]}),
        ]),
        Say("Nobody approved it."),
    )  # fmt: skip
    reply = chat(notebooks)
    codes = [call["output"]["error"]["code"] for call in reply["toolCalls"]]
    assert codes == ["kernel_error", "held_back", "held_back", "denied", "held_back"]
    assert not ran(notebooks)


def steps(*statuses: str) -> Call:
    described = [
        {"description": f"Step {number}", "status": status}
        for number, status in enumerate(statuses, start=1)
    ]
    return Call("updatePlan", {"steps": described})


def plans(server: RunningServer, **more: Any) -> list[list[str]]:
    body = {"message": "@one.ipynb go", "mode": "agent", "activeNotebook": "one.ipynb", **more}
    events = list(server.stream("chat/stream", body))
    assert events[-1]["type"] == "turn_completed"
    shown = of_type(events, "plan_updated")
    return [[step["status"] for step in each["steps"]] for each in shown]


def test_a_step_is_not_completed_by_the_answer_in_which_its_call_failed(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    repair = Call("updateNotebookCell", {"cellId": "bad", "content": "b = 2", "run": True})
    model.script(
        steps("in_progress", "pending"),
        Calls([FAILS, steps("completed", "in_progress")]),
        Calls([repair, steps("completed", "completed")]),
        Say("Done."),
    )
    assert plans(notebooks) == [["in_progress", "pending"], ["completed", "completed"]]
    refused = outputs(model.requests[2])[-1]["error"]
    assert refused["code"] == "held_back"
    assert "“Step 1” is not completed" in refused["message"]


def test_a_step_that_was_completed_before_stays_so_after_a_failure(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        Calls([Call("runNotebookCells", {"cellIds": ["good"]}), steps("completed", "pending")]),
        Calls([FAILS, steps("completed", "failed")]),
        Say("It failed."),
    )
    assert plans(notebooks) == [["completed", "pending"], ["completed", "failed"]]


def test_steps_that_were_not_begun_are_skipped_when_the_turn_completes(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    run = Call("runNotebookCells", {"cellIds": ["good"]})
    model.script(Calls([run, steps("completed", "pending", "failed")]), Say("Done."))
    assert plans(notebooks) == [
        ["completed", "pending", "failed"], ["completed", "skipped", "failed"]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "status"), [("good", "completed"), ("bad", "failed")], ids=["ran", "failed"]
)
def test_a_step_in_progress_is_closed_with_the_turn_by_what_its_runs_were(
    notebooks: RunningServer, model: ScriptedModelServer, cell: str, status: str
) -> None:
    run = Call("runNotebookCells", {"cellIds": [cell]})
    model.script(Calls([steps("in_progress", "pending"), run]), Say("That is it."))
    assert plans(notebooks)[-1] == [status, "skipped"]


def test_a_step_in_progress_of_which_nothing_was_done_is_skipped(
    notebooks: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(steps("completed", "in_progress"), Say("Shall I go on?"))
    assert plans(notebooks)[-1] == ["completed", "skipped"]
