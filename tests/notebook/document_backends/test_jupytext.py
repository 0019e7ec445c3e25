"""Notebooks of jupytext's contents manager: text files as notebooks, and notebooks of two files."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from jupyter_core.utils import ensure_async

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.notebook.edits.batch import source_hash
from jupyter_datalayer_agent.notebook.edits.checkpoints import CheckpointsInMemory, Names, Recorder
from jupyter_datalayer_agent.notebook.edits.undo import NotebookState, edits_between, undo
from jupyter_datalayer_agent.protocol.cells import CellPosition, DeleteCell, MoveCell, UpdateCell
from tests.notebook.support import (
    ScriptedPage,
    World,
    code,
    insert,
    text_of,
    world,
    write_notebook,
)
from tests.support.beside import folder_of

Here = AbstractAsyncContextManager[World]
PAIRED = {"jupytext": {"formats": "ipynb,py:percent"}}
PERCENT = "# %%\nx = 41\n\n# %%\nprint(x + 1)\n"
HEADER = "jupytext:\n  text_representation:\n    extension: .md\n    format_name: myst\n"
MYST = (
    f"---\n{HEADER}---\n\n```{{code-cell}}\nx = 41\n```\n\nWords\n\n```{{code-cell}}\nx + 1\n```\n"
)
MARKDOWN = "# A title\n\n```python\nx = 41\n```\n\nSome words.\n\n```python\nprint(x + 1)\n```\n"


@pytest.fixture(params=["sync", "async"])
def jupytext(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Both of jupytext's contents managers: the one it takes depends on the server's own."""
    monkeypatch.syspath_prepend(str(folder_of("jupytext")))
    import jupytext as package

    if request.param == "sync":
        return package.TextFileContentsManager
    return package.AsyncTextFileContentsManager


@pytest.fixture
def here(tmp_path: Path, jupytext: Callable[..., Any]) -> AbstractAsyncContextManager[World]:
    """A server root with jupytext."""
    return world(tmp_path, contents_class=jupytext)


def later(file: Path) -> None:
    """The file is newer than all that was written before: clocks are coarser than tests."""
    now = file.stat().st_mtime_ns + 2_000_000_000
    os.utime(file, ns=(now, now))


def update(cell: Any, source: str) -> UpdateCell:
    return UpdateCell(cell_id=cell.id, base_hash=cell.hash, source=source)


async def test_a_change_of_the_twin_by_hand_is_read_and_kept(here: Here) -> None:
    async with here as w:
        write_notebook(w.root, [code("a", "x = 1"), code("b", "y = 2")], metadata=PAIRED)
        document = await w.service.open("a.ipynb")
        cells = (await document.read()).cells
        await document.edit([update(cells[0], "x = 10")])
        twin = w.root / "a.py"
        twin.write_text(twin.read_text().replace("y = 2", "y = 22  # by hand"))
        later(twin)
        read = (await document.read()).cells
        await document.edit([update(read[0], "x = 100")])

        assert [cell.source for cell in read] == ["x = 10", "y = 22  # by hand"]
        assert [cell.id for cell in read] == ["a", "b"]
        assert "by hand" in twin.read_text()
        assert "x = 100" in twin.read_text()
        assert [cell["source"] for cell in w.on_disk()["cells"]] == [
            ["x = 100"],
            ["y = 22  # by hand"],
        ]
        assert [cell["id"] for cell in w.on_disk()["cells"]] == ["a", "b"]


async def test_an_edit_of_a_cell_that_the_twin_changed_is_stale(here: Here) -> None:
    async with here as w:
        write_notebook(w.root, [code("a", "x = 1"), code("b", "y = 2")], metadata=PAIRED)
        document = await w.service.open("a.ipynb")
        await document.edit([insert("c", "z = 3")])
        cells = (await document.read()).cells
        twin = w.root / "a.py"
        twin.write_text(twin.read_text().replace("y = 2", "y = 22"))
        later(twin)
        with pytest.raises(DocumentError) as refused:
            await document.edit([update(cells[1], "y = 3")])

        assert refused.value.code == "stale"
        assert "y = 22" in twin.read_text()


async def test_a_twin_that_is_changed_between_our_read_and_our_save_is_kept(here: Here) -> None:
    async with here as w:
        write_notebook(w.root, [code("a", "x = 1"), code("b", "y = 2")], metadata=PAIRED)
        document = await w.service.open("a.ipynb")
        await document.edit([insert("c", "z = 3")])
        files, twin = w.service.files, w.root / "a.py"
        load = files.load

        async def then_changed(path: str) -> Any:
            loaded = await load(path)
            files.load = load  # type: ignore[method-assign]
            twin.write_text(twin.read_text().replace("y = 2", "y = 22"))
            later(twin)
            return loaded

        files.load = then_changed  # type: ignore[method-assign]
        cells = (await load("a.ipynb")).page_cells
        await document.edit([update(cells[0], "x = 5")])

        assert [cell.source for cell in (await document.read()).cells] == [
            "x = 5",
            "y = 22",
            "z = 3",
        ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("j.py", PERCENT),
        ("j.md", MARKDOWN),
        ("j.Rmd", "```{python}\nx = 41\n```\n\nWords\n\n```{python}\nprint(x + 1)\n```\n"),
        ("light.py", "x = 41\n\n# Some words\n\nprint(x + 1)\n"),
        (
            "j.md",
            MYST,
        ),
    ],
)
async def test_a_text_notebook_is_read_edited_and_run_without_a_page(
    here: Here, name: str, text: str
) -> None:
    async with here as w:
        file = w.root / name
        file.write_text(text)
        document = await w.service.open(name)
        first = (await document.read()).cells
        again = (await document.read()).cells
        codes = [cell for cell in first if cell.type == "code"]
        applied = await document.edit([update(codes[0], "x = 1"), insert("new", "print(x * 2)")])
        after = (await document.read()).cells
        runs = await document.run([cell.id for cell in after], timeout=60)
        last = (await document.read()).cells

        assert [cell.id for cell in first] == [cell.id for cell in again]
        assert [cell.id for cell in applied.cells] == [codes[0].id, "new"]
        assert [cell.id for cell in after] == [*(cell.id for cell in first), "new"]
        assert [cell.id for cell in last] == [cell.id for cell in after]
        assert text_of(runs[-1]) == "2\n"
        assert {run.status for run in runs} <= {"ok", "skipped"}
        assert "print(x * 2)" in file.read_text()
        assert not (w.root / "j.ipynb").exists()


async def test_ids_of_a_text_notebook_survive_changes_by_hand(here: Here) -> None:
    async with here as w:
        file = w.root / "j.py"
        file.write_text("# %%\na = 1\n\n# %%\nb = 2\n\n# %%\nc = 3\n")
        document = await w.service.open("j.py")
        a, b, c = (await document.read()).cells
        file.write_text("# %%\nzero = 0\n\n# %%\na = 1\n\n# %%\nb = 22\n\n# %%\nc = 3\n")
        changed = (await document.read()).cells

        assert [cell.id for cell in changed][1:] == [a.id, b.id, c.id]
        assert changed[0].id not in (a.id, b.id, c.id)


async def test_ids_of_a_text_notebook_are_the_same_in_another_server(
    tmp_path: Path, jupytext: Callable[..., Any]
) -> None:
    ids = []
    for _ in range(2):
        async with world(tmp_path, contents_class=jupytext) as w:
            (w.root / "j.py").write_text("# %%\na = 1\n\n# %%\nb = 2\n\n# %%\na = 1\n")
            ids.append([cell.id for cell in (await (await w.service.open("j.py")).read()).cells])

    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 3


async def test_cells_of_a_text_notebook_are_deleted_and_moved(here: Here) -> None:
    async with here as w:
        (w.root / "j.py").write_text("# %%\na = 1\n\n# %%\nb = 2\n\n# %%\na = 1\n\n# %%\nd = 4\n")
        document = await w.service.open("j.py")
        a, b, double, d = (await document.read()).cells
        await document.edit([DeleteCell(cell_id=a.id, base_hash=a.hash)])
        await document.edit([MoveCell(cell_id=d.id, position=CellPosition(at="start"))])
        after = (await document.read()).cells

        assert [cell.source for cell in after] == ["d = 4", "b = 2", "a = 1"]
        assert [cell.id for cell in after] == [d.id, b.id, double.id]


async def test_a_turn_on_a_text_notebook_is_undone(here: Here) -> None:
    async with here as w:
        file = w.root / "j.py"
        file.write_text(PERCENT)
        kept = CheckpointsInMemory()
        document = await w.service.recording(Recorder(kept)).open("j.py")
        x, shown = (await document.read()).cells
        await document.edit([update(x, "x = 1"), insert("new", "print(x)", after=x.id)])
        await document.run(["new"], timeout=60)
        await document.edit([DeleteCell(cell_id=shown.id, base_hash=shown.hash)])
        whole = await document.read(whole=True)
        now = NotebookState(list(whole.order or ()), {c.id: c.cell for c in whole.cells if c.cell})
        undone = undo(kept.spans("j.py"), now)
        await (await w.service.open("j.py")).edit(edits_between(now, undone))

        assert undone.conflicts == []
        assert [cell.source for cell in (await document.read()).cells] == ["x = 41", "print(x + 1)"]
        assert [cell.id for cell in (await document.read()).cells] == [x.id, shown.id]
        assert "print(x)\n" not in file.read_text()


async def test_outputs_of_a_run_are_kept_by_the_pair_and_named_as_lost_by_a_text_file(
    here: Here,
) -> None:
    async with here as w:
        write_notebook(w.root, [code("a", "print(7)")], metadata=PAIRED)
        (w.root / "j.py").write_text("# %%\nprint(7)\n")
        pair, alone = await w.service.open("a.ipynb"), await w.service.open("j.py")
        kept = await pair.run(["a"], timeout=60)
        lost = await alone.run([(await alone.read()).cells[0].id], timeout=60)

        assert (kept[0].note, text_of(kept[0]), text_of(lost[0])) == (None, "7\n", "7\n")
        assert w.on_disk()["cells"][0]["outputs"][0]["text"] == ["7\n"]
        assert (
            lost[0].note
            == "Its outputs are not in j.py: its format or a save hook leaves them out."
        )
        # A run changes no text.
        assert (w.root / "j.py").read_text() == "# %%\nprint(7)\n"


async def test_the_text_twin_of_a_pair_is_worked_on_like_the_notebook(here: Here) -> None:
    async with here as w:
        write_notebook(w.root, [code("a", "x = 1")], metadata=PAIRED)
        await (await w.service.open("a.ipynb")).edit([insert("b", "print(x)")])
        twin = await w.service.open("a.py")
        ids = [cell.id for cell in (await twin.read()).cells]
        await twin.edit([insert("c", "y = 3")])
        await twin.run(["a", "b"], timeout=60)

        assert ids == ["a", "b"]
        assert [cell["id"] for cell in w.on_disk()["cells"]] == ["a", "b", "c"]
        assert w.cell_on_disk("b")["outputs"][0]["text"] == ["1\n"]


async def test_many_edits_at_once_lose_nothing(here: Here) -> None:
    async with here as w:
        (w.root / "j.py").write_text(PERCENT)
        document = await w.service.open("j.py")
        await asyncio.gather(*(document.edit([insert(f"n{n}", f"n = {n}")]) for n in range(5)))
        cells = (await document.read()).cells

        assert {f"n{n}" for n in range(5)} <= {cell.id for cell in cells}
        assert len(cells) == 7


async def test_an_empty_text_notebook_takes_cells(here: Here) -> None:
    async with here as w:
        (w.root / "j.py").write_text("")
        document = await w.service.open("j.py")
        assert (await document.read()).cells == []
        await document.edit([insert("a", "x = 1"), insert("m", "Words", "markdown")])

        assert [cell.id for cell in (await document.read()).cells] == ["a", "m"]


async def test_what_jupytext_does_not_serve_is_not_a_notebook(here: Here) -> None:
    async with here as w:
        (w.root / "a.txt").write_text("x")
        (w.root / "folder.py").mkdir()
        for path, said in (("a.txt", "not a notebook"), ("folder.py", "not a notebook")):
            with pytest.raises(DocumentError, match=said):
                await w.service.open(path)
        with pytest.raises(DocumentError) as missing:
            await w.service.open("none.py")
        assert missing.value.code == "not_found"


async def test_without_jupytext_a_script_is_not_a_notebook(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        (w.root / "j.py").write_text(PERCENT)
        with pytest.raises(DocumentError, match="not a notebook") as refused:
            await w.service.open("j.py")

    assert "jupytext" in (refused.value.hint or "")


async def test_a_source_is_as_saved_when_the_format_cannot_hold_it(here: Here) -> None:
    async with here as w:
        (w.root / "j.py").write_text(PERCENT)
        document = await w.service.open("j.py")
        applied = await document.edit([insert("n", "y = 1\n\n\n")])
        read = (await document.read()).cells[-1]

        assert applied.cells[0].source == read.source
        assert applied.cells[0].hash == source_hash(read.source)


async def test_a_script_that_a_page_shows_as_a_notebook_is_worked_on_there(here: Here) -> None:
    async with here as w:
        file = w.root / "j.py"
        file.write_text(PERCENT)
        before = (await (await w.service.open("j.py")).read()).cells
        shown = [code("p1", "x = 41"), code("p2", "typed")]
        page = ScriptedPage(w.pages).connect().open("j.py", shown)
        document = await w.service.open("j.py")
        assert (w.service.is_notebook("j.py"), w.service.is_notebook("k.py")) == (True, False)
        await document.edit([insert("p3", "y = 3")])
        text = await w.service.text_files.read("j.py")
        with pytest.raises(DocumentError, match="open as a notebook"):
            await w.service.text_files.write(text, text.state.with_content("z = 1\n"))
        open_there = [cell["id"] for cell in page.notebooks["j.py"]]
        page.close_notebook("j.py")
        after = (await document.read()).cells
        written = await w.service.text_files.write(text, text.state.with_content("z = 1\n"))

    assert open_there == ["p1", "p2", "p3"]
    assert [cell.id for cell in after] == [cell.id for cell in before]
    assert written.content == file.read_text() == "z = 1\n"


async def test_a_turn_in_a_page_is_undone_once_the_page_is_closed(here: Here) -> None:
    """jupytext gives a page other ids than the server has."""
    async with here as w:
        file = w.root / "j.py"
        file.write_text(PERCENT)
        kept = CheckpointsInMemory()
        page = ScriptedPage(w.pages).connect()
        page.open("j.py", [code("p1", "x = 41"), code("p2", "print(x + 1)")])
        document = await w.service.recording(Recorder(kept)).open("j.py")
        await document.edit([insert("p3", "y = 3", after="p1")])
        file.write_text("# %%\nx = 41\n\n# %%\ny = 3\n\n# %%\nprint(x + 1)\n")
        page.close_notebook("j.py")
        spans = kept.spans("j.py")
        whole = await document.read(whole=True)
        names = Names.recorded(spans, whole.cells)
        cells = {c.id: c.cell for c in whole.cells if c.cell}
        now = names.given(NotebookState(list(whole.order or ()), cells), ["p3"])
        undone = undo(spans, now)
        edits = names.edits(edits_between(now, undone))
        await (await w.service.open("j.py")).edit(edits)

    assert not whole.ids_kept
    assert now.order == ["p1", "p3", "p2"]
    assert (undone.conflicts, undone.settled) == ([], ["p3"])
    assert file.read_text() == PERCENT


async def test_an_open_notebook_is_edited_under_its_new_name_with_its_twin(here: Here) -> None:
    async with here as w:
        write_notebook(w.root, [code("a", "x = 1")], metadata=PAIRED)
        document = await w.service.open("a.ipynb")
        await document.edit([insert("b", "y = 2")])
        await ensure_async(w.service.contents_manager.rename("a.ipynb", "n.ipynb"))
        await document.edit([insert("c", "z = 3")])

        assert document.path == "n.ipynb"
        assert sorted(file.name for file in w.root.iterdir() if file.is_file()) == [
            "n.ipynb",
            "n.py",
        ]
        assert "z = 3" in (w.root / "n.py").read_text()


@pytest.mark.parametrize(("closed", "shown"), [("a.py", "a.ipynb"), ("a.ipynb", "a.py")])
async def test_nothing_is_written_behind_a_page_that_shows_the_twin(
    here: Here, closed: str, shown: str
) -> None:
    async with here as w:
        write_notebook(w.root, [code("a", "x = 1")], metadata=PAIRED)
        await (await w.service.open("a.ipynb")).edit([insert("b", "y = 2")])
        page = ScriptedPage(w.pages).connect()
        page.open(shown, [code("a", "x = 1"), code("b", "y = 2"), code("typed", "unsaved")])
        before = {name: (w.root / name).read_bytes() for name in ("a.ipynb", "a.py")}
        document = await w.service.open(closed)
        [first, _] = (await document.read()).cells
        with pytest.raises(DocumentError, match=f"paired with {shown}") as refused:
            await document.edit([update(first, "x = 3")])
        with pytest.raises(DocumentError, match=f"paired with {shown}"):
            await document.run([first.id], timeout=30)
        meanwhile = {name: (w.root / name).read_bytes() for name in before}
        kernels = list(w.kernels.list_kernel_ids())
        page.close_notebook(shown)
        await document.edit([update(first, "x = 3")])

        assert refused.value.code == "not_allowed"
        assert shown in (refused.value.hint or "")
        assert meanwhile == before
        assert kernels == []
        assert "x = 3" in (w.root / "a.py").read_text()
        assert w.on_disk()["cells"][0]["source"] == ["x = 3"]


async def test_the_text_of_a_twin_is_not_written_behind_a_page_and_reported_to_it(
    here: Here,
) -> None:
    async with here as w:
        write_notebook(w.root, [code("a", "x = 1")], metadata=PAIRED)
        write_notebook(w.root, [code("a", "x = 1")], "other.ipynb")
        await (await w.service.open("a.ipynb")).edit([insert("b", "y = 2")])
        page = ScriptedPage(w.pages).connect()
        page.open("a.ipynb", [code("a", "x = 1"), code("b", "y = 2")])
        text = await w.service.text_files.read("a.py")
        state = text.state.with_content(text.content.replace("y = 2", "y = 3"))
        with pytest.raises(DocumentError, match=r"paired with a\.ipynb"):
            await w.service.text_files.write(text, state)
        page.close_notebook("a.ipynb")
        await asyncio.sleep(0)
        page.written.clear()
        await w.service.text_files.write(text, state)
        page.open("a.ipynb", [code("a", "x = 1"), code("b", "y = 2")])
        await asyncio.sleep(0)

        assert page.written == ["a.ipynb"]
        assert "y = 3" in (w.root / "a.py").read_text()


async def test_edits_of_both_twins_at_once_are_all_kept(here: Here) -> None:
    async with here as w:
        write_notebook(w.root, [code("a", f"x = '{'long' * 200_000}'")], metadata=PAIRED)
        one = await w.service.open("a.ipynb")
        await one.edit([insert("b", "y = 2")])
        other = await w.service.open("a.py")
        await asyncio.gather(
            *(
                document.edit([insert(f"n{number}", f"n = {number}")])
                for number, document in enumerate([one, other, one, other])
            )
        )
        sources = {cell.source for cell in (await one.read()).cells}

        assert {f"n = {number}" for number in range(4)} <= sources


ONLY_IN_NOTEBOOK = {"jupytext": {"formats": "ipynb,py:percent", "notebook_metadata_filter": "-all"}}
HEADER_OF_PAIR = "# ---\n# jupyter:\n#   jupytext:\n#     formats: ipynb,py:percent\n# ---\n\n"


@pytest.mark.parametrize("said_in", ["notebook", "text", "jupytext.toml", "pyproject.toml"])
async def test_a_pair_is_known_before_jupytext_has_read_it(
    tmp_path: Path, jupytext: Callable[..., Any], said_in: str
) -> None:
    """As after a restart of the server: a page shows one file, and the other is edited as text."""
    (tmp_path / "root").mkdir()
    metadata = ONLY_IN_NOTEBOOK if said_in == "notebook" else {}
    header = HEADER_OF_PAIR if said_in == "text" else ""
    if said_in.endswith(".toml"):
        table = "tool.jupytext" if said_in == "pyproject.toml" else None
        lines = [f"[{table}]"] if table else []
        (tmp_path / "root" / said_in).write_text(
            "\n".join([*lines, 'formats = "ipynb,py:percent"']) + "\n"
        )
    async with world(tmp_path, contents_class=jupytext) as w:
        write_notebook(w.root, [code("a", "x = 1")], metadata=metadata)
        (w.root / "a.py").write_text(f"{header}# %%\nx = 1\n")
        page = ScriptedPage(w.pages).connect()
        page.open("a.ipynb", [code("a", "x = 1"), code("typed", "unsaved")])
        before = (w.root / "a.py").read_bytes()
        text = await w.service.text_files.read("a.py")
        state = text.state.with_content(text.content.replace("x = 1", "x = 2"))
        with pytest.raises(DocumentError, match=r"a\.py is paired with a\.ipynb"):
            await w.service.text_files.write(text, state)
        meanwhile = (w.root / "a.py").read_bytes()
        page.close_notebook("a.ipynb")
        await w.service.text_files.write(text, state)

    assert meanwhile == before
    assert "x = 2" in (tmp_path / "root" / "a.py").read_text()


async def test_a_pair_in_two_folders_is_known_by_the_notebook_that_a_page_shows(
    here: Here,
) -> None:
    async with here as w:
        paired = {"jupytext": {"formats": "ipynb,scripts//py:percent"}}
        write_notebook(w.root, [code("a", "x = 1")], metadata=paired)
        (w.root / "scripts").mkdir()
        (w.root / "scripts" / "a.py").write_text("# %%\nx = 1\n")
        page = ScriptedPage(w.pages).connect()
        page.open("a.ipynb", [code("a", "x = 1")])
        text = await w.service.text_files.read("scripts/a.py")
        with pytest.raises(DocumentError, match=r"paired with a\.ipynb"):
            await w.service.text_files.write(text, text.state.with_content("y = 1\n"))


async def test_a_half_without_metadata_is_edited_with_its_twin(here: Here) -> None:
    async with here as w:
        write_notebook(w.root, [code("a", "x = 1")], metadata=ONLY_IN_NOTEBOOK)
        (w.root / "a.py").write_text("# %%\nx = 1\n")
        document = await w.service.open("a.py")
        [cell] = (await document.read()).cells
        await document.edit([update(cell, "x = 2")])

    assert "x = 2" in (w.root / "a.py").read_text()
    assert w.on_disk()["cells"][0]["source"] == ["x = 2"]


async def test_scripts_that_are_not_paired_are_read_once(here: Here) -> None:
    async with here as w:
        manager = w.service.contents_manager
        for number in range(3):
            (w.root / f"s{number}.py").write_text("x = 1\n")
        read: list[str] = []
        get = manager.get

        def counting(path: str, *args: Any, **more: Any) -> Any:
            if more.get("type") == "notebook":
                read.append(path)
            return get(path, *args, **more)

        manager.get = counting
        for _ in range(3):
            text = await w.service.text_files.read("s0.py")
            await w.service.text_files.write(text, text.state.with_content(text.content + "y\n"))

    # Once for each version of the file, and no other file.
    assert read == ["s0.py"] * 3


async def test_a_broken_configuration_is_an_error_of_notebooks_that_can_be_repaired(
    here: Here,
) -> None:
    async with here as w:
        (w.root / "jupytext.toml").write_text("formats = [")
        (w.root / "j.py").write_text(PERCENT)
        with pytest.raises(DocumentError, match=r"jupytext\.toml"):
            await (await w.service.open("j.py")).read()
        files = w.service.text_files
        config = await files.read("jupytext.toml")
        await files.write(config, config.state.with_content(""))
        cells = (await (await w.service.open("j.py")).read()).cells

    assert len(cells) == 2


async def test_a_format_whose_program_is_missing_says_so(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Quarto's documents are read by quarto."""
    monkeypatch.setenv("PATH", "")
    async with here as w:
        text = "```{python}\nx = 1\n```\n"
        (w.root / "q.qmd").write_text(text)
        with pytest.raises(DocumentError, match="requires 'quarto") as refused:
            await w.service.open("q.qmd")
        files = w.service.text_files
        file = await files.read("q.qmd")
        await files.write(file, file.state.with_content(text.replace("1", "2")))

    assert "install" in (refused.value.hint or "")
    assert "not a valid notebook" not in refused.value.message
    assert (w.root / "q.qmd").read_text() == text.replace("1", "2")
