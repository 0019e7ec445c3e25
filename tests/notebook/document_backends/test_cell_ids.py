"""Notebooks whose file keeps no ids: an edit changes its cell only, and ids go on to work."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_datalayer_agent.notebook.document_backends.cell_ids import KnownAddresses
from jupyter_datalayer_agent.notebook.edits.batch import source_hash
from jupyter_datalayer_agent.notebook.edits.checkpoints import CheckpointsInMemory, Names, Recorder
from jupyter_datalayer_agent.notebook.edits.undo import NotebookState, edits_between, undo
from jupyter_datalayer_agent.notebook.same_cells import same_cells
from jupyter_datalayer_agent.notebook.service import NotebookService
from jupyter_datalayer_agent.protocol.cells import (
    CellPosition,
    DeleteCell,
    MoveCell,
    PageCell,
    UpdateCell,
)
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer
from tests.support.sessions import act

from ..support import ScriptedPage, World, code, insert, markdown, world, write_notebook

SAME = [code("x", "x"), code("x", "x"), markdown("m", "# T"), code("x", "x"), code("y", "y")]


def update(cell: PageCell, source: str) -> UpdateCell:
    return UpdateCell(cell_id=cell.id, base_hash=cell.hash, source=source)


async def cells_of(w: World) -> list[PageCell]:
    return (await (await w.service.open("a.ipynb")).read()).cells


def as_jupyter_writes(file: Path) -> None:
    nbformat.write(nbformat.read(file, as_version=nbformat.NO_CONVERT), file)


async def test_an_edit_of_a_notebook_of_4_4_is_a_diff_of_its_lines_only(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        file = write_notebook(w.root, SAME, minor=4)
        as_jupyter_writes(file)
        before = file.read_text().splitlines()
        cells = await cells_of(w)
        document = await w.service.open("a.ipynb")
        await document.edit([update(cells[1], "changed")])
        diff = list(difflib.unified_diff(before, file.read_text().splitlines(), n=0))[3:]
    assert diff == ['-    "x"', '+    "changed"']


async def test_the_ids_that_were_shown_go_on_to_work_among_equal_cells(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, SAME, minor=4)
        document = await w.service.open("a.ipynb")
        first = await cells_of(w)
        await document.edit([update(first[1], "second"), insert("new1", "n", at="start")])
        w.service.files._cache.drop("a.ipynb")
        await document.edit([update(first[0], "first")])
        w.service.files._cache.drop("a.ipynb")
        now = await cells_of(w)
        await document.edit([DeleteCell(cell_id=first[3].id, base_hash=first[3].hash)])
        await document.edit([MoveCell(cell_id="new1", position=CellPosition(after=first[4].id))])
        after = await cells_of(w)
        on_disk = w.on_disk()
    assert [each.id for each in now] == ["new1", *[each.id for each in first]]
    assert [each.source for each in after] == ["first", "second", "# T", "y", "n"]
    assert not any("id" in each for each in on_disk["cells"])
    assert on_disk["nbformat_minor"] == 4


async def test_ids_go_on_to_work_when_others_write_the_file(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, SAME, minor=4)
        document = await w.service.open("a.ipynb")
        first = await cells_of(w)
        await document.edit([update(first[1], "second")])
        theirs = [code("", "theirs"), code("", "x"), code("", "second!"), *SAME[2:]]
        write_notebook(w.root, theirs, minor=4)
        now = await cells_of(w)
    assert [each.id for each in now[1:]] == [each.id for each in first]


async def test_an_id_that_a_new_cell_would_have_is_not_taken_from_the_old_one(
    tmp_path: Path,
) -> None:
    """A derived id is that of the first text; a cell that gets this text later has another one."""
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("", "x"), code("", "y")], minor=4)
        document = await w.service.open("a.ipynb")
        [x, y] = await cells_of(w)
        await document.edit([update(x, "z")])
        write_notebook(w.root, [code("", "z"), code("", "y"), code("", "x")], minor=4)
        now = await cells_of(w)
    assert [each.id for each in now[:2]] == [x.id, y.id]
    assert now[2].id not in (x.id, y.id)


def test_an_id_that_a_cell_has_again_is_that_cells_id() -> None:
    known = KnownAddresses()
    for ids in ("ab", "xb", "ab"):
        known.seen("a.ipynb", [(each, text) for each, text in zip(ids, "12", strict=True)])
        assert not set(known.now("a.ipynb")) & set(ids)
    assert known.now("a.ipynb") == {"x": "a"}


class Page44(ScriptedPage):
    """A page that opens a notebook of 4.4: JupyterLab names its cells anew each time."""

    def load(self, path: str, root: Path, name: str) -> Page44:
        self.ids_kept = False
        cells = json.loads((root / path).read_text())["cells"]
        named = [
            {**each, "id": f"{name}{index}", "source": "".join(each["source"])}
            for index, each in enumerate(cells)
        ]
        self.open(path, named)
        return self

    def save(self, path: str, root: Path) -> None:
        write_notebook(root, self.notebooks[path], path, minor=4)


async def test_ids_go_on_to_work_in_a_page_and_after_it(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, SAME, minor=4)
        document = await w.service.open("a.ipynb")
        first = await cells_of(w)
        await document.edit([update(first[1], "second")])

        page = Page44(w.pages)
        page.connect()
        page.load("a.ipynb", w.root, "p")
        in_page = await document.read()
        applied = await document.edit([update(first[0], "first"), insert("new1", "n")])
        assert [each.id for each in applied.cells] == ["p0", "new1"]
        assert in_page.now(first[4].id) == "p4"
        read = await document.read([first[4].id, "new1"])
        assert [each.source for each in read.cells] == ["y", "n"]

        page.save("a.ipynb", w.root)
        page.close_notebook("a.ipynb")
        second = PageCell(
            id=first[1].id, index=1, type="code", source="", hash=source_hash("second")
        )
        await document.edit([update(second, "2"), MoveCell(cell_id="new1", position=TOP)])
        page.load("a.ipynb", w.root, "q")
        last = PageCell(id="p4", index=1, type="code", source="", hash=source_hash("y"))
        await document.edit([update(last, "last")])
        sources = [each["source"] for each in page.notebooks["a.ipynb"]]
    assert sources == ["n", "first", "2", "# T", "x", "last"]


TOP = CellPosition(at="start")


@pytest.mark.parametrize("where", ["here", "after a restart", "in a page"])
async def test_a_turn_is_undone_wherever_its_cells_got_other_ids(
    tmp_path: Path, where: str
) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, SAME, minor=4)
        kept = CheckpointsInMemory()
        recording = await w.service.recording(Recorder(kept)).open("a.ipynb")
        first = await cells_of(w)
        await recording.edit(
            [
                update(first[1], "second"),
                DeleteCell(cell_id=first[4].id, base_hash=first[4].hash),
                insert("new1", "n", after=first[0].id),
            ]
        )
        service: NotebookService = w.service
        if where == "after a restart":
            service.files.addresses = type(service.files.addresses)()
            service.files._cache.drop("a.ipynb")
        page = Page44(w.pages)
        if where == "in a page":
            page.connect()
            page.load("a.ipynb", w.root, "p")
        document = await service.open("a.ipynb")
        notebook = await document.read(whole=True)
        spans = kept.spans("a.ipynb")
        names = Names.recorded(spans, notebook.cells)
        cells = {each.id: each.cell for each in notebook.cells if each.cell is not None}
        touched = [each for span in spans for each in span.cells]
        now = names.given(NotebookState(list(notebook.order or ()), cells), touched)
        undone = undo(spans, now)
        assert undone.conflicts == []
        await document.edit(names.edits(edits_between(now, undone)))
        sources = [each.source for each in (await document.read()).cells]
    assert sources == ["x", "x", "# T", "x", "y"]


def chat(server: RunningServer) -> Any:
    attached = [{"kind": "notebook", "path": "old.ipynb"}]
    body = {"message": "Go", "mode": "agent", "attachments": attached}
    return server.post("chat", {**body, "activeNotebook": "old.ipynb"})


def test_a_turn_in_a_notebook_of_4_4_goes_on_by_its_ids_and_is_undone(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    file = write_notebook(server.root, SAME, "old.ipynb", minor=4)
    as_jupyter_writes(file)
    before = file.read_bytes()
    model.script(
        Call("getNotebookCells"),
        lambda request: Calls(
            [
                Call("updateNotebookCell", {"cellId": request.cell("y"), "content": "z = 1"}),
                Call("updateNotebookCell", {"cellId": request.cell("y"), "content": "z = 2"}),
                Call("runNotebookCells", {"cellIds": [request.cell("y")]}),
                Call("moveNotebookCell", {"cellId": request.cell("y"), "position": "start"}),
                Call("getCellOutputs", {"cellId": request.cell("y")}),
            ]
        ),
        Say("Done."),
    )
    reply = chat(server)
    assert {call["status"] for call in reply["toolCalls"]} == {"ok"}
    content = json.loads(file.read_text())
    assert content["cells"][0]["source"] == ["z = 2"]
    assert content["nbformat_minor"] == 4
    assert not any("id" in cell for cell in content["cells"])
    act(server, reply["sessionId"], {"type": "undo", "turnId": reply["turnId"]}, "changes_undone")
    after = json.loads(file.read_text())
    assert after["cells"] == json.loads(before)["cells"]


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        ("", "", ""),
        ("abc", "abc", "012"),
        ("abc", "xabc", "123"),
        ("abc", "ab", "01-"),
        ("aaa", "aaa", "012"),
        ("aba", "aXa", "012"),
        ("abcd", "cdab", "2301"),
        ("ab", "xyz", "--"),
    ],
)
def test_cells_are_recognised_by_their_text_and_place(before: str, now: str, same: str) -> None:
    found = same_cells(
        [(f"b{index}", text) for index, text in enumerate(before)],
        [(f"n{index}", text) for index, text in enumerate(now)],
    )
    assert [found.get(f"b{index}", "-")[-1] for index in range(len(before))] == list(same)
