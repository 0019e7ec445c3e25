"""A page that goes away in the middle: the work goes on headless, and the report stays honest."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_datalayer_agent.protocol.page import CellRun, PageRequest, RunParams

from .support import ScriptedPage, World, code, insert, text_of, until, world, write_notebook

WAIT = """
import pathlib, time
print("early", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.01)
print("late")
"""


class KernelPage(ScriptedPage):
    """A page that runs cells in the notebook's real kernel, as JupyterLab does."""

    world: World
    began: asyncio.Event
    last: str = ""
    seen_of_last: Sequence[str] = ()

    async def start(self, w: World, cells: Sequence[dict[str, Any]]) -> KernelPage:
        self.world, self.began = w, asyncio.Event()
        session = await w.sessions.create_session(
            path="a.ipynb", name="a.ipynb", type="notebook", kernel_name="python3"
        )
        kernel = w.kernels.get_kernel(session["kernel"]["id"])
        self.client = kernel.client()
        self.client.session.session = "the-page"
        self.client.session.digest_history = set()
        self.client.start_channels()
        await self.client.wait_for_ready(timeout=60)
        self.runner = self.run
        self.connect().open("a.ipynb", cells)
        return self

    async def run(self, request: PageRequest, params: RunParams) -> list[CellRun]:
        for cell_id in params.cell_ids:
            cell = next(c for c in self.notebooks["a.ipynb"] if c["id"] == cell_id)
            msg_id = self.client.execute(cell["source"])
            await self._until(msg_id, "execute_input")
            self.progress(request, cell_id, "started")
            if cell_id == self.last:
                for published in self.seen_of_last:
                    await self._until(msg_id, published)
                self.began.set()
                await asyncio.Event().wait()  # the tab is closed
            await self._until(msg_id, "idle")
            self.progress(request, cell_id, "finished")
        return []

    async def _until(self, msg_id: str, what: str) -> None:
        while True:
            message = await self.client.get_iopub_msg(timeout=30)
            kinds = (message["msg_type"], message["content"].get("execution_state"))
            if message["parent_header"].get("msg_id") == msg_id and what in kinds:
                return

    def leave(self) -> None:
        for task in self._tasks:
            task.cancel()
        self.client.stop_channels()
        self.disconnect()


async def listening(w: World) -> None:
    """Until the server listens to the kernel itself."""
    connections = w.service._kernels._connections
    await until(lambda: any(each._any_listeners for each in connections.values()))


async def test_a_run_goes_on_when_its_page_is_closed(tmp_path: Path) -> None:
    cells = [code("a", "x = 1"), code("b", WAIT), code("c", "x + 41")]
    async with world(tmp_path, return_seconds=0.2) as w:
        write_notebook(w.root, cells)
        page = KernelPage(w.pages)
        page.last, page.seen_of_last = "b", ["stream"]
        await page.start(w, cells)
        document = await w.service.open("a.ipynb", "page-1")
        running = asyncio.create_task(document.run(["a", "b", "c"], timeout=60))
        await page.began.wait()
        page.leave()
        await listening(w)
        (w.root / "go").touch()
        runs = await asyncio.wait_for(running, 60)
        on_disk = w.cell_on_disk("c")["outputs"]
        kept = w.cell_on_disk("b")["outputs"]

    assert [run.status for run in runs] == ["ok", "ok", "ok"]
    assert "went away" in (runs[0].note or "")
    assert text_of(runs[1]) == "late\n"
    assert "may be missing" in (runs[1].note or "")
    assert text_of(runs[2]) == "42"
    assert on_disk[0]["data"]["text/plain"] == ["42"]
    assert kept[0]["text"] == ["late\n"]


async def test_a_cell_that_fails_after_its_page_went_away_stops_the_run(tmp_path: Path) -> None:
    cells = [code("b", WAIT + "1 / 0"), code("c", "1")]
    async with world(tmp_path, return_seconds=0.2) as w:
        write_notebook(w.root, cells)
        page = KernelPage(w.pages)
        page.last = "b"
        await page.start(w, cells)
        document = await w.service.open("a.ipynb", "page-1")
        running = asyncio.create_task(document.run(["b", "c"], timeout=60))
        await page.began.wait()
        page.leave()
        await listening(w)
        (w.root / "go").touch()
        runs = await asyncio.wait_for(running, 60)

    assert [run.status for run in runs] == ["error", "skipped"]
    assert runs[0].error is not None
    assert runs[0].error.ename == "ZeroDivisionError"


async def test_a_cell_that_ended_unseen_is_not_called_ok(tmp_path: Path) -> None:
    cells = [code("b", "1"), code("c", "1")]
    async with world(tmp_path, return_seconds=0.2) as w:
        write_notebook(w.root, cells)
        page = KernelPage(w.pages)
        page.last, page.seen_of_last = "b", ["idle"]
        await page.start(w, cells)
        document = await w.service.open("a.ipynb", "page-1")
        running = asyncio.create_task(document.run(["b", "c"], timeout=60))
        await page.began.wait()
        page.leave()
        runs = await asyncio.wait_for(running, 60)

    assert [run.status for run in runs] == ["aborted", "skipped"]
    assert "not known" in (runs[0].note or "")


async def test_a_cell_whose_page_went_away_is_still_stopped_in_time(tmp_path: Path) -> None:
    cells = [code("b", "import time; time.sleep(600)")]
    async with world(tmp_path, return_seconds=0.2) as w:
        write_notebook(w.root, cells)
        page = KernelPage(w.pages)
        page.last = "b"
        await page.start(w, cells)
        document = await w.service.open("a.ipynb", "page-1")
        running = asyncio.create_task(document.run(["b"], timeout=1))
        await page.began.wait()
        page.leave()
        runs = await asyncio.wait_for(running, 60)
        after = await w.service.execute_code("1", path="a.ipynb", timeout=30)

    assert runs[0].status == "timeout"
    assert after.status == "ok"


async def test_text_that_was_never_saved_is_not_run_as_if_it_were(tmp_path: Path) -> None:
    saved = [code("b", WAIT), code("c", "old")]
    typed = [code("b", WAIT), code("c", "typed")]
    async with world(tmp_path, return_seconds=0.2) as w:
        write_notebook(w.root, saved)
        page = KernelPage(w.pages)
        page.last = "b"
        await page.start(w, typed)
        document = await w.service.open("a.ipynb", "page-1")
        running = asyncio.create_task(document.run(["b", "c"], timeout=60))
        await page.began.wait()
        page.leave()
        await listening(w)
        (w.root / "go").touch()
        runs = await asyncio.wait_for(running, 60)

    assert [run.status for run in runs] == ["ok", "skipped"]
    assert "not saved" in (runs[1].note or "")


async def test_an_edit_whose_page_went_away_is_made_once(tmp_path: Path) -> None:
    async with world(tmp_path, return_seconds=0.05) as w:
        write_notebook(w.root, [code("a", "1")])
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "1")])
        page.silent = {"notebook.edit"}
        document = await w.service.open("a.ipynb", "page-1")
        editing = asyncio.create_task(document.edit([insert("n", "2")]))
        await page.asked.wait()
        page.disconnect()
        applied = await editing
        first = [cell["id"] for cell in w.on_disk()["cells"]]

        # The same, but the page had saved it before it went.
        page = ScriptedPage(w.pages, "page-2").connect().open("a.ipynb", [code("a", "1")])
        page.silent = {"notebook.edit"}
        document = await w.service.open("a.ipynb", "page-2")
        editing = asyncio.create_task(document.edit([insert("m", "3")]))
        await page.asked.wait()
        write_notebook(w.root, [code("a", "1"), code("n", "2"), code("m", "3")])
        page.disconnect()
        again = await editing
        second = [cell["id"] for cell in w.on_disk()["cells"]]

    assert first == ["a", "n"]
    assert [cell.id for cell in applied.cells] == ["n"]
    assert second == ["a", "n", "m"]
    assert [(change.op, change.cell_id) for change in again.changes] == [("insert", "m")]
