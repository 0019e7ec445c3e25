"""What the model reads of results: nothing twice in a turn, and the stored results stay whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from jupyter_datalayer_agent.agent.model_calls.request import LEFT_OUT
from jupyter_datalayer_agent.agent.tool_output import AS_BEFORE, ReportedResults, for_model
from jupyter_datalayer_agent.protocol.tools import ToolResult
from tests.support.jupyter import RunningServer
from tests.support.model_request import RecordedRequest
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer

LONG = "print('a long line of output ' * 5)"
PRINTED = "a long line of output " * 5
EDITED = 10


@pytest.fixture
def notebook(server: RunningServer) -> RunningServer:
    cells = [
        new_markdown_cell("# Title", id="title"),
        new_code_cell("x = 1", id="load"),
        new_code_cell(f"x\n{LONG}", id="long"),
        new_markdown_cell("## End", id="end"),
        *(new_code_cell(f"x + {n}", id=f"c{n}") for n in range(EDITED)),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(
        new_notebook(cells=cells, metadata={"kernelspec": kernel}), server.root / "reported.ipynb"
    )
    return server


def chat(server: RunningServer) -> dict[str, Any]:
    body = {"message": "@reported.ipynb go", "mode": "agent", "activeNotebook": "reported.ipynb"}
    return dict(server.post("chat", body))


def outputs(request: RecordedRequest) -> list[Any]:
    return [json.loads(output) for output in request.tool_outputs.values()]


def test_a_run_names_its_cell_by_number_and_says_once_what_had_nothing_to_run(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("runNotebookCells", {"all": True}), Say("Done."))
    reply = chat(notebook)
    [read] = outputs(model.requests[1])
    assert [run["cell"] for run in read["runs"]] == [2, 3, *range(5, 15)]
    assert read["runs"][0]["cellId"] == "load"
    assert read["skippedCells"] == {"A markdown cell has nothing to run.": [1, 4]}
    whole = reply["toolCalls"][0]["output"]["output"]
    assert [run["status"] for run in whole["runs"]][:4] == ["skipped", "ok", "ok", "skipped"]


def test_an_output_that_is_the_same_again_is_said_to_be_so_and_another_is_shown(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    run = Call("runNotebookCells", {"cellIds": ["long", "load", "c1"]})
    changed = {"cellId": "long", "content": f"{LONG}; print(2)", "run": True}
    model.script(run, run, Call("updateNotebookCell", changed), Say("Done."))
    reply = chat(notebook)
    first, again, other = outputs(model.requests[3])
    assert first["runs"][1]["outputs"] == PRINTED
    assert again["runs"][1]["outputs"] == AS_BEFORE
    assert again["runs"][2]["outputs"] == "2", "a short one is repeated"
    assert other["outputs"] == f"{PRINTED}\n2"
    assert reply["toolCalls"][1]["output"]["output"]["runs"][1]["outputs"] == PRINTED


def test_an_output_of_which_a_long_result_showed_only_a_part_is_shown_again(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    path = notebook.root / "reported.ipynb"
    book = nbformat.read(path, as_version=4)
    book.cells = [
        new_code_cell(f"print('{name} ' * 4_000)", id=name) for name in ("first", "middle", "last")
    ]
    nbformat.write(book, path)
    run = Call("runNotebookCells", {"cellIds": ["middle"]})
    model.script(Call("runNotebookCells", {"all": True}), run, run, Say("Done."))
    chat(notebook)
    cut, *_ = model.requests[1].tool_outputs.values()
    assert "characters left out" in cut
    _, *texts = model.requests[-1].tool_outputs.values()
    whole, again = (json.loads(each)["runs"][0]["outputs"] for each in texts)
    assert whole == ("middle " * 4_000).rstrip("\n")
    assert again == AS_BEFORE


@pytest.mark.parametrize("message", ["short", "long " * 2_000], ids=["short", "long"])
def test_a_failed_run_has_its_message_with_its_traceback_and_not_a_second_time(
    notebook: RunningServer, model: ScriptedModelServer, message: str
) -> None:
    failing = {"type": "code", "content": f"raise ValueError({message!r})", "run": True}
    model.script(
        Call("addNotebookCell", {**failing, "position": {"before": "title"}}),
        Call("runNotebookCells", {"all": True}),
        Say("It fails."),
    )
    reply = chat(notebook)
    added, ran = (each["output"] for each in outputs(model.requests[-1]))
    stored = [each["output"]["output"] for each in reply["toolCalls"]]
    for sent, whole in ((added, stored[0]), (ran["runs"][0], stored[1]["runs"][0])):
        assert sent["status"] == "error"
        assert sent["outputs"].startswith(f"ValueError: {message[:500]}")
        assert "error" not in sent
        assert whole["error"].startswith("ValueError: ")


def test_an_error_that_the_outputs_do_not_begin_with_is_sent() -> None:
    run = {"cellId": "c", "status": "error", "error": "E: one", "outputs": "[stderr] E: one"}
    result = ToolResult(ok=True, name="runNotebookCells", output=run)
    assert json.loads(for_model(result)) == run


def test_a_failed_block_has_its_message_once_and_blocks_that_were_skipped_are_listed() -> None:
    runs = [
        {"id": "b0", "block": 1, "status": "error", "error": "E: one", "outputs": "E: one\nline 1"},
        {"id": "b1", "block": 2, "status": "skipped", "note": "An earlier block failed."},
    ]
    shown = json.loads(for_model(ToolResult(ok=True, name="runAllBlocks", output={"runs": runs})))
    assert shown["runs"] == [{key: runs[0][key] for key in ("id", "block", "status", "outputs")}]
    assert shown["skippedBlocks"] == {"An earlier block failed.": [2]}


@pytest.mark.parametrize("more", [{}, {"name": "x", "conclusion": "skipped"}])
def test_runs_of_another_program_are_not_touched(more: dict[str, str]) -> None:
    runs = {"runs": [{"id": 1, "status": "skipped", "error": "E", "outputs": "E", **more}]}
    assert json.loads(for_model(ToolResult(ok=True, name="github_runs", output=runs))) == runs


def test_what_was_left_out_of_a_long_turn_is_shown_again(
    tmp_path: Path, model: ScriptedModelServer
) -> None:
    names = ("first", "second", "third")
    environment = {"DATALAYER_AGENT_CONTEXT_WINDOW": "20000"}
    with RunningServer(tmp_path, api_base=model.base_url, environment=environment) as server:
        cells = [new_code_cell(f"print('{name} ' * 4_000)", id=name) for name in names]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(
            new_notebook(cells=cells, metadata={"kernelspec": kernel}),
            server.root / "reported.ipynb",
        )
        runs = [Call("runNotebookCells", {"cellIds": [name]}) for name in (*names, "first")]
        model.script(*runs, Say("Done."))
        chat(server)
    assert LEFT_OUT["content"][0]["text"] in model.requests[-1].text
    *_, last = outputs(model.requests[-1])
    assert last["runs"][0]["outputs"].startswith("first first")


def test_after_earlier_results_were_left_out_everything_is_sent_again() -> None:
    reported = ReportedResults(lambda: "a.ipynb")
    run = {"cellId": "c", "status": "ok", "outputs": "the same text " * 20, "staleCells": ["d"]}
    result = ToolResult(ok=True, name="runNotebookCells", output=run)
    fresh = ToolResult(ok=True, name="runNotebookCells", output={**run, "staleCells": []})
    assert json.loads(for_model(result, reported)) == run
    assert json.loads(for_model(result, reported)) == {
        "cellId": "c", "status": "ok", "outputs": AS_BEFORE
    }  # fmt: skip
    reported.forget()
    assert json.loads(for_model(result, reported)) == run
    reported.forget()
    assert json.loads(for_model(fresh, reported))["staleCells"] == "none any more"


def test_what_was_read_with_its_outputs_is_not_repeated_by_a_run(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    run = Call("runNotebookCells", {"cellIds": ["long", "load"]})
    read = Call("getNotebookCells", {"includeOutputs": True, "cellIds": ["long"]})
    model.script(run, Say("Done."), read, run, Say("Done."))
    first = chat(notebook)
    body = {"message": "again", "mode": "agent", "activeNotebook": "reported.ipynb"}
    attached = [{"kind": "notebook", "path": "reported.ipynb"}]
    notebook.post("chat", {**body, "attachments": attached, "sessionId": first["sessionId"]})
    _, cells, again = outputs(model.requests[-1])
    assert cells["cells"][0]["outputs"] == PRINTED
    assert again["runs"][1]["outputs"] == AS_BEFORE


def test_stale_cells_are_sent_when_they_change_and_when_there_are_none_any_more(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    edits = [
        Call("updateNotebookCell", {"cellId": "load", "content": f"x = {n}"}) for n in range(2, 5)
    ]
    rerun = Call("runNotebookCells", {"cellIds": ["load"], "includeDependents": True})
    model.script(Call("runNotebookCells", {"all": True}), Calls(edits), rerun, rerun, Say("Done."))
    reply = chat(notebook)
    ran, first, *others, fresh, again = outputs(model.requests[-1])
    assert "staleCells" not in ran
    assert len(first["staleCells"]) == EDITED + 2
    assert ["staleCells" in each for each in others] == [False, False]
    assert fresh["staleCells"] == "none any more"
    assert "staleCells" not in again
    stored = [call["output"]["output"]["staleCells"] for call in reply["toolCalls"]]
    assert [len(each) for each in stored] == [0, *[EDITED + 2] * 3, 0, 0]


def test_cells_are_read_without_what_is_usual(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    run = Call("runNotebookCells", {"cellIds": ["load"]})
    model.script(run, Call("getNotebookCells", {"cellIds": ["title", "load", "c0"]}), Say("Done."))
    reply = chat(notebook)
    title, load, other = outputs(model.requests[2])[1]["cells"]
    assert set(title) == {"id", "index", "type", "content", "hasOutput"}
    assert set(load) - set(title) == {"executionOrder", "lastRunSuccess", "lastExecutionDuration"}
    assert not set(other) & {"executionStatus", "executionOrder", "selectionStatus"}
    whole = reply["toolCalls"][1]["output"]["output"]["cells"][1]
    assert whole["executionStatus"] == "idle"
    assert whole["lastRunEndTime"] > 1_700_000_000_000


@pytest.mark.parametrize(
    "output",
    [
        {"runs": [{"id": 7, "status": "skipped"}], "cells": [{"executionOrder": None}]},
        {"runs": [1, 2], "cells": "none", "staleCells": 3, "status": "ok"},
        {"runs": [], "cells": [None]},
        ["runs"],
        None,
        "text",
    ],
)
def test_results_of_other_programs_are_sent_as_they_are(output: Any) -> None:
    reported = ReportedResults(lambda: None)
    result = ToolResult(ok=True, name="theirs", output=output)
    for _ in range(2):
        assert json.loads(for_model(result, reported)) == output


def test_a_picture_is_sent_each_time_and_cells_of_two_notebooks_are_two() -> None:
    reported = ReportedResults(lambda: "a.ipynb")
    run = {"cellId": "c", "status": "ok", "outputs": "the same text " * 20}
    result = ToolResult(ok=True, name="runNotebookCells", output=run)

    def read(arguments: Any = None, *, pictures: bool = False) -> str:
        text = for_model(result, reported, arguments, has_pictures=pictures)
        return str(json.loads(text)["outputs"])

    assert read() != AS_BEFORE
    assert read({"path": "b.ipynb"}) != AS_BEFORE
    assert read(pictures=True) != AS_BEFORE
    assert read() == AS_BEFORE
