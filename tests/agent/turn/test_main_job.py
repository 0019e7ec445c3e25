"""The main job, headless: a sentence over ``POST chat`` becomes cells that ran, on real data."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.support.cars import MAIN_JOB, mean_horsepower, write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_server import ScriptedModelServer


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_sentence_becomes_cells_that_ran(tmp_path: Path, api: str) -> None:
    environment = {"DATALAYER_AGENT_MODEL_API": api}
    with (
        ScriptedModelServer(*MAIN_JOB) as model,
        RunningServer(tmp_path, api_base=model.base_url, environment=environment) as server,
    ):
        write_cars(server.root)
        reply = server.post(
            "chat",
            {
                "message": "What is the mean horsepower of American cars? @cars.ipynb",
                "mode": "agent",
                "activeNotebook": "cars.ipynb",
            },
        )
        turns = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
    assert model.errors == []
    assert reply["status"] == "completed", reply
    assert reply["notebookMode"] == "full"
    assert str(mean_horsepower()) in reply["reply"]
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "ok", "error", "ok"]
    assert [change["op"] for change in reply["changes"]] == ["insert", "insert", "update"]

    notebook = nbformat.read(server.root / "cars.ipynb", as_version=4)
    nbformat.validate(notebook)
    heading, load, mean = notebook.cells
    assert heading.id == "heading"
    assert load.outputs[0]["data"]["text/plain"] == "(406, 9)"
    assert "Horsepower" in mean.source
    assert "Horsepowr" not in mean.source
    assert str(mean_horsepower()) in mean.outputs[0]["text"]
    assert mean.execution_count == 3

    assert len(turns) == 1
    assert [event["type"] for event in turns[0]["events"]][-1] == "turn_completed"
    assert all(request.stream for request in model.requests)
    assert {request.api for request in model.requests} == {api}
