"""Headless runs with a real kernel."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from jupyter_server.services.contents.largefilemanager import LargeFileManager

from jupyter_datalayer_agent.notebook.document import DocumentError

from ..support import (
    BASH_SPEC,
    check_valid,
    code,
    insert,
    install_spec,
    markdown,
    text_of,
    until,
    world,
    write_notebook,
)


async def test_a_cell_that_is_added_runs_and_its_output_is_in_the_file(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        file = write_notebook(w.root, [markdown("intro", "# Title")])
        document = await w.service.open("a.ipynb")
        applied = await document.edit([insert("sum1", "print(1)\n40 + 2")])
        runs = await document.run(["intro", "sum1"], timeout=60)
        check_valid(file)
        on_disk = w.cell_on_disk("sum1")
        read = await document.read(["sum1"], outputs=True)

    assert [cell.id for cell in applied.cells] == ["sum1"]
    assert [run.status for run in runs] == ["skipped", "ok"]
    assert runs[0].note == "A markdown cell has nothing to run."
    assert text_of(runs[1]) == "1\n42"
    assert runs[1].execution_count == 1
    assert (runs[1].duration_ms or 0) > 0
    assert on_disk["execution_count"] == 1
    assert [output["output_type"] for output in on_disk["outputs"]] == ["stream", "execute_result"]
    assert read.cells[0].outputs == runs[1].outputs
    assert read.cells[0].last_run_success is True
    assert read.cells[0].last_execution_duration == runs[1].duration_ms


async def test_the_run_stops_at_the_first_error_unless_requested_otherwise(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(
            w.root, [code("a", "x = 1"), code("b", "1 / 0"), code("e", "  \n"), code("c", "x")]
        )
        document = await w.service.open("a.ipynb")
        stopped = await document.run(["a", "b", "e", "c"], timeout=60)
        went_on = await document.run(["a", "b", "e", "c"], stop_on_error=False, timeout=60)
        on_disk = w.cell_on_disk("b")

    assert [run.status for run in stopped] == ["ok", "error", "skipped", "skipped"]
    assert stopped[1].error is not None
    assert stopped[1].error.ename == "ZeroDivisionError"
    assert stopped[3].note == "Not run: a cell before it failed."
    assert [run.status for run in went_on] == ["ok", "error", "skipped", "ok"]
    assert went_on[2].note == "The cell is empty."
    assert on_disk["outputs"][0]["ename"] == "ZeroDivisionError"


async def test_the_kernel_runs_in_the_notebooks_directory_and_its_session_is_kept(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        write_notebook(
            w.root, [code("a", "import os; print(os.getcwd())"), code("b", "x = 7")], "sub/n.ipynb"
        )
        document = await w.service.open("sub/n.ipynb")
        runs = await document.run(["a", "b"], timeout=60)
        again = await w.service.execute_code("x", path="sub/n.ipynb")
        sessions = await w.sessions.list_sessions()
        metadata = w.on_disk("sub/n.ipynb")["metadata"]

    assert text_of(runs[0]).strip() == str(w.root / "sub")
    assert text_of(again) == "7"
    assert again.cell_id == ""
    assert [each["path"] for each in sessions] == ["sub/n.ipynb"]
    assert metadata["kernelspec"]["name"] == "python3"


async def test_a_running_session_of_the_notebook_is_used(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "import os; os.getpid()")])
        session = await w.sessions.create_session(
            path="a.ipynb", name="a.ipynb", type="notebook", kernel_name="python3"
        )
        document = await w.service.open("a.ipynb")
        await document.run(["a"], timeout=60)
        kernels = w.kernels.list_kernel_ids()

    assert kernels == [session["kernel"]["id"]]


async def test_outputs_are_saved_while_the_cell_still_runs(tmp_path: Path) -> None:
    source = """
import pathlib, time
print("first", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.01)
print("last")
"""
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", source)])
        document = await w.service.open("a.ipynb")
        running = asyncio.create_task(document.run(["a"], timeout=60))
        await until(lambda: running.done() or w.cell_on_disk("a")["outputs"])
        assert not running.done()
        early = w.cell_on_disk("a")["outputs"]
        context = await w.service.context("a.ipynb")
        (w.root / "go").touch()
        runs = await running
        final = w.cell_on_disk("a")["outputs"]

    assert early[0]["text"] == ["first\n"]
    assert context.all_cells is not None
    assert context.all_cells[0].execution_status == "running"
    assert runs[0].status == "ok"
    assert final[0]["text"] == ["first\n", "last\n"]


async def test_progress_reports_when_a_cell_starts_and_ends(tmp_path: Path) -> None:
    news = []

    async def progress(cell_id: str, state: str) -> None:
        news.append((cell_id, state))

    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1"), markdown("m", "x"), code("b", "2")])
        document = await w.service.open("a.ipynb")
        await document.run(["a", "m", "b"], timeout=60, on_progress=progress)

    assert news == [("a", "started"), ("a", "finished"), ("b", "started"), ("b", "finished")]


async def test_displays_are_updated_and_cleared_across_cells(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(
            w.root,
            [
                code("a", "h = display('old', display_id=True)"),
                code("b", "h.update('new')"),
                code(
                    "c",
                    "from IPython.display import clear_output\n"
                    "print(1)\nclear_output(wait=True)\nprint(2)",
                ),
            ],
        )
        document = await w.service.open("a.ipynb")
        runs = await document.run(["a", "b", "c"], timeout=60)
        shown = w.cell_on_disk("a")["outputs"][0]["data"]["text/plain"]

    assert text_of(runs[2]) == "2\n"
    assert shown == ["'new'"]


async def test_a_display_of_an_earlier_run_is_updated_unless_that_cell_ran_again(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        write_notebook(
            w.root,
            [
                code("a", "h = display('old', display_id='x')"),
                code("b", "display('first', display_id='x', update=True)"),
                code("c", "display('second', display_id='x', update=True)"),
            ],
        )
        document = await w.service.open("a.ipynb")
        for cell_id in ("a", "b"):
            await document.run([cell_id], timeout=60)
        updated = w.cell_on_disk("a")["outputs"][0]["data"]["text/plain"]
        # Somebody ran it elsewhere; its outputs are theirs now.
        content = w.on_disk()
        content["cells"][0] |= {"execution_count": 99, "outputs": []}
        (w.root / "a.ipynb").write_text(json.dumps(content))
        runs = await document.run(["c"], timeout=60)
        theirs = w.cell_on_disk("a")["outputs"]

    assert updated == ["'first'"]
    assert theirs == []
    assert runs[0].note is None


async def test_input_fails_instead_of_waiting_for_ever(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "input('name?')")])
        document = await w.service.open("a.ipynb")
        runs = await document.run(["a"], timeout=60)

    assert runs[0].status == "error"
    assert runs[0].error is not None
    assert runs[0].error.ename == "StdinNotImplementedError"


async def test_peers_16_a_rerun_keeps_the_execution_count_and_valid_nbformat(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        file = write_notebook(w.root, [code("a", "1 + 1")])
        document = await w.service.open("a.ipynb")
        await document.run(["a"], timeout=60)
        await document.run(["a"], timeout=60)
        cell = w.cell_on_disk("a")
        check_valid(file)

    assert cell["execution_count"] == 2
    assert cell["outputs"][0]["execution_count"] == 2


async def test_a_synchronous_contents_manager_works_too(tmp_path: Path) -> None:
    async with world(tmp_path, contents_class=LargeFileManager) as w:
        file = write_notebook(w.root, [code("a", "1 + 1")])
        document = await w.service.open("a.ipynb")
        await document.edit([insert("b", "2 + 2")])
        runs = await document.run(["a", "b"], timeout=60)
        check_valid(file)

    assert [text_of(run) for run in runs] == ["2", "4"]


async def test_a_kernel_of_another_language_runs_its_cells(tmp_path: Path) -> None:
    specs = install_spec(tmp_path / "specs", "bash", BASH_SPEC)
    async with world(tmp_path, kernel_dirs=[specs]) as w:
        write_notebook(
            w.root,
            [code("a", "x=5; echo $((x + 1))"), code("b", "false"), code("c", "echo $x")],
            metadata={"kernelspec": {"name": "bash", "display_name": "Bash"}},
        )
        document = await w.service.open("a.ipynb")
        runs = await document.run(["a", "b", "c"], stop_on_error=False, timeout=60)
        context = await w.service.context("a.ipynb")

    assert text_of(runs[0]) == "6\n"
    assert runs[1].status == "error"
    assert text_of(runs[2]) == "5\n"
    assert context.kernel_language == "bash"


async def test_a_kernel_that_is_not_installed_is_named_with_those_that_are(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(
            w.root,
            [code("a", "1")],
            metadata={"kernelspec": {"name": "julia-1.9", "display_name": "Julia"}},
        )
        document = await w.service.open("a.ipynb")
        with pytest.raises(DocumentError) as refused:
            await document.run(["a"], timeout=60)
        kernels = w.kernels.list_kernel_ids()

    assert refused.value.code == "kernel_error"
    assert "julia-1.9" in refused.value.message
    assert "python3" in refused.value.message
    assert kernels == []


async def test_an_unknown_cell_is_not_found_before_anything_runs(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1")])
        document = await w.service.open("a.ipynb")
        with pytest.raises(DocumentError) as refused:
            await document.run(["a", "nope"], timeout=60)
        kernels = w.kernels.list_kernel_ids()

    assert refused.value.code == "not_found"
    assert kernels == []


async def test_outputs_that_a_save_hook_takes_out_are_reported(tmp_path: Path) -> None:
    def strip(model: dict, **_: object) -> None:
        for cell in model["content"]["cells"]:
            cell["outputs"] = []

    async with world(tmp_path) as w:
        w.service.contents_manager.register_pre_save_hook(strip)
        write_notebook(w.root, [code("a", "1 + 1")])
        document = await w.service.open("a.ipynb")
        runs = await document.run(["a"], timeout=60)

    assert runs[0].status == "ok"
    assert text_of(runs[0]) == "2"
    assert "save hook" in (runs[0].note or "")


async def test_a_notebook_of_rich_untrusted_outputs_stays_untrusted_and_ours_becomes_trusted(
    tmp_path: Path,
) -> None:
    html = {"output_type": "display_data", "data": {"text/html": "<b>x</b>"}, "metadata": {}}
    source = "from IPython.display import HTML; HTML('<i>y</i>')"
    acts = "from IPython.display import HTML; HTML('<i onclick=x>y</i>')"
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", source)], "ours.ipynb")
        write_notebook(w.root, [code("a", acts)], "acts.ipynb")
        write_notebook(w.root, [code("a", source), code("b", "", outputs=[html])], "theirs.ipynb")
        trusted = {}
        for path in ("ours.ipynb", "acts.ipynb", "theirs.ipynb"):
            document = await w.service.open(path)
            await document.run(["a"], timeout=60)
            model = await w.service.contents_manager.get(path, content=True, type="notebook")
            trusted[path] = [cell["metadata"]["trusted"] for cell in model["content"]["cells"]]
            assert "trusted" not in w.cell_on_disk("a", path)["metadata"]
        marks = [
            w.cell_on_disk("a", path)["outputs"][0]["metadata"]
            for path in ("ours.ipynb", "acts.ipynb")
        ]

    # What a page holds back is not signed as the user's.
    assert trusted == {
        "ours.ipynb": [True],
        "acts.ipynb": [False],
        "theirs.ipynb": [False, False],
    }
    assert marks == [{}, {"datalayer_agent": {"madeBy": "agent"}}]
