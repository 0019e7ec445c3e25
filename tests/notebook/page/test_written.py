"""What the server writes itself, and the pages that have loaded the file as it was before."""

from __future__ import annotations

import asyncio
from pathlib import Path

from jupyter_datalayer_agent.notebook.files.text_state import TextState
from jupyter_datalayer_agent.notebook.page import PageHub

from ..support import ScriptedPage, World, code, insert, world, write_notebook


async def _settled() -> None:
    """What was sent in a task of its own has arrived."""
    for _ in range(5):
        await asyncio.sleep(0)


async def _add(here: World, cell_id: str) -> None:
    document = await here.service.open("a.ipynb")
    await document.edit([insert(cell_id, "x = 1")])


async def test_a_page_that_was_loading_while_the_server_wrote_is_notified_once(
    tmp_path: Path,
) -> None:
    write_notebook(tmp_path / "root", [code("c0", "x = 0")])
    async with world(tmp_path) as here:
        await _add(here, "c1")
        page = ScriptedPage(here.pages).open("a.ipynb", [code("c0", "x = 0")]).connect()
        await _settled()
        assert page.written == ["a.ipynb"]
        page.report()
        await _settled()
        assert page.written == ["a.ipynb"]
        # Another document of the page was not written.
        page.open("b.ipynb", [])
        await _settled()
        assert page.written == ["a.ipynb"]


async def test_a_page_that_was_away_is_notified_when_it_is_back(tmp_path: Path) -> None:
    write_notebook(tmp_path / "root", [code("c0", "x = 0")])
    async with world(tmp_path) as here:
        page = ScriptedPage(here.pages).open("a.ipynb", [code("c0", "x = 0")]).connect()
        await _settled()
        assert page.written == []
        page.disconnect()
        await _add(here, "c1")
        page.connect()
        await _settled()
        assert page.written == ["a.ipynb"]


async def test_what_is_written_through_the_page_is_not_notified(tmp_path: Path) -> None:
    write_notebook(tmp_path / "root", [code("c0", "x = 0")])
    async with world(tmp_path) as here:
        page = ScriptedPage(here.pages).open("a.ipynb", [code("c0", "x = 0")]).connect()
        await _add(here, "c1")
        await _settled()
        assert page.methods() == ["notebook.edit"]
        assert page.written == []


async def test_a_page_that_reports_the_file_in_the_middle_of_a_write_is_notified(
    tmp_path: Path,
) -> None:
    write_notebook(tmp_path / "root", [code("c0", "x = 0")])
    async with world(tmp_path) as here:
        page = ScriptedPage(here.pages)
        save = here.service.files.manager.save

        async def opened_meanwhile(model: object, path: str) -> object:
            page.open("a.ipynb", [code("c0", "x = 0")]).connect()
            return await save(model, path)

        here.service.files.manager.save = opened_meanwhile
        await _add(here, "c1")
        await _settled()
        assert page.written == ["a.ipynb"]


async def test_outputs_that_a_run_writes_are_notified(tmp_path: Path) -> None:
    write_notebook(tmp_path / "root", [code("c0", "print(1)")])
    async with world(tmp_path) as here:
        document = await here.service.open("a.ipynb")
        await document.run(["c0"], timeout=60)
        page = ScriptedPage(here.pages).open("a.ipynb", [code("c0", "print(1)")]).connect()
        await _settled()
        assert page.written == ["a.ipynb"]


async def test_text_files_are_as_notebooks(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        (here.root / "a.py").write_text("x = 0\n")
        files = here.service.text_files
        await files.write(await files.read("a.py"), TextState("x = 1\n"))
        page = ScriptedPage(here.pages).connect()
        await _settled()
        assert page.written == []
        page.files = ["a.py"]
        page.report()
        await _settled()
        assert page.written == ["a.py"]


async def test_the_oldest_of_very_many_files_is_forgotten() -> None:
    hub = PageHub()
    for number in range(1001):
        hub.written(f"{number}.ipynb")
    hub.written("1.ipynb")
    page = ScriptedPage(hub)
    for path in ("0.ipynb", "1.ipynb", "1000.ipynb"):
        page.open(path, [])
    page.connect()
    await _settled()
    assert sorted(page.written) == ["1.ipynb", "1000.ipynb"]
    await hub.close()
