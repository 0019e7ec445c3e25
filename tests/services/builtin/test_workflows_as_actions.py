"""``/visualize`` and ``/model`` as actions: proposed of a message, and run with a real kernel."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from tests.support.jupyter import RunningServer

# A column that a message names as the target is no column of dates.
ROWS = "".join(
    f"{index % 7},{3 * (index % 7) + index % 2},{'ab'[index % 2]}\n" for index in range(60)
)


@pytest.mark.parametrize(
    ("action", "message", "found", "written"),
    [
        (
            "visualize/actions/charts",
            "draw charts of trees.csv into trees_charts.ipynb",
            {"data": "trees.csv", "notebook": "trees_charts.ipynb"},
            "image/png",
        ),
        (
            "model/actions/train",
            "train a model that predicts height in trees.csv, into trees_model.ipynb",
            {"data": "trees.csv", "target": "height", "notebook": "trees_model.ipynb"},
            "baseline",
        ),
    ],
)
def test_its_form_is_proposed_and_running_it_writes_the_notebook(
    server: RunningServer, action: str, message: str, found: dict[str, Any], written: str
) -> None:
    (server.root / "trees.csv").write_text(f"age,height,kind\n{ROWS}")
    path = server.root / found["notebook"]
    proposal = server.post(f"services/{action}/dry-run", {"message": message})
    values = {each["name"]: each["value"] for each in proposal["parameters"] if each["found"]}
    assert values == found
    assert not path.exists()
    reply = server.request("POST", f"services/{action}/run", json={"parameters": values}).json()
    assert reply["status"] == "completed", reply
    notebook = nbformat.read(path, as_version=4)
    outputs = [each for cell in notebook.cells for each in cell.get("outputs", [])]
    assert not [each for each in outputs if each.output_type == "error"]
    assert written in str(outputs).lower()
