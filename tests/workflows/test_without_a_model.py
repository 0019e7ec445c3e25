"""Workflows, fixes and the quality report where no model is configured at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.lexical import assert_lexical
from tests.support.planning import of_type, plan_states, submit, task, until

END = ("turn_completed", "turn_aborted")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with RunningServer(tmp_path_factory.mktemp("no-model")) as running:
        write_cars(running.root)
        yield running


def run_again(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    NotebookClient(notebook, resources={"metadata": {"path": str(path.parent)}}).execute()


def test_a_workflow_that_is_requested_by_its_name_is_carried_out(server: RunningServer) -> None:
    message = "agent: Data analysis notebook"
    reply = server.post("chat", {"message": message, "mode": "ask"})
    turn = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"][0]
    assert reply["status"] == "completed", reply
    [warning] = of_type(turn["events"], "warning")
    assert warning["code"] == "template_instead"
    assert warning["message"].startswith("No model is connected. ")
    assert "_API_KEY" not in warning["message"]
    assert plan_states(turn["events"]) == ["running", "completed"]
    assert "without a model" in reply["reply"]
    path = server.root / "data_analysis.ipynb"
    notebook = nbformat.read(path, as_version=4)
    assert notebook.cells[0].source.startswith("# ")
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("406" in str(output) for output in outputs)
    assert not [output for output in outputs if output.output_type == "error"]
    run_again(path)


def test_of_many_data_files_the_one_is_taken_that_the_notebook_in_front_reads(
    server: RunningServer,
) -> None:
    (server.root / "trees.csv").write_text("a,b\n1,2\n")
    code = nbformat.v4.new_code_cell("import pandas as pd\ncars = pd.read_csv('cars.csv')")
    nbformat.write(nbformat.v4.new_notebook(cells=[code]), server.root / "my-cars.ipynb")
    message = "agent: Data analysis notebook"
    try:
        reply = server.post("chat", {"message": message, "activeNotebook": "my-cars.ipynb"})
        unfed = server.post("chat", {"message": message})
    finally:
        (server.root / "trees.csv").unlink()
    assert reply["status"] == "completed", reply
    assert "ran without error" in reply["reply"]
    assert unfed["reply"].startswith(
        "**No data file was chosen, so the loading cell is a commented example and nothing was "
        "run.** There are: cars.csv, trees.csv. Name one in the message."
    )
    assert "ran without error" not in unfed["reply"]


def test_continue_after_a_plan_that_is_done_has_nothing_to_continue(
    server: RunningServer,
) -> None:
    (server.root / "two.csv").write_text("a,b\n1,2\n")
    try:
        request = {"message": "agent: Data analysis notebook"}
        done = server.post("chat", request)
    finally:
        (server.root / "two.csv").unlink()
    assert "steps done" in done["reply"], done
    again = server.post("chat", {"message": "agent: continue", "sessionId": done["sessionId"]})
    assert again["status"] == "completed", again
    assert again["reply"].startswith("Nothing to continue")
    # With nothing before it, it is a message like another one.
    answer = server.request("POST", "chat", json={"message": "agent: continue"})
    assert answer.status_code == 503
    assert "No workflow is close" in answer.json()["error"]["message"]


def test_workflows_are_listed_and_run_by_their_id(server: RunningServer) -> None:
    listed = {each["id"]: each for each in server.get("workflows")["workflows"]}
    assert set(listed) >= {
        "exploratory-data-analysis",
        "machine-learning-pipeline",
        "data-visualization-report",
        "data-analysis-notebook",
    }
    assert "data" in listed["exploratory-data-analysis"]["parameters"]["properties"]
    reply = server.post(
        "workflows/exploratory-data-analysis",
        {"notebook": "explored.ipynb", "parameters": {"data": "cars.csv"}},
    )
    assert reply["status"] == "completed", reply
    run_again(server.root / "explored.ipynb")


def test_a_parameter_that_is_missing_is_named_where_nobody_can_be_asked(
    server: RunningServer,
) -> None:
    (server.root / "other.csv").write_text("a,b\n1,2\n")
    try:
        answer = server.request("POST", "workflows/exploratory-data-analysis", json={})
    finally:
        (server.root / "other.csv").unlink()
    assert answer.status_code == 400, answer.text
    assert "data" in answer.json()["error"]["message"]


def test_an_unknown_workflow_is_not_found(server: RunningServer) -> None:
    answer = server.request("POST", "workflows/nothing", json={})
    assert answer.status_code == 404
    assert "exploratory-data-analysis" in answer.json()["error"]["message"]


def test_data_that_is_not_there_stops_the_workflow_and_it_can_be_resumed(
    server: RunningServer,
) -> None:
    session = server.post("sessions", {})["id"]
    events = server.stream(f"sessions/{session}/events")
    workflow = {"id": "data-analysis-notebook", "parameters": {"data": "later.csv"}}
    request = {"message": "go", "location": "panel", "workflow": workflow}
    submit(server, session, {"type": "user_message", "request": request})
    seen = until(events, *END)
    assert plan_states(seen)[-1] == "stopped", seen[-3:]
    write_cars(server.root)
    (server.root / "later.csv").write_bytes((server.root / "cars.csv").read_bytes())
    submit(server, session, {"type": "resume"})
    seen = until(events, *END)
    assert plan_states(seen)[-1] == "completed"
    assert seen[-1]["type"] == "turn_completed"


def test_a_task_that_no_workflow_is_close_to_says_what_there_is(server: RunningServer) -> None:
    answer = server.request("POST", "chat", json=task("agent: sing a song"))
    assert answer.status_code == 503
    assert "Without a model there are" in answer.json()["error"]["message"]


def test_the_quality_of_a_notebook(server: RunningServer) -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("from os import *\n" + "print(1)\n" * 4)]
    )
    nbformat.write(notebook, server.root / "poor.ipynb")
    report = server.get("quality", path="poor.ipynb")
    assert 0 <= report["score"] < 80
    assert {"error", "warning", "info"} >= {issue["severity"] for issue in report["issues"]}
    (server.root / "broken.ipynb").write_text("{")
    broken = server.get("quality", path="broken.ipynb")
    assert broken["score"] == 0
    assert broken["issues"][0]["severity"] == "error"
    assert server.request("GET", "quality?path=none.ipynb").status_code == 404


def test_fixes_of_a_failed_cell_are_offered(server: RunningServer) -> None:
    nbformat.write(nbformat.v4.new_notebook(), server.root / "failing.ipynb")
    code = "import pandas as pd\ncars = pd.read_csv('cars.csv')\ncars['Horsepowr'].mean()"
    add = {"path": "failing.ipynb", "type": "code", "content": code, "run": True}
    failed = server.post("tools/addNotebookCell", {"arguments": add})
    assert not failed["ok"]
    cell = failed["output"]["cellId"]
    fixes = server.get("fixes", path="failing.ipynb", cellId=cell)["fixes"]
    assert "Horsepower" in fixes[0]["title"]
    for call in fixes[0]["calls"]:
        arguments = {"path": "failing.ipynb", **call["arguments"]}
        done = server.post(f"tools/{call['name']}", {"arguments": arguments})
        assert done["ok"], done


def test_a_fix_is_carried_out_as_a_turn_that_can_be_undone(server: RunningServer) -> None:
    nbformat.write(nbformat.v4.new_notebook(), server.root / "repaired.ipynb")
    code = "import pandas as pd\ncars = pd.read_csv('cars.csv')\ncars['Horsepowr'].max()"
    add = {"path": "repaired.ipynb", "type": "code", "content": code, "run": True}
    cell = server.post("tools/addNotebookCell", {"arguments": add})["output"]["cellId"]
    request = {
        "message": "Fix it",
        "activeNotebook": "repaired.ipynb",
        "workflow": {"id": "fix-error", "parameters": {"cellId": cell}},
    }
    reply = server.post("chat", request)
    assert reply["status"] == "completed", reply
    fixed = nbformat.read(server.root / "repaired.ipynb", as_version=4).cells[0]
    assert "Horsepower" in fixed.source
    assert "230" in str(fixed.outputs)
    assert [change["op"] for change in reply["changes"]] == ["update"]


def notebooks(server: RunningServer) -> set[str]:
    return {path.name for path in server.root.glob("*.ipynb")}


@pytest.mark.parametrize("mode", ["ask", "agent"])
@pytest.mark.parametrize("prefix", ["", "agent: "])
def test_what_is_close_is_offered_and_not_started(
    server: RunningServer, prefix: str, mode: str
) -> None:
    before = notebooks(server)
    message = f"{prefix}explore cars.csv"
    answer = server.request("POST", "chat", json={"message": message, "mode": mode})
    reply = answer.json()
    assert answer.status_code == 503
    assert reply["error"]["code"] == "no_model"
    offer = reply["offers"][0]
    assert offer["id"] == "exploratory-data-analysis"
    assert offer["parameters"] == {"data": "cars.csv"}
    assert offer["missing"] == []
    assert offer["say"] == "agent: Exploratory data analysis, cars.csv"
    assert reply["reply"].startswith("Nothing was started.")
    assert offer["say"] in reply["reply"]
    assert reply["toolCalls"] == []
    assert notebooks(server) == before
    turn = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"][0]
    [offered] = of_type(turn["events"], "workflows_offered")
    assert offered["offers"] == reply["offers"]
    assert turn["reply"] == reply["reply"]


def test_an_offer_says_what_it_still_needs_and_runs_by_what_it_holds(
    server: RunningServer,
) -> None:
    (server.root / "two.csv").write_text("a,b\n1,2\n")
    try:
        unsure = server.request("POST", "chat", json={"message": "agent: explore the data"})
    finally:
        (server.root / "two.csv").unlink()
    offer = unsure.json()["offers"][0]
    assert offer["missing"] == ["data"]
    assert "say" not in offer
    assert "It needs: data." in unsure.json()["reply"]
    message = "agent: train a model on cars.csv, target: Horsepower"
    said = server.request("POST", "chat", json={"message": message})
    offer = said.json()["offers"][0]
    assert offer["id"] == "machine-learning-pipeline"
    assert offer["parameters"] == {"data": "cars.csv", "target": "Horsepower"}
    done = server.post("chat", {"message": offer["say"]})
    assert done["status"] == "completed", done
    assert done["offers"] == []


@pytest.mark.parametrize(
    "message",
    [
        "delete the last cell of this notebook",
        "fix the notebook",
        "explain the model in cell 2",
        "rename the data analysis notebook",
        "Data analysis notebook is broken",
        "Do not run the exploratory data analysis",
    ],
)
def test_what_is_about_an_existing_notebook_starts_nothing(
    server: RunningServer, message: str
) -> None:
    nbformat.write(nbformat.v4.new_notebook(), server.root / "mine.ipynb")
    before = notebooks(server)
    request = {"message": f"agent: {message}", "activeNotebook": "mine.ipynb"}
    answer = server.request("POST", "chat", json=request)
    assert answer.status_code == 503
    assert answer.json()["toolCalls"] == []
    assert notebooks(server) == before


@pytest.mark.parametrize("mode", ["ask", "agent"])
@pytest.mark.parametrize(
    "message",
    ["analyze the quality of this notebook", "agent: review this notebook"],
)
def test_an_action_that_is_near_is_offered(server: RunningServer, message: str, mode: str) -> None:
    nbformat.write(nbformat.v4.new_notebook(), server.root / "poor.ipynb")
    request = {"message": message, "activeNotebook": "poor.ipynb", "mode": mode}
    answer = server.request("POST", "chat", json=request)
    assert answer.status_code == 503
    reply = answer.json()
    assert "Check the notebook's quality: `/notebook quality`" in reply["reply"]
    turn = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"][0]
    [offered] = of_type(turn["events"], "actions_offered")
    assert offered["offers"][0]["subcommand"] == "quality"


def test_a_task_that_names_a_column_to_predict_sets_the_target(server: RunningServer) -> None:
    message = "agent: machine learning pipeline, cars.csv, target: Horsepower, predicted.ipynb"
    reply = server.post("chat", {"message": message})
    assert reply["status"] == "completed", reply
    sources = [
        cell.source for cell in nbformat.read(server.root / "predicted.ipynb", as_version=4).cells
    ]
    assert any('"Horsepower"' in source for source in sources)
    assert any("regression" in source.lower() for source in sources)


def test_an_error_without_a_known_fix_says_so(server: RunningServer) -> None:
    cells = [nbformat.v4.new_code_cell("1 / 0", id="zero")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), server.root / "zero.ipynb")
    server.post(
        "tools/runNotebookCells", {"arguments": {"path": "zero.ipynb", "cellIds": ["zero"]}}
    )
    where = {"path": "zero.ipynb", "cellId": "zero"}
    first = server.post("fixes", where)
    assert first["fixes"] == []
    assert "prompt" not in first
    assert first["message"].startswith("No built-in fix for this error. No model is configured")
    second = server.post("fixes", {**where, "tried": [{"key": "k", "done": "did"}]})
    assert second["message"].startswith("No other built-in fix for this error.")


def test_a_report_is_written_as_a_lexical_document(server: RunningServer) -> None:
    parameters = {"data": "cars.csv", "format": "lexical", "notebook": "cars-report"}
    reply = server.post("workflows/data-visualization-report", {"parameters": parameters})
    assert reply["status"] == "completed", reply
    text = (server.root / "cars-report.dlex").read_text()
    blocks = json.loads(text)["root"]["children"]
    types = [each["type"] for each in blocks]
    assert types[0] == "heading"
    assert types.count("jupyter-input") >= 6
    assert "image/png" in text
    assert "Conclusions" in text
    outputs = [each for block in blocks for each in block.get("outputs", [])]
    assert not [each for each in outputs if each["output_type"] == "error"]
    assert "blocks read back" in reply["reply"]
    assert not list(server.root.glob("cars-report*.ipynb"))
    assert {each["name"] for each in reply["toolCalls"]} == {
        "createLexical", "executeCode", "insertBlock",
    }  # fmt: skip
    assert_lexical([text])
