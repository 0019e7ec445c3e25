"""The way of the Fix button for each known error: as proposals that a page can show, without a
model and with one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import v4

from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer

KNOWN = {
    "misspelt-name": ("total = 1\nprint(totl)", "NameError"),
    "missing-import": ("json.dumps([1])", "NameError"),
    "cell-not-run": ("print(rate)", "NameError"),
    "missing-column": (
        "import pandas as pd\ncars = pd.read_csv('cars.csv')\ncars['Horsepowr'].mean()",
        "KeyError",
    ),
    "missing-file": ("text = open('carz.csv').read()", "FileNotFoundError"),
    "misspelt-module": ("import jsno\njsno.dumps(1)", "ModuleNotFoundError"),
    "known-module": ("import serial", "ModuleNotFoundError"),
    "unknown-module": ("import qwertzuiop_lib", "ModuleNotFoundError"),
    "own-module": ("import mine", "ModuleNotFoundError"),
    "open-bracket": ("print(sum([1, 2])", "SyntaxError"),
    "missing-colon": ("for i in range(3)\n    print(i)", "SyntaxError"),
    "open-string": ("x = 'abc\ny = 1", "SyntaxError"),
    "python-2-print": ("print 'a'", "SyntaxError"),
}
INSTALLS = {"known-module", "unknown-module"}


def test_the_page_can_show_and_run_the_fix_of_each_known_error(server: RunningServer) -> None:
    path = notebook(server.root)
    for name in KNOWN:
        cell_id = f"c-{name}"
        run(server, path, [cell_id])
        attempt = server.post("fixes", {"path": path, "cellId": cell_id})
        assert attempt["fixes"], name
        runs = carry_out(server, path, attempt["fixes"][0], name not in INSTALLS)
        if name not in INSTALLS:
            assert run(server, path, runs)[-1] == (cell_id, "ok"), name


@pytest.fixture(scope="module")
def failed(server: RunningServer) -> str:
    """A notebook with each of the errors."""
    path = notebook(server.root, "failed.ipynb")
    run(server, path, [f"c-{name}" for name in KNOWN])
    return path


@pytest.mark.parametrize("name", KNOWN)
def test_the_model_is_sent_the_error_and_answers_with_a_proposal(
    server: RunningServer, model: ScriptedModelServer, failed: str, name: str
) -> None:
    path, cell_id, ename = failed, f"c-{name}", KNOWN[name][1]
    model.script(Say(f"```python cell={cell_id}\npass\n```"))
    where = {"path": path, "cellId": cell_id}
    reply = server.post(
        "chat",
        {
            "message": "Fix the error of this cell.",
            "mode": "edit",
            "location": "inline",
            "activeNotebook": path,
            "cellId": cell_id,
            "attachments": [{"kind": "cell", **where}, {"kind": "output", **where}],
        },
    )
    assert f"cell={cell_id}" in reply["reply"]
    assert reply["changes"] == []
    assert ename in model.requests[0].text
    assert KNOWN[name][0].splitlines()[-1] in model.requests[0].text


def notebook(root: Path, path: str = "known.ipynb") -> str:
    """A notebook with a cell for each known error, and what some of the fixes need."""
    (root / "lib").mkdir(exist_ok=True)
    (root / "lib" / "mine.py").write_text("answer = 42\n")
    cells = [v4.new_code_cell(source, id=f"c-{name}") for name, (source, _) in KNOWN.items()]
    cells.insert(0, v4.new_code_cell("rate = 3", id="rate"))
    nbformat.write(v4.new_notebook(cells=cells), root / path)
    return path


def run(server: RunningServer, path: str, cell_ids: list[str]) -> list[tuple[str, str]]:
    """Run cells as the user would; how each ended."""
    arguments = {"path": path, "cellIds": cell_ids, "stopOnError": False}
    done = server.post("tools/runNotebookCells", {"arguments": arguments})
    return [(each["cellId"], each["status"]) for each in done["output"]["runs"]]


def carry_out(server: RunningServer, path: str, fix: Any, write: bool) -> list[str]:
    """Do with a fix what the page does: new sources and new cells first, then the runs."""
    added = []
    for change in fix["changes"] if write else []:
        given: dict[str, Any] = {"path": path, "content": change["source"], "run": False}
        if change["kind"] == "cell":
            done = server.post(
                "tools/updateNotebookCell", {"arguments": {**given, "cellId": change["cellId"]}}
            )
        else:
            where = {"type": "code", "position": {change["kind"]: change["cellId"]}}
            done = server.post("tools/addNotebookCell", {"arguments": {**given, **where}})
            added.append(done["output"]["cellId"])
        assert done["ok"], done
    return [*added, *fix["runs"]]
