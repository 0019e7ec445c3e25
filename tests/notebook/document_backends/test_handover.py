"""A page that disconnects during a run: the work continues headless, with a true report."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook import service as service_module
from jupyter_datalayer_agent.notebook.kernel.connection import KernelConnection
from jupyter_datalayer_agent.notebook.page import RETURN_SECONDS
from jupyter_datalayer_agent.protocol.cells import CellRun
from jupyter_datalayer_agent.protocol.page import PageFailure, PageProgress, PageRequest, RunParams

from ..support import ScriptedPage, World, code, insert, text_of, until, world, write_notebook

WAIT = """
import pathlib, time
print("early", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.01)
print("late")
"""


SLOW_SECONDS = 1.0
"""More than a page's run waits for the connection to a kernel that is busy."""


class KernelPage(ScriptedPage):
    """A page that runs cells in the notebook's real kernel, as JupyterLab does.

    It stands still at the cell ``last``, once the kernel has published ``seen_of_last``.
    """

    world: World
    began: asyncio.Event
    last: str = ""
    seen_of_last: Sequence[str] = ()
    reports = True
    names = True
    closes: PageRequest | None = None

    async def start(self, w: World, cells: Sequence[dict[str, Any]]) -> KernelPage:
        self.world, self.began, self.gone = w, asyncio.Event(), asyncio.Event()
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

    async def begin(
        self,
        w: World,
        cells: Sequence[dict[str, Any]],
        saved: Sequence[dict[str, Any]] | None = None,
    ) -> asyncio.Task[list[CellRun]]:
        """A run of all cells of the notebook, which has come to the cell ``last``."""
        write_notebook(w.root, saved or cells)
        await self.start(w, cells)
        document = await w.service.open("a.ipynb", "page-1")
        running = asyncio.create_task(document.run([cell["id"] for cell in cells], timeout=60))
        await self.began.wait()
        return running

    async def run(self, request: PageRequest, params: RunParams) -> list[CellRun]:
        for cell_id in params.cell_ids:
            cell = next(c for c in self.notebooks["a.ipynb"] if c["id"] == cell_id)
            msg_id = self.client.execute(cell["source"])
            await self._until(msg_id, "execute_input")
            if self.reports or cell_id != self.last:
                self._started(request, cell_id, msg_id)
            if cell_id == self.last:
                for published in self.seen_of_last:
                    await self._until(msg_id, published)
                self.closes = request
                self.began.set()
                await asyncio.Event().wait()
            await self._until(msg_id, "idle")
            self.progress(request, cell_id, "finished")
        return []

    def _started(self, request: PageRequest, cell_id: str, msg_id: str) -> None:
        assert self.page is not None
        progress = PageProgress(
            request_id=request.request_id,
            cell_id=cell_id,
            state="started",
            msg_id=msg_id if self.names else None,
        )
        self.hub.on_progress(self.page, progress)

    async def _until(self, msg_id: str, what: str) -> None:
        while True:
            message = await self.client.get_iopub_msg(timeout=30)
            kinds = (message["msg_type"], message["content"].get("execution_state"))
            if message["parent_header"].get("msg_id") == msg_id and what in kinds:
                return

    def leave(self) -> None:
        """The connection is lost."""
        self._end()
        self.disconnect()

    def unload(self) -> None:
        """The browser's tab is closed, or loaded again."""
        self._end()
        assert self.page is not None
        self.hub.disconnect(self.page, left=True)

    def close_tab(self) -> None:
        """The notebook's tab is closed, and the page stays."""
        self._end()
        assert self.closes is not None
        error = PageFailure(code="not_open", message="The notebook was closed.")
        self.answer(self.closes, ok=False, error=error)
        del self.notebooks["a.ipynb"]

    def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        self.client.stop_channels()


async def ended(running: asyncio.Task[list[CellRun]]) -> list[CellRun]:
    return await asyncio.wait_for(running, 60)


def printed(cell: dict[str, Any]) -> str:
    streams = [output for output in cell["outputs"] if output["output_type"] == "stream"]
    return "".join("".join(output["text"]) for output in streams)


async def test_a_run_continues_when_its_page_is_closed_and_nothing_of_it_is_lost(
    tmp_path: Path,
) -> None:
    cells = [code("a", "print('first')"), code("b", WAIT), code("c", "x = 41\nx + 1")]
    async with world(tmp_path, return_seconds=0.2) as w:
        page = KernelPage(w.pages)
        page.last, page.seen_of_last = "b", ["stream"]
        running = await page.begin(w, cells)
        page.leave()
        await asyncio.sleep(0.3)  # so long at least the cell runs
        (w.root / "go").touch()
        runs = await ended(running)
        on_disk = [w.cell_on_disk(each) for each in "abc"]
        context = await w.service.context("a.ipynb")

    assert [run.status for run in runs] == ["ok", "ok", "ok"]
    assert [run.note for run in runs] == [None, None, None]
    assert [text_of(run) for run in runs] == ["first\n", "early\nlate\n", "42"]
    assert runs[1].duration_ms is not None
    assert runs[1].duration_ms >= 300
    # The page saves at the end of a run: what it ran before was not saved either.
    assert [printed(cell) for cell in on_disk[:2]] == ["first\n", "early\nlate\n"]
    assert [cell["execution_count"] for cell in on_disk] == [run.execution_count for run in runs]
    assert on_disk[2]["outputs"][0]["data"]["text/plain"] == ["42"]
    assert context.all_cells is not None
    assert context.all_cells[1].last_run_success is True
    assert context.all_cells[1].last_execution_duration == runs[1].duration_ms


@pytest.mark.parametrize("reopened", [False, True])
async def test_a_run_continues_when_its_notebook_is_closed_in_a_page_that_stays(
    tmp_path: Path, reopened: bool
) -> None:
    cells = [code("b", WAIT), code("c", "x = 41\nx + 1")]
    async with world(tmp_path) as w:
        file = w.root / "a.ipynb"
        page = KernelPage(w.pages)
        page.last, page.seen_of_last = "b", ["stream"]
        running = await page.begin(w, cells)
        page.close_tab()
        if reopened:
            page.open("a.ipynb", cells)

            async def runner(request: PageRequest, params: RunParams) -> list[CellRun]:
                return [CellRun(cell_id=each, status="ok", note="page") for each in params.cell_ids]

            page.runner = runner
        before = file.read_bytes()
        (w.root / "go").touch()
        runs = await ended(running)
        after = file.read_bytes()
        on_disk = w.cell_on_disk("b")

    assert [run.status for run in runs] == ["ok", "ok"]
    assert text_of(runs[0]) == "early\nlate\n"
    if reopened:
        assert after == before  # the page has it, and saves it
        assert printed(page.notebooks["a.ipynb"][0]) == "early\nlate\n"
        assert runs[1].note == "page"
    else:
        assert printed(on_disk) == "early\nlate\n"
        assert text_of(runs[1]) == "42"


async def test_what_a_cell_prints_after_its_page_went_is_saved_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "RELOAD_SECONDS", 0.1)
    cells = [code("b", WAIT)]
    async with world(tmp_path, return_seconds=0.1) as w:
        page = KernelPage(w.pages)
        page.last = "b"
        running = await page.begin(w, cells)
        page.leave()
        await until(lambda: printed(w.cell_on_disk("b")) == "early\n")
        (w.root / "go").touch()
        await ended(running)
        assert printed(w.cell_on_disk("b")) == "early\nlate\n"


async def test_a_page_that_does_not_name_its_requests_is_followed_by_their_code(
    tmp_path: Path,
) -> None:
    cells = [code("b", WAIT)]
    async with world(tmp_path, return_seconds=0.1) as w:
        page = KernelPage(w.pages)
        page.last, page.names = "b", False
        running = await page.begin(w, cells)
        page.leave()
        (w.root / "go").touch()
        runs = await ended(running)

    assert text_of(runs[0]) == "early\nlate\n"


async def test_a_cell_that_the_page_sent_without_notice_is_not_run_twice(
    tmp_path: Path,
) -> None:
    cells = [code("a", "n = 0"), code("b", "n += 1\n" + WAIT + "print(n)"), code("c", "print(n)")]
    async with world(tmp_path, return_seconds=0.1) as w:
        page = KernelPage(w.pages)
        page.last, page.reports = "b", False
        running = await page.begin(w, cells)
        page.leave()
        (w.root / "go").touch()
        runs = await ended(running)

    assert [run.status for run in runs] == ["ok", "ok", "ok"]
    assert [text_of(run) for run in runs] == ["", "early\nlate\n1\n", "1\n"]


async def test_a_cell_that_fails_after_its_page_went_away_stops_the_run(tmp_path: Path) -> None:
    cells = [code("b", WAIT + "1 / 0"), code("c", "1")]
    async with world(tmp_path, return_seconds=0.2) as w:
        page = KernelPage(w.pages)
        page.last = "b"
        running = await page.begin(w, cells)
        page.leave()
        (w.root / "go").touch()
        runs = await ended(running)

    assert [run.status for run in runs] == ["error", "skipped"]
    assert runs[0].error is not None
    assert runs[0].error.ename == "ZeroDivisionError"
    assert [output["output_type"] for output in runs[0].outputs] == ["stream", "error"]


async def test_a_cell_that_ended_while_its_page_went_away_is_known_to_have_ended(
    tmp_path: Path,
) -> None:
    cells = [code("b", "print('b')"), code("c", "print('c')")]
    async with world(tmp_path, return_seconds=0.2) as w:
        page = KernelPage(w.pages)
        page.last, page.seen_of_last = "b", ["idle"]
        running = await page.begin(w, cells)
        page.leave()
        runs = await ended(running)

    assert [(run.status, text_of(run)) for run in runs] == [("ok", "b\n"), ("ok", "c\n")]


async def test_a_cell_of_which_nothing_was_seen_is_not_called_ok(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [code("b", "1"), code("c", "1")]
    async with world(tmp_path, return_seconds=0.2) as w:
        write_notebook(w.root, cells)
        page = KernelPage(w.pages)
        page.last, page.seen_of_last = "b", ["idle"]
        await page.start(w, cells)

        async def no_session(path: str) -> None:
            return None

        monkeypatch.setattr(w.service._kernels, "session_of", no_session)
        document = await w.service.open("a.ipynb", "page-1")
        running = asyncio.create_task(document.run(["b", "c"], timeout=60))
        await page.began.wait()
        page.leave()
        runs = await ended(running)

    assert [run.status for run in runs] == ["aborted", "skipped"]
    assert "its kernel is gone" in (runs[0].note or "")


async def test_a_kernel_that_cannot_be_listened_to_does_not_keep_a_page_from_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cells = [code("a", "1")]
    async with world(tmp_path) as w:
        write_notebook(w.root, cells)
        page = KernelPage(w.pages)
        await page.start(w, cells)

        def broken(kernel_id: str) -> None:
            raise RuntimeError("another kind of kernel")

        monkeypatch.setattr(w.service._kernels, "connected", broken)

        async def runner(request: PageRequest, params: RunParams) -> list[CellRun]:
            return [CellRun(cell_id="a", status="ok", execution_count=7)]

        page.runner = runner
        document = await w.service.open("a.ipynb", "page-1")
        runs = await document.run(["a"], timeout=60)
        page.client.stop_channels()

    assert [run.execution_count for run in runs] == [7]
    assert "cannot be listened to" in caplog.text


async def test_a_cell_whose_page_went_away_is_still_stopped_in_time(tmp_path: Path) -> None:
    cells = [code("b", "print('begun', flush=True)\nimport time; time.sleep(600)")]
    async with world(tmp_path, return_seconds=0.2) as w:
        write_notebook(w.root, cells)
        page = KernelPage(w.pages)
        page.last = "b"
        await page.start(w, cells)
        document = await w.service.open("a.ipynb", "page-1")
        running = asyncio.create_task(document.run(["b"], timeout=1))
        await page.began.wait()
        page.leave()
        runs = await ended(running)
        after = await w.service.execute_code("1", path="a.ipynb", timeout=30)

    assert runs[0].status == "timeout"
    assert text_of(runs[0]) == "begun\n"
    assert after.status == "ok"


@pytest.mark.parametrize("goes", ["leave", "unload", "close_tab"])
async def test_stop_interrupts_a_cell_whose_page_went_away(tmp_path: Path, goes: str) -> None:
    cells = [code("b", "print('begun', flush=True)\nimport time; time.sleep(600)")]
    async with world(tmp_path) as w:
        page = KernelPage(w.pages)
        page.last, page.seen_of_last = "b", ["stream"]
        running = await page.begin(w, cells)
        getattr(page, goes)()
        if goes == "close_tab":
            await until(lambda: printed(w.cell_on_disk("b")) == "begun\n")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(running, RETURN_SECONDS / 3)  # it waits for no page
        after = await w.service.execute_code("1", path="a.ipynb", timeout=5)
        outputs = w.cell_on_disk("b")["outputs"]
        log = w.service.executions.of("a.ipynb", "b")

    assert after.status == "ok"
    # A page that only lost its connection has them, and saves them when it is back.
    kinds = [] if goes == "leave" else ["stream", "error"]
    assert [output["output_type"] for output in outputs] == kinds
    if kinds:
        assert log is not None
        assert (log.status, log.success, log.error) == ("idle", False, "KeyboardInterrupt")


async def test_the_users_cell_is_not_interrupted_when_a_page_goes_away_that_waited_for_it(
    tmp_path: Path,
) -> None:
    cells = [code("theirs", WAIT), code("b", "print('ours')")]
    async with world(tmp_path, return_seconds=0.1) as w:
        write_notebook(w.root, cells)
        page = KernelPage(w.pages)
        await page.start(w, cells)
        theirs = page.client.execute(WAIT)
        await page._until(theirs, "execute_input")
        asked = asyncio.Event()

        async def waiting(request: PageRequest, params: RunParams) -> list[CellRun]:
            asked.set()
            await asyncio.Event().wait()
            return []

        page.runner = waiting
        document = await w.service.open("a.ipynb", "page-1")
        running = asyncio.create_task(document.run(["b"], timeout=0.2))
        await asked.wait()
        page.leave()
        await asyncio.wait([running], timeout=0.6)
        assert not running.done()
        (w.root / "go").touch()
        runs = await ended(running)

    assert [(run.status, text_of(run)) for run in runs] == [("ok", "ours\n")]


async def test_a_kernel_that_is_shut_down_with_the_notebook_is_reported(
    tmp_path: Path,
) -> None:
    cells = [code("b", WAIT), code("c", "1")]
    async with world(tmp_path) as w:
        page = KernelPage(w.pages)
        page.last, page.seen_of_last = "b", ["stream"]
        running = await page.begin(w, cells)
        page.close_tab()
        session = (await w.sessions.list_sessions())[0]
        await w.sessions.delete_session(session["id"])
        runs = await ended(running)
        on_disk = w.cell_on_disk("b")

    assert [run.status for run in runs] == ["error", "skipped"]
    assert runs[0].error is not None
    assert runs[0].error.ename == "DeadKernelError"
    assert printed(on_disk) == "early\n"


async def test_text_that_was_never_saved_is_not_run_as_if_it_were(tmp_path: Path) -> None:
    saved = [code("b", WAIT), code("c", "old")]
    typed = [code("b", WAIT), code("c", "typed")]
    async with world(tmp_path, return_seconds=0.2) as w:
        page = KernelPage(w.pages)
        page.last = "b"
        running = await page.begin(w, typed, saved=saved)
        page.leave()
        (w.root / "go").touch()
        runs = await ended(running)

    assert [run.status for run in runs] == ["ok", "skipped"]
    assert "unsaved" in (runs[1].note or "")


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


async def test_a_page_runs_nothing_before_its_idle_kernel_is_listened_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long that takes: a busy machine needs more than the moment that a busy kernel is
    given."""
    connect = KernelConnection.open

    async def slowly(connection: KernelConnection) -> None:
        await asyncio.sleep(SLOW_SECONDS)
        await connect(connection)

    cells = [code("b", "print('begun', flush=True)\nimport time; time.sleep(600)")]
    async with world(tmp_path) as w:
        monkeypatch.setattr(KernelConnection, "open", slowly)
        page = KernelPage(w.pages)
        page.last, page.seen_of_last = "b", ["stream"]
        running = await page.begin(w, cells)
        page.unload()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ended(running)
        outputs = w.cell_on_disk("b")["outputs"]
    assert [output["output_type"] for output in outputs] == ["stream", "error"]
