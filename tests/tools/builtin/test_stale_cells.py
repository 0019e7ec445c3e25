"""After a change the result and the page report which cells are stale; and exactly those run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.service import NotebookService
from jupyter_datalayer_agent.tools.builtin import builtin_registry
from jupyter_datalayer_agent.tools.context import ToolContext
from jupyter_datalayer_agent.tools.dispatcher import Dispatcher
from jupyter_datalayer_agent.tools.gate import Gate
from tests.notebook.support import BASH_SPEC, code, install_spec, markdown, world, write_notebook


@pytest.fixture(autouse=True)
def own_jupyter_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA", "RUNTIME", "CONFIG"):
        folder = tmp_path / "jupyter" / name.lower()
        folder.mkdir(parents=True)
        monkeypatch.setenv(f"JUPYTER_{name}_DIR", str(folder))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "jupyter" / "ipython"))


class Tools:
    """The tools on ``a.ipynb``; ``emitted`` is what the page received of stale cells."""

    def __init__(self, service: NotebookService) -> None:
        self.emitted: list[list[str]] = []
        context = ToolContext(
            gate=Gate.on("a.ipynb"),
            notebooks=service,
            kernel_timeout_seconds=60,
            on_stale=self._on_stale,
        )
        self._dispatcher = Dispatcher(builtin_registry(), context)

    async def _on_stale(self, path: str, cell_ids: list[str]) -> None:
        assert path == "a.ipynb"
        self.emitted.append(cell_ids)

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The output of a call that went well."""
        done = await self._dispatcher.call(name, arguments)
        assert done.result.ok, done.result
        return dict(done.result.output)

    async def ran(self, **arguments: Any) -> list[str]:
        output = await self.call("runNotebookCells", **arguments)
        return [run["cellId"] for run in output["runs"] if run["status"] != "skipped"]


@asynccontextmanager
async def tools(tmp_path: Path, **options: Any) -> AsyncIterator[Tools]:
    async with world(tmp_path, **options) as w:
        cells = [
            code("load", "x = 1"),
            markdown("text", "# x"),
            code("twice", "y = 2 * x"),
            code("other", "z = 5"),
            code("show", "print(y)"),
        ]
        write_notebook(w.root, cells)
        yield Tools(w.service)


async def test_exactly_what_follows_from_an_edited_cell_is_run_again(tmp_path: Path) -> None:
    async with tools(tmp_path) as t:
        assert await t.ran(all=True) == ["load", "twice", "other", "show"]
        changed = await t.call("updateNotebookCell", cellId="load", content="x = 10")
        assert changed["staleCells"] == ["load", "twice", "show"]
        assert t.emitted == [["load", "twice", "show"]]
        assert await t.ran(cellIds=["load"], includeDependents=True) == ["load", "twice", "show"]
        assert t.emitted[-1] == []
        cells = await t.call("getNotebookCells", cellIds=["show"], includeOutputs=True)
        assert cells["cells"][0]["outputs"] == "20"


async def test_a_changed_cell_that_runs_is_fresh_and_what_follows_is_not(tmp_path: Path) -> None:
    async with tools(tmp_path) as t:
        await t.ran(all=True)
        changed = await t.call("updateNotebookCell", cellId="load", content="x = 3", run=True)
        assert changed["staleCells"] == ["twice", "show"]
        output = await t.call("runNotebookCells", cellIds=["twice"])
        assert output["staleCells"] == ["show"]
        assert t.emitted == [["twice", "show"], ["show"]]


async def test_cells_that_are_added_deleted_and_moved_count_too(tmp_path: Path) -> None:
    async with tools(tmp_path) as t:
        await t.ran(all=True)
        added = await t.call(
            "addNotebookCell", type="code", content="x = 7", position={"after": "load"}
        )
        assert added["staleCells"] == ["twice", "show"]
        moved = await t.call("moveNotebookCell", cellId=added["cellId"], position="end")
        assert moved["staleCells"] == []
        deleted = await t.call("deleteNotebookCells", cellIds=["load"])
        assert deleted["staleCells"] == ["twice", "show"]
        assert t.emitted == [["twice", "show"], [], ["twice", "show"]]


async def test_dependents_that_never_ran_are_left_where_others_did(tmp_path: Path) -> None:
    async with tools(tmp_path) as t:
        await t.ran(cellIds=["load", "twice"])
        assert await t.ran(cellIds=["load"], includeDependents=True) == ["load", "twice"]


async def test_in_a_notebook_that_never_ran_all_that_follows_is_run(tmp_path: Path) -> None:
    async with tools(tmp_path) as t:
        assert await t.ran(cellIds=["load"], includeDependents=True) == ["load", "twice", "show"]


async def test_a_comment_makes_nothing_stale(tmp_path: Path) -> None:
    async with tools(tmp_path) as t:
        await t.ran(all=True)
        changed = await t.call("updateNotebookCell", cellId="load", content="x = 1  # one")
        assert changed["staleCells"] == []
        assert t.emitted == []


async def test_another_language_goes_by_order(tmp_path: Path) -> None:
    specs = install_spec(tmp_path / "specs", "bash", BASH_SPEC)
    async with world(tmp_path, kernel_dirs=[specs]) as w:
        bash = {"kernelspec": {"name": "bash", "display_name": "Bash", "language": "bash"}}
        cells = [code("a", "x=1"), code("b", "echo b"), code("c", "echo $x")]
        write_notebook(w.root, cells, metadata=bash)
        t = Tools(w.service)
        await t.ran(all=True)
        changed = await t.call("updateNotebookCell", cellId="b", content="echo c")
        assert changed["staleCells"] == ["b", "c"]
        assert await t.ran(cellIds=["b"], includeDependents=True) == ["b", "c"]
