"""The main job on real data: a CSV of real cars, a notebook, and what the scripted model does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pandas
from vega_datasets import data

from tests.support.model_request import RecordedRequest
from tests.support.model_script import Call, Say, Step

LOAD = 'import pandas as pd\n\ncars = pd.read_csv("cars.csv")\ncars.shape'
WRONG = 'mean_hp = cars.groupby("Origin")["Horsepowr"].mean()\nprint(mean_hp.round(2).to_dict())'


def real_cars() -> pandas.DataFrame:
    """406 cars of 1970 to 1982, with a few values missing."""
    return pandas.DataFrame(json.loads(Path(data.cars.filepath).read_text(encoding="utf-8")))


def write_cars(folder: Path) -> pandas.DataFrame:
    """``cars.csv`` and ``cars.ipynb`` (a heading only) in the folder; the data frame."""
    cars = real_cars()
    cars.to_csv(folder / "cars.csv", index=False)
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("# Cars", id="heading")],
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
    )
    nbformat.write(notebook, folder / "cars.ipynb")
    return cars


def mean_horsepower() -> float:
    """What the answer has to say: the mean of the American cars, rounded."""
    cars = real_cars()
    return round(float(cars[cars["Origin"] == "USA"]["Horsepower"].mean()), 2)


def last_output(request: RecordedRequest) -> Any:
    """The newest tool output in a request, parsed."""
    outputs = [json.loads(output) for output in request.tool_outputs.values()]
    return outputs[-1]


def repair(request: RecordedRequest) -> Step:
    """The model sees the error and corrects that very cell."""
    result = last_output(request)
    assert "KeyError" in result["error"]["message"], result
    return Call(
        "updateNotebookCell",
        {
            "cellId": result["output"]["cellId"],
            "edits": [{"oldString": "Horsepowr", "newString": "Horsepower"}],
            "run": True,
        },
    )


def answer(request: RecordedRequest) -> Step:
    """The model says the number that it has read in the output."""
    result = last_output(request)
    means = json.loads(result["outputs"].replace("'", '"'))
    return Say(f"American cars have {means['USA']} horsepower on average.")


MAIN_JOB: list[Any] = [
    Call("getNotebookCells"),
    Call("addNotebookCell", {"type": "code", "content": LOAD, "run": True}),
    Call("addNotebookCell", {"type": "code", "content": WRONG, "run": True}),
    repair,
    answer,
]
