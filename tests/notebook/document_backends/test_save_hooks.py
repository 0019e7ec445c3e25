"""Save hooks of the server, which change what is written."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from tornado.web import HTTPError

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.notebook.edits.batch import source_hash
from jupyter_datalayer_agent.notebook.edits.checkpoints import CheckpointsInMemory, Recorder
from jupyter_datalayer_agent.notebook.edits.undo import NotebookState, edits_between, undo
from jupyter_datalayer_agent.protocol.cells import UpdateCell
from jupyter_datalayer_agent.protocol.page import PageRequest
from tests.notebook.support import ScriptedPage, World, code, insert, text_of, world, write_notebook


def double_quotes(*, model: dict[str, Any], **_: Any) -> None:
    """Formats code, as black does."""
    if model["type"] == "notebook":
        for cell in model["content"]["cells"]:
            if cell["cell_type"] == "code":
                cell["source"] = "".join(cell["source"]).replace("'", '"')


def with_another_content(*, model: dict[str, Any], **more: Any) -> None:
    """As some hooks do: the model gets a content of its own."""
    model["content"] = {**model["content"], "cells": [dict(c) for c in model["content"]["cells"]]}
    double_quotes(model=model, **more)


def stamped(*, model: dict[str, Any], **_: Any) -> None:
    for cell in model["content"]["cells"]:
        cell["metadata"]["stamp"] = "saved"
    model["content"]["metadata"].setdefault("made", str(len(model["content"]["cells"])))


def configured(**options: Any) -> AsyncLargeFileManager:
    """With the hook of a configuration file."""
    manager = AsyncLargeFileManager(**options)
    manager.pre_save_hook = double_quotes
    return manager


@pytest.mark.parametrize("hook", [double_quotes, with_another_content])
async def test_a_formatted_cell_is_as_saved_and_runs(tmp_path: Path, hook: Any) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "a = 'x'")])
        w.service.contents_manager.register_pre_save_hook(hook)
        document = await w.service.open("a.ipynb")
        applied = await document.edit([insert("b", "print('hi')")])
        runs = await document.run(["b"], timeout=60)
        cells = (await document.read()).cells
        again = await document.edit(
            [UpdateCell(cell_id="b", base_hash=applied.cells[0].hash, source='print("ho")')]
        )

    assert applied.reformatted == {"b"}
    assert applied.cells[0].source == 'print("hi")'
    assert applied.cells[0].hash == source_hash('print("hi")')
    assert applied.changes[0].after == 'print("hi")'
    assert (runs[0].status, runs[0].note, text_of(runs[0])) == ("ok", None, "hi\n")
    assert [cell.source for cell in cells] == ['a = "x"', 'print("hi")']
    assert again.reformatted == frozenset()


async def test_the_hook_of_the_configuration_formats_too(tmp_path: Path) -> None:
    async with world(tmp_path, contents_class=configured) as w:
        write_notebook(w.root, [code("a", "1")])
        applied = await (await w.service.open("a.ipynb")).edit([insert("b", "print('hi')")])

    assert [cell.source for cell in applied.cells] == ['print("hi")']


async def test_what_needs_no_formatting_is_not_called_formatted(tmp_path: Path) -> None:
    async with world(tmp_path, contents_class=configured) as w:
        write_notebook(w.root, [code("a", "1")])
        applied = await (await w.service.open("a.ipynb")).edit([insert("b", 'print("hi")')])

    assert (applied.altered, applied.reformatted) == (frozenset(), frozenset())


@pytest.mark.parametrize("hook", [double_quotes, stamped])
async def test_a_turn_is_undone_where_a_hook_changed_its_cells(tmp_path: Path, hook: Any) -> None:
    kept = CheckpointsInMemory()
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1")])
        w.service.contents_manager.register_pre_save_hook(hook)
        document = await w.service.recording(Recorder(kept)).open("a.ipynb")
        first = (await document.read()).cells[0]
        await document.edit(
            [
                UpdateCell(cell_id="a", base_hash=first.hash, source="a = '2'"),
                insert("b", "print('hi')"),
            ]
        )
        await document.run(["b"], timeout=60)
        whole = await document.read(whole=True)
        now = NotebookState(list(whole.order or ()), {c.id: c.cell for c in whole.cells if c.cell})
        undone = undo(kept.spans("a.ipynb"), now)
        await (await w.service.open("a.ipynb")).edit(edits_between(now, undone))
        on_disk = [("".join(cell["source"]), cell["id"]) for cell in w.on_disk()["cells"]]

    assert undone.conflicts == []
    assert on_disk == [("1", "a")]


async def test_metadata_that_a_hook_adds_once_is_kept(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1")])
        w.service.contents_manager.register_pre_save_hook(stamped)
        document = await w.service.open("a.ipynb")
        await document.edit([insert("b", "2")])
        await document.edit([insert("c", "3")])
        content = w.on_disk()

    assert content["metadata"]["made"] == "2"
    assert [cell["metadata"].get("stamp") for cell in content["cells"]] == ["saved"] * 3


@pytest.mark.parametrize("error", [HTTPError(400, "no secrets in notebooks"), ValueError("broken")])
async def test_a_hook_that_refuses_loses_nothing(tmp_path: Path, error: Exception) -> None:
    def refuse(**_: Any) -> None:
        raise error

    async with world(tmp_path) as w:
        file = write_notebook(w.root, [code("a", "1")])
        w.service.contents_manager.register_pre_save_hook(refuse)
        before = file.read_bytes()
        document = await w.service.open("a.ipynb")
        if isinstance(error, HTTPError):
            with pytest.raises(DocumentError, match="no secrets in notebooks"):
                await document.edit([insert("b", "2")])
            assert file.read_bytes() == before
            assert [cell.id for cell in (await document.read()).cells] == ["a"]
        else:  # Jupyter logs it, and saves.
            await document.edit([insert("b", "2")])
            assert [cell["id"] for cell in w.on_disk()["cells"]] == ["a", "b"]


async def test_a_hook_that_removes_the_new_cell_is_an_error(tmp_path: Path) -> None:
    def only_the_first(*, model: dict[str, Any], **_: Any) -> None:
        del model["content"]["cells"][1:]

    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1")])
        w.service.contents_manager.register_pre_save_hook(only_the_first)
        document = await w.service.open("a.ipynb")
        with pytest.raises(DocumentError, match="read back"):
            await document.edit([insert("b", "2")])
        assert [cell.id for cell in (await document.read()).cells] == ["a"]


async def test_a_hook_may_add_a_cell(tmp_path: Path) -> None:
    def licensed(*, model: dict[str, Any], **_: Any) -> None:
        cells = model["content"]["cells"]
        if cells[0]["id"] != "license":
            cells.insert(0, code("license", "# (c)"))

    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1")])
        w.service.contents_manager.register_pre_save_hook(licensed)
        document = await w.service.open("a.ipynb")
        applied = await document.edit([insert("b", "2")])
        cells = (await document.read()).cells

    assert [(cell.id, cell.index) for cell in applied.cells] == [("b", 2)]
    assert [cell.id for cell in cells] == ["license", "a", "b"]


async def test_a_post_save_hook_writes_a_script_beside_it(tmp_path: Path) -> None:
    def script(*, os_path: str, **_: Any) -> None:
        Path(os_path).with_suffix(".py").write_text("# a script")

    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1")])
        w.service.contents_manager.register_post_save_hook(script)
        document = await w.service.open("a.ipynb")
        applied = await document.edit([insert("b", "2")])
        runs = await document.run(["b"], timeout=60)

    assert (applied.altered, runs[0].status) == (frozenset(), "ok")
    assert (tmp_path / "root" / "a.py").read_text() == "# a script"


class SavingPage(ScriptedPage):
    """A page that saves what it has after each edit, as JupyterLab does."""

    def __init__(self, w: World) -> None:
        super().__init__(w.pages)
        self.world = w

    async def _act(self, request: PageRequest) -> Any:
        result = await super()._act(request)
        if request.method == "notebook.edit":
            path = request.params["path"]
            content = self.world.on_disk(path) | {"cells": self.notebooks[path]}
            model = {"type": "notebook", "format": "json", "content": copy.deepcopy(content)}
            await self.world.service.contents_manager.save(model, path)
        return result


async def test_an_open_page_shows_a_formatted_cell_as_it_was_saved(tmp_path: Path) -> None:
    kept = CheckpointsInMemory()
    async with world(tmp_path, contents_class=configured) as w:
        cells = [code("a", "1")]
        write_notebook(w.root, cells)
        page = SavingPage(w).connect().open("a.ipynb", cells)
        document = await w.service.recording(Recorder(kept)).open("a.ipynb")
        applied = await document.edit([insert("b", "print('hi')"), insert("c", "2")])
        shown = {cell["id"]: cell["source"] for cell in page.notebooks["a.ipynb"]}
        on_disk = {each["id"]: "".join(each["source"]) for each in w.on_disk()["cells"]}
        [span] = kept.spans("a.ipynb")

    assert applied.reformatted == {"b"}
    assert {cell.id: cell.source for cell in applied.cells} == {"b": 'print("hi")', "c": "2"}
    assert [change.after for change in applied.changes] == ['print("hi")', "2"]
    assert shown == on_disk == {"a": "1", "b": 'print("hi")', "c": "2"}
    assert span.cells["b"].left is not None
    assert span.cells["b"].left.source == 'print("hi")'


@pytest.mark.parametrize("hook", [None, double_quotes])
async def test_a_page_is_asked_once_where_nothing_was_formatted(tmp_path: Path, hook: Any) -> None:
    async with world(tmp_path) as w:
        cells = [code("a", "1")]
        write_notebook(w.root, cells)
        if hook is not None:
            w.service.contents_manager.register_pre_save_hook(hook)
        page = SavingPage(w).connect().open("a.ipynb", cells)
        applied = await (await w.service.open("a.ipynb")).edit([insert("b", "2")])

    assert applied.reformatted == frozenset()
    assert page.methods() == ["notebook.edit"]


def formatted_file(*, os_path: str, model: dict[str, Any], **_: Any) -> None:
    """Formats the file that was saved, as a formatter that is a program does."""
    if model["type"] == "notebook":
        content = json.loads(Path(os_path).read_text())
        for cell in content["cells"]:
            cell["source"] = "".join(cell["source"]).replace("'", '"')
        Path(os_path).write_text(json.dumps(content))


def without_last_cell(*, os_path: str, **_: Any) -> None:
    content = json.loads(Path(os_path).read_text())
    content["cells"].pop()
    Path(os_path).write_text(json.dumps(content))


async def test_a_notebook_that_a_hook_formats_after_it_was_saved_is_edited_and_runs(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "a = 1")])
        w.service.contents_manager.register_post_save_hook(formatted_file)
        document = await w.service.open("a.ipynb")
        applied = await document.edit([insert("b", "print('hi')")])
        runs = await document.run(["b"], timeout=60)
        again = await document.edit(
            [UpdateCell(cell_id="b", base_hash=applied.cells[0].hash, source='print("ho")')]
        )
        on_disk = ["".join(cell["source"]) for cell in w.on_disk()["cells"]]

    assert (applied.cells[0].source, applied.reformatted) == ('print("hi")', {"b"})
    assert (runs[0].status, text_of(runs[0])) == ("ok", "hi\n")
    assert (again.cells[0].source, again.reformatted) == ('print("ho")', frozenset())
    assert on_disk == ["a = 1", 'print("ho")']


async def test_a_cell_that_a_hook_removes_after_the_save_is_an_error(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "a = 1")])
        w.service.contents_manager.register_post_save_hook(without_last_cell)
        document = await w.service.open("a.ipynb")
        with pytest.raises(DocumentError, match="not those that were written"):
            await document.edit([insert("b", "print('hi')")])
