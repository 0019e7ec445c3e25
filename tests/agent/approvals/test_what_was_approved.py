"""An approval is of what its card showed: what has changed since is asked about anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from jupyter_datalayer_agent.notebook.lexical.block_types import new_blocks
from jupyter_datalayer_agent.notebook.lexical.convert import new_document
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, ScriptedModelServer
from tests.support.waiting_calls import CHANGED, Folder

JUNK, CARS = "!rm junk.txt", "!rm cars.csv"


@pytest.fixture
def folder(server: RunningServer, model: ScriptedModelServer) -> Iterator[Folder]:
    yield Folder(server, model)
    for each in server.get("/api/sessions"):
        server.request("DELETE", f"/api/sessions/{each['id']}")


RUN_ONE = Call("runNotebookCells", {"cellIds": ["c1"]})
RUN_ALL = Call("runNotebookCells", {"all": True})


@pytest.mark.parametrize("run", [RUN_ONE, RUN_ALL])
@pytest.mark.parametrize("approval", ["destructive", "always"])
def test_a_cell_that_is_changed_on_the_disk_while_it_waits_asks_with_its_new_text(
    folder: Folder, run: Call, approval: str
) -> None:
    folder.write("x = 1", JUNK)
    asked = folder.turn(
        run,
        meanwhile=lambda: folder.write("x = 1", CARS),
        decisions="approve deny",
        approval=approval,
    )
    assert [each["reason"] for each in asked] == [
        "Cell 2 removes junk.txt (line 1)",
        CHANGED + "Cell 2 removes cars.csv (line 1)",
    ]
    assert asked[1]["code"][-1] == {"subject": "Cell 2", "source": CARS, "cellId": "c1"}
    assert folder.left == {"cars.csv", "junk.txt"}


def test_python_that_is_changed_while_it_waits_asks_with_its_new_text(folder: Folder) -> None:
    folder.write("import os", "os.remove('junk.txt')")
    asked = folder.turn(
        RUN_ALL,
        meanwhile=lambda: folder.write("import os", "os.remove('cars.csv')"),
        decisions="approve deny",
        approval="always",
    )
    assert asked[1]["reason"] == CHANGED + "Cell 2 removes cars.csv (line 1)"
    assert folder.left == {"cars.csv", "junk.txt"}


def test_a_harmless_new_text_is_asked_about_where_everything_is(folder: Folder) -> None:
    folder.write("x = 1")
    asked = folder.turn(
        RUN_ALL,
        meanwhile=lambda: folder.write("x = 2"),
        decisions="approve approve",
        approval="always",
    )
    assert [each["code"][0]["source"] for each in asked] == ["x = 1", "x = 2"]
    ran = nbformat.read(folder.server.root / folder.notebook, as_version=4)
    assert ran.cells[0].execution_count == 1


def test_what_is_unchanged_is_asked_once_and_runs(folder: Folder) -> None:
    folder.write("x = 1", JUNK)
    # Other cells may change, and the cell's place.
    asked = folder.turn(
        RUN_ONE, meanwhile=lambda: folder.write("x = 2", JUNK, "y = 3"), decisions="approve"
    )
    assert len(asked) == 1
    assert folder.left == {"cars.csv"}


@pytest.mark.parametrize("source", ["import nothing_of_this_name", "len(colums)"])
def test_what_looks_for_a_repair_after_it_failed_is_not_asked_about(
    folder: Folder, source: str
) -> None:
    folder.write("columns = [1]", source)
    asked = folder.turn(RUN_ALL, meanwhile=lambda: None, decisions="approve", approval="always")
    assert len(asked) == 1


def test_a_cell_that_comes_to_those_that_run_asks(folder: Folder) -> None:
    folder.write(JUNK)
    asked = folder.turn(
        RUN_ALL, meanwhile=lambda: folder.write(JUNK, CARS), decisions="approve deny"
    )
    assert asked[1]["reason"].startswith(CHANGED + "Cell 1 removes junk.txt (line 1); Cell 2")
    assert folder.left == {"cars.csv", "junk.txt"}


def test_another_kernel_asks_anew(folder: Folder) -> None:
    folder.write(JUNK)
    server = folder.server
    where = {"path": folder.notebook, "name": "a", "type": "notebook"}
    session = server.post("/api/sessions", {**where, "kernel": {"name": "python3"}})

    def replace() -> None:
        body = {"kernel": {"name": "python3"}}
        assert server.request("PATCH", f"/api/sessions/{session['id']}", json=body).ok

    asked = folder.turn(RUN_ALL, meanwhile=replace, decisions="approve deny")
    assert [each["reason"] for each in asked] == [
        "Cell 1 removes junk.txt (line 1)",
        CHANGED + "Cell 1 removes junk.txt (line 1)",
    ]
    assert "junk.txt" in folder.left


def test_a_block_that_is_changed_while_it_waits_asks_with_its_new_text(folder: Folder) -> None:
    name = f"{folder.name}/a.dlex"
    file: Path = folder.server.root / name
    nodes = new_blocks("jupyter-input", JUNK)
    file.write_text(new_document(nodes))

    def change() -> None:
        file.write_text(file.read_text().replace("junk.txt", "cars.csv"))

    asked = folder.turn(
        Call("runAllBlocks"),
        meanwhile=change,
        decisions="approve deny",
        attachments=[{"kind": "file", "path": name}],
        activeNotebook=name,
    )
    assert [each["reason"] for each in asked] == [
        "Block 1 removes junk.txt (line 1)",
        CHANGED + "Block 1 removes cars.csv (line 1)",
    ]
    assert folder.left == {"cars.csv", "junk.txt"}


def test_a_file_that_is_changed_while_its_diff_waits_is_not_overwritten(folder: Folder) -> None:
    folder.write("x = 1")
    path = f"{folder.name}/junk.txt"
    calls = [
        Call("readFile", {"path": path}),
        Call("writeFile", {"path": path, "content": "new"}),
    ]
    file = folder.path / "junk.txt"
    asked = folder.turn(*calls, meanwhile=lambda: _written(file, "the user's"), decisions="approve")
    assert len(asked) == 1
    assert file.read_text() == "the user's"
    assert "the user's" in folder.model.requests[-1].text


def _written(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
