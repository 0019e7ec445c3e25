"""Notebooks that a page has open: asked, believed only after reading back, never written around."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.notebook.document_backends import browser
from jupyter_datalayer_agent.notebook.edits.batch import source_hash
from jupyter_datalayer_agent.notebook.kernel.acts import (
    Act,
    ActDecision,
    NotAllowed,
    RunNow,
    asking,
    deciding,
)
from jupyter_datalayer_agent.protocol.cells import CellRun, UpdateCell
from jupyter_datalayer_agent.protocol.page import PageFailure, PageRequest, RunParams, RunResult

from ..support import ScriptedPage, code, insert, text_of, world, write_notebook


async def test_what_is_typed_and_not_saved_is_read_and_kept(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        file = write_notebook(w.root, [code("a", "saved")])
        before = file.read_bytes()
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "typed, not saved")])
        document = await w.service.open("a.ipynb", "page-1")
        read = await document.read()
        applied = await document.edit([insert("b", "new", after="a")])

        assert document.backend == "browser"
        assert read.cells[0].source == "typed, not saved"
        assert [cell["source"] for cell in page.notebooks["a.ipynb"]] == ["typed, not saved", "new"]
        assert [(c.op, c.cell_id, c.index, c.after) for c in applied.changes] == [
            ("insert", "b", 1, "new")
        ]
        assert file.read_bytes() == before  # the page saves; nothing is written behind its back


async def test_peers_02_exactly_one_page_is_asked_and_a_change_of_tab_redirects_nothing(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        for path in ("a.ipynb", "b.ipynb"):
            write_notebook(w.root, [code("x", "1")], path)
        one = ScriptedPage(w.pages, "one").connect().open("a.ipynb", [code("x", "1")])
        two = ScriptedPage(w.pages, "two").connect().open("a.ipynb", [code("x", "1")])
        one.open("b.ipynb", [code("x", "1")])
        document = await w.service.open("a.ipynb", "one")
        one.notebooks = dict(reversed(one.notebooks.items()))  # b is the active tab now
        one.report()
        await document.edit([insert("n", "2")])

        assert [cell["id"] for cell in one.notebooks["a.ipynb"]] == ["x", "n"]
        assert [cell["id"] for cell in one.notebooks["b.ipynb"]] == ["x"]
        assert two.requests == []


async def test_an_edit_based_on_older_text_is_refused_with_the_new_text(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "the user's")])
        document = await w.service.open("a.ipynb", "page-1")
        with pytest.raises(DocumentError) as refused:
            await document.edit(
                [UpdateCell(cell_id="a", base_hash=source_hash("older"), source="ours")]
            )
    assert refused.value.code == "stale"
    assert refused.value.cells[0].source == "the user's"


async def test_peers_01_a_page_that_reports_success_and_did_nothing_is_found_out(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "old")])
        page.lie = True
        document = await w.service.open("a.ipynb", "page-1")
        with pytest.raises(DocumentError) as refused:
            await document.edit([insert("b", "new")])
        with pytest.raises(DocumentError):
            await document.edit(
                [UpdateCell(cell_id="a", base_hash=source_hash("old"), source="new")]
            )
    assert "not as asked" in refused.value.message


async def test_peers_01_a_page_that_never_answers_an_edit_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "ANSWER_SECONDS", 0.05)
    async with world(tmp_path) as w:
        file = write_notebook(w.root, [code("a", "1")])
        before = file.read_bytes()
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "1")])
        page.silent = {"notebook.edit"}
        document = await w.service.open("a.ipynb", "page-1")
        with pytest.raises(DocumentError) as refused:
            await document.edit([insert("b", "new")])
        assert file.read_bytes() == before

    assert "unknown" in refused.value.message


async def test_peers_01_a_page_that_never_answers_a_run_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "START_SECONDS", 0.05)
    async with world(tmp_path) as w:
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "1")])
        page.silent = {"notebook.run"}
        document = await w.service.open("a.ipynb", "page-1")
        with pytest.raises(DocumentError) as refused:
            await document.run(["a"], timeout=60)
    assert "unknown" in refused.value.message


async def test_a_run_waits_for_as_long_as_the_user_keeps_the_kernel_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "START_SECONDS", 0.05)
    async with world(tmp_path) as w:
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "1")])
        page.kernel_status = "busy"
        page.report()
        free = asyncio.Event()

        async def runner(request: PageRequest, params: RunParams) -> list[CellRun]:
            await free.wait()
            return [CellRun(cell_id="a", status="ok")]

        page.runner = runner
        document = await w.service.open("a.ipynb", "page-1")
        running = asyncio.create_task(document.run(["a"], timeout=0.01))
        await asyncio.wait([running], timeout=0.3)
        assert not running.done()
        free.set()
        runs = await running
    assert runs[0].status == "ok"


async def test_a_run_goes_through_the_page_and_a_cell_it_leaves_out_is_not_called_ok(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "1"), code("b", "2")])

        async def runner(request: PageRequest, params: RunParams) -> list[CellRun]:
            assert params.timeout_ms == 60_000
            page.progress(request, "a", "started")
            page.progress(request, "a", "finished")
            return [CellRun(cell_id="a", status="ok", execution_count=4)]

        page.runner = runner
        document = await w.service.open("a.ipynb", "page-1")
        runs = await document.run(["a", "b"], timeout=60)
        kernels = w.kernels.list_kernel_ids()

    assert [(run.cell_id, run.status) for run in runs] == [("a", "ok"), ("b", "aborted")]
    # In the notebook's one kernel, to which the page was brought before.
    assert len(kernels) == 1
    assert page.methods() == ["notebook.read", "notebook.selectKernel", "notebook.run"]
    assert page.requests[1].params["kernelId"] == kernels[0]


async def test_what_a_page_does_not_run_since_it_was_changed_is_decided_on_anew(
    tmp_path: Path,
) -> None:
    decided: list[tuple[tuple[str | None, str], ...]] = []

    async def decide(run: RunNow) -> None:
        assert run.is_watched
        decided.append(run.parts)
        if any("remove" in source for _, source in run.parts):
            raise NotAllowed("Not run: declined.")

    async def ask(act: Act) -> ActDecision:
        raise AssertionError("nothing runs in the kernel")

    async with world(tmp_path) as w:
        cells = [code("a", "1"), code("b", "2"), code("c", "3")]
        page = ScriptedPage(w.pages).connect().open("a.ipynb", cells)
        hashes: list[dict[str, str]] = []

        async def runner(request: PageRequest, params: RunParams) -> RunResult:
            hashes.append(page.allowed[request.request_id].result())
            page.notebooks["a.ipynb"][1]["source"] = "os.remove('cars.csv')"
            return RunResult(runs=[CellRun(cell_id="a", status="ok")], changed="b")

        page.runner = runner
        document = await w.service.open("a.ipynb", "page-1")
        with asking(ask), deciding(decide):
            runs = await document.run(["a", "b", "c"], timeout=60)
    assert [(run.cell_id, run.status) for run in runs] == [
        ("a", "ok"),
        ("b", "aborted"),
        ("c", "aborted"),
    ]
    assert runs[1].note == "Not run: declined."
    assert decided == [
        (("a", "1"), ("b", "2"), ("c", "3")),
        (("b", "os.remove('cars.csv')"), ("c", "3")),
    ]
    assert [sorted(each) for each in hashes] == [["a", "b", "c"]]


@pytest.mark.parametrize("end", ["declined", "stopped", "closed"])
async def test_cells_wait_in_the_page_until_they_may_run(tmp_path: Path, end: str) -> None:
    """The page shows them as waiting, and nothing of them runs however the wait ends."""
    waits, answer = asyncio.Event(), asyncio.Event()

    async def decide(run: RunNow) -> None:
        waits.set()
        await answer.wait()
        raise NotAllowed("Not run: declined.")

    async def ask(act: Act) -> ActDecision:
        raise AssertionError("nothing runs in the kernel")

    async with world(tmp_path) as w:
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "1")])
        ran = []

        async def runner(request: PageRequest, params: RunParams) -> list[CellRun]:
            ran.append(request)
            return []

        page.runner = runner
        document = await w.service.open("a.ipynb", "page-1")
        with asking(ask), deciding(decide):
            running = asyncio.create_task(document.run(["a"], timeout=60))
            await waits.wait()
            await page.held.wait()
            held = next(each for each in page.requests if each.method == "notebook.run")
            assert held.params["held"] is True
            if end == "stopped":
                running.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await running
            elif end == "declined":
                answer.set()
                [run] = await running
                assert (run.status, run.note) == ("aborted", "Not run: declined.")
            else:
                # The file is next, and asks in its turn.
                page.close_notebook("a.ipynb")
                closed = PageFailure(code="not_open", message="a.ipynb is not open")
                page.answer(held, ok=False, error=closed)
                answer.set()
                [run] = await running
                assert run.status == "aborted"
    assert "notebook.allow" not in page.methods()
    if end != "closed":
        stopped = next(each for each in page.requests if each.method == "notebook.interrupt")
        assert stopped.params["requestId"] == held.request_id
    assert ran == []


async def test_a_run_that_waits_for_a_kernel_which_is_killed_begins_anew_after_the_restart(
    tmp_path: Path,
) -> None:
    async def decide(run: RunNow) -> None:
        assert run.is_watched

    async def ask(act: Act) -> ActDecision:
        raise AssertionError("nothing runs in the kernel")

    async def runner(request: PageRequest, params: RunParams) -> list[CellRun]:
        return [CellRun(cell_id="a", status="ok")]

    async with world(tmp_path) as w:
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "1")])
        page.runner = runner
        await w.service.execute_code("import time", path="a.ipynb")
        [kernel] = await w.service.kernels()
        manager = w.kernels.get_kernel(kernel["id"])
        user = manager.client()
        user.start_channels()
        await user.wait_for_ready(timeout=60)
        user.execute("time.sleep(60)")
        while (await user.get_iopub_msg(timeout=60))["msg_type"] != "execute_input":
            pass
        document = await w.service.open("a.ipynb", "page-1")
        with asking(ask), deciding(decide):
            running = asyncio.create_task(document.run(["a"], timeout=60))
        await page.held.wait()
        os.kill(manager.provisioner.pid, signal.SIGKILL)
        runs = await running
        user.stop_channels()
    assert [(run.cell_id, run.status) for run in runs] == [("a", "ok")]
    first, second = (each for each in page.requests if each.method == "notebook.run")
    [stopped] = (each for each in page.requests if each.method == "notebook.interrupt")
    assert stopped.params["requestId"] == first.request_id
    assert page.allowed[first.request_id].cancelled()
    assert page.allowed[second.request_id].done()


async def test_cancelling_a_run_asks_the_page_to_interrupt_it_and_waits(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "1")])
        interrupted = asyncio.Event()
        ended = []

        async def runner(request: PageRequest, params: RunParams) -> list[CellRun]:
            page.progress(request, "a", "started")
            await interrupted.wait()
            ended.append(request.request_id)
            return [CellRun(cell_id="a", status="aborted")]

        page.runner = runner
        act = page._act

        async def with_interrupt(request: PageRequest) -> Any:
            if request.method == "notebook.interrupt":
                interrupted.set()
            return await act(request)

        page._act = with_interrupt  # type: ignore[method-assign]
        document = await w.service.open("a.ipynb", "page-1")
        begun = asyncio.Event()

        async def progress(cell_id: str, state: str) -> None:
            begun.set()

        running = asyncio.create_task(document.run(["a"], timeout=60, on_progress=progress))
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        request = next(each for each in page.requests if each.method == "notebook.interrupt")

    assert ended == [request.params["requestId"]]


async def test_peers_04_a_page_that_opens_the_notebook_gets_the_next_write(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        file = write_notebook(w.root, [code("a", "1")])
        document = await w.service.open("a.ipynb")
        assert document.backend == "file"
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "typed")])
        before = file.read_bytes()
        await document.edit([insert("b", "2")])

        assert document.backend == "browser"
        assert file.read_bytes() == before
        assert [cell["source"] for cell in page.notebooks["a.ipynb"]] == ["typed", "2"]


async def test_peers_04_an_edit_that_waited_for_the_lock_goes_to_the_page_opened_meanwhile(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        file = write_notebook(w.root, [code("a", "1")])
        document = await w.service.open("a.ipynb")
        before = file.read_bytes()
        held, release = asyncio.Event(), asyncio.Event()

        async def holder() -> None:
            async with w.service.lock("a.ipynb"):
                held.set()
                await release.wait()

        holding = asyncio.create_task(holder())
        await held.wait()
        editing = asyncio.create_task(document.edit([insert("b", "2")]))
        await asyncio.wait([editing], timeout=0.1)
        assert not editing.done()
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "typed")])
        release.set()
        await asyncio.gather(editing, holding)

        assert file.read_bytes() == before
        assert len(page.notebooks["a.ipynb"]) == 2


async def test_outputs_of_a_headless_run_go_to_a_page_that_opens_the_notebook_meanwhile(
    tmp_path: Path,
) -> None:
    source = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.01)\n'done'"
    async with world(tmp_path) as w:
        cells = [code("a", source), code("b", "1")]
        file = write_notebook(w.root, cells)
        document = await w.service.open("a.ipynb")
        begun = asyncio.Event()

        async def progress(cell_id: str, state: str) -> None:
            begun.set()

        running = asyncio.create_task(document.run(["a", "b"], timeout=60, on_progress=progress))
        await begun.wait()
        page = ScriptedPage(w.pages).connect().open("a.ipynb", cells)

        async def runner(request: PageRequest, params: RunParams) -> list[CellRun]:
            return [CellRun(cell_id=each, status="ok", note="page") for each in params.cell_ids]

        page.runner = runner
        before = file.read_bytes()
        (w.root / "go").touch()
        runs = await running

        assert file.read_bytes() == before
        assert text_of(runs[0]) == "'done'"
        assert page.notebooks["a.ipynb"][0]["outputs"] == runs[0].outputs
        assert (runs[1].status, runs[1].note) == ("ok", "page")


async def test_a_page_that_closes_the_notebook_makes_room_for_the_file(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1")])
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "1")])
        document = await w.service.open("a.ipynb", "page-1")
        page.close_notebook("a.ipynb", notify=False)  # the news has not arrived yet
        await document.edit([insert("b", "2")])
        runs = await document.run(["b"], timeout=60)

        assert w.cell_on_disk("b")["source"] == ["2"]
        assert runs[0].status == "ok"


async def test_an_answer_that_does_not_fit_the_protocol_is_an_error(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "1")])

        async def nonsense(request: PageRequest) -> Any:
            return {"cells": "none"}

        page._act = nonsense  # type: ignore[method-assign]
        document = await w.service.open("a.ipynb", "page-1")
        with pytest.raises(DocumentError) as refused:
            await document.read()
    assert "does not fit" in refused.value.message
