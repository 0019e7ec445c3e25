"""What four questions about data cost in tokens that the model reads: the sum over all requests.

A scripted model makes the calls that a strong one made: it looks at the file, loads it, computes,
meets an error, repairs it, and answers. Tokens are those of ``o200k_base``, without pictures. The
fixed part is the system prompt and the tools, which providers cache.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from benchmarks.chats import running
from benchmarks.table import show
from tests.support.jupyter import RunningServer
from tests.support.model_request import RecordedRequest
from tests.support.model_script import Call, Calls, Say, Step
from tests.support.model_server import ScriptedModelServer
from tests.support.tokens import count

EXAMPLES = Path(__file__).parents[1] / "examples"
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
LOAD = 'import pandas as pd\n\ncars = pd.read_csv("cars.csv")\ncars.head()'
WRONG = 'cars.groupby("Origin")["Horsepowr"].mean().round(1)'
RENAMED = 10


@dataclass(frozen=True)
class Question:
    """One question: its notebook, and for each message to it what the model does."""

    name: str
    path: str
    cells: Sequence[Any]
    messages: Sequence[tuple[str, Sequence[Step]]]


def _add(source: str, kind: str = "code") -> Call:
    return Call("addNotebookCell", {"type": kind, "content": source, "run": kind == "code"})


def _repair(old: str, new: str) -> Callable[[RecordedRequest], Step]:
    """Correct the cell that the newest result is about, and run it."""

    def step(request: RecordedRequest) -> Step:
        result = [json.loads(each) for each in request.tool_outputs.values()][-1]
        output = result.get("output", result)
        runs = output.get("runs", [output])
        failed = next(each for each in runs if each.get("status") == "error")
        edits = [{"oldString": old, "newString": new}]
        arguments = {"cellId": failed["cellId"], "edits": edits, "run": True}
        return Call("updateNotebookCell", arguments)

    return step


def _new_notebook() -> Question:
    steps = [
        Calls([Call("listFiles"), Call("readFile", {"path": "cars.csv"})]),
        _add(LOAD),
        _add(WRONG),
        _repair("Horsepowr", "Horsepower"),
        _add("American cars have the most power.", "markdown"),
        Say("American cars have the most power: 119.9 on average."),
    ]
    cells = [new_markdown_cell("# Cars", id="title")]
    message = "Which origin has the most powerful cars on average?"
    return Question(
        "a new analysis, with a misspelt column", "new.ipynb", cells, [(message, steps)]
    )


def _whole_notebook() -> Question:
    cells = nbformat.read(EXAMPLES / "cars.ipynb", as_version=4).cells
    for cell in cells:
        if cell.id == "by-origin":
            cell.source = WRONG
    missing = {"cellId": "missing", "content": "cars.isna().mean().round(3)", "run": True}
    steps = [
        Call("getNotebookCells", {"includeOutputs": True}),
        Call("runNotebookCells", {"all": True}),
        _repair("Horsepowr", "Horsepower"),
        Call("runNotebookCells", {"all": True}),
        Call("updateNotebookCell", missing),
        Call("runNotebookCells", {"all": True}),
        Say("All cells run; two in a hundred values of Horsepower are missing."),
    ]
    message = "Make this notebook run from top to bottom, and show shares of missing values."
    return Question(
        "a notebook repaired and run three times", "cars.ipynb", cells, [(message, steps)]
    )


def _renaming() -> Question:
    columns = ("Miles_per_Gallon", "Displacement", "Horsepower", "Weight_in_lbs", "Acceleration")
    sources = [
        f"df.groupby('Origin')['{column}'].{method}()"
        for column in columns
        for method in ("mean", "max")
    ]
    cells = [
        new_code_cell("import pandas as pd\n\ndf = pd.read_csv('cars.csv')", id="load"),
        *(new_code_cell(source, id=f"c{n}") for n, source in enumerate(sources)),
    ]
    assert len(sources) == RENAMED
    edits = [{"oldString": "df", "newString": "cars"}]
    first = {"cellId": "load", "edits": edits}
    others = [{"cellId": f"c{n}", "edits": edits} for n in range(RENAMED)]
    steps = [
        Call("runNotebookCells", {"all": True}),
        Calls([Call("updateNotebookCell", each) for each in [first, *others]]),
        Call("runNotebookCells", {"all": True}),
        Say("df is now cars in all eleven cells, and the results are the same."),
    ]
    return Question(
        "a name changed in eleven cells", "rename.ipynb", cells, [("Rename df to cars.", steps)]
    )


def _penguins() -> Question:
    mass = 'penguins.groupby("species")["body_mass_g"].agg(["mean", "count"]).round(0)'
    first = [
        Call("readFile", {"path": "penguins.csv"}),
        _add('import pandas as pd\n\npenguins = pd.read_csv("penguin.csv")\npenguins.shape'),
        _repair("penguin.csv", "penguins.csv"),
        _add(mass),
        Say("Gentoo penguins are the heaviest."),
    ]
    second = [Call("getTurnById", {"number": 1}), Say("The mean body mass of each species.")]
    cells = [new_markdown_cell("# Penguins", id="title")]
    messages = [("Which species is the heaviest?", first), ("What did we compute before?", second)]
    return Question("a misspelt file, and a question about it", "penguins.ipynb", cells, messages)


def _write(root: Path, question: Question) -> None:
    notebook = new_notebook(cells=list(question.cells), metadata={"kernelspec": KERNEL})
    nbformat.write(notebook, root / question.path)


def _write_penguins(path: Path) -> None:
    chance = random.Random(7)
    lines = ["species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex"]
    for number in range(344):
        species, mass = [("Adelie", 3700), ("Chinstrap", 3733), ("Gentoo", 5076)][number % 3]
        island = ("Torgersen", "Biscoe", "Dream")[number % 3]
        values = [chance.gauss(44, 5), chance.gauss(17, 2), chance.gauss(200, 14)]
        shown = ",".join(f"{value:.1f}" for value in values)
        sex = ("male", "female", "")[number % 11 % 3]
        lines.append(f"{species},{island},{shown},{mass + number % 400},{sex}")
    path.write_text("\n".join(lines) + "\n")


def _ask(
    server: RunningServer, model: ScriptedModelServer, question: Question
) -> list[tuple[int, int]]:
    """For each request the tokens of its fixed part, and of all the rest."""
    model.reset()
    session = server.post("sessions", {})["id"]
    for message, steps in question.messages:
        model.script(*steps)
        reply = server.post(
            "chat",
            {
                "message": message,
                "sessionId": session,
                "mode": "agent",
                "attachments": [{"kind": "notebook", "path": question.path}],
                "activeNotebook": question.path,
            },
        )
        assert reply["status"] == "completed", reply
    return [_tokens(request) for request in model.requests]


def _tokens(request: RecordedRequest) -> tuple[int, int]:
    system = next(item for item in request.items if item.get("role") in ("system", "developer"))
    prompt = count(str(system["content"]))
    return prompt + count(json.dumps(request.body["tools"])), count(request.text) - prompt


def main() -> None:
    """Print the table."""
    questions = [_new_notebook(), _whole_notebook(), _renaming(), _penguins()]
    rows: list[list[object]] = []
    with running() as (server, model):
        shutil.copy(EXAMPLES / "cars.csv", server.root)
        _write_penguins(server.root / "penguins.csv")
        for question in questions:
            _write(server.root, question)
            found = _ask(server, model, question)
            fixed, rest = (sum(part) for part in zip(*found, strict=True))
            rows.append([question.name, len(found), fixed, rest, fixed + rest])
    totals = [sum(int(str(row[at])) for row in rows) for at in range(1, 5)]
    rows.append(["all four", *totals])
    shown = [[f"{each:,}" if isinstance(each, int) else each for each in row] for row in rows]
    heads = ["question", "requests", "fixed part", "all else", "tokens"]
    show("Tokens that the model reads for four questions", heads, shown)


if __name__ == "__main__":
    main()
