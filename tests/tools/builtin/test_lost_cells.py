"""A kernel that dies or is restarted: results and contexts say what is lost and what has to run."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.context.notebook_context import head_line
from jupyter_datalayer_agent.notebook.kernel import kernels, process
from jupyter_datalayer_agent.tools.builtin import builtin_registry
from jupyter_datalayer_agent.tools.context import ToolContext
from jupyter_datalayer_agent.tools.dispatcher import Dispatcher
from jupyter_datalayer_agent.tools.gate import Gate
from tests.notebook.support import (
    BASH_SPEC,
    World,
    code,
    install_spec,
    markdown,
    until,
    world,
    write_notebook,
)

KILL = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
CASE = [markdown("m", "# T"), code("one", "d = 5"), code("two", KILL), code("three", "d + 1")]


@pytest.fixture(autouse=True)
def own_jupyter_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA", "RUNTIME", "CONFIG"):
        folder = tmp_path / "jupyter" / name.lower()
        folder.mkdir(parents=True)
        monkeypatch.setenv(f"JUPYTER_{name}_DIR", str(folder))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "jupyter" / "ipython"))


class Tools:
    """The tools on ``a.ipynb``."""

    def __init__(self, w: World) -> None:
        self.w = w
        context = ToolContext(
            gate=Gate.on("a.ipynb"), notebooks=w.service, kernel_timeout_seconds=60
        )
        self._dispatcher = Dispatcher(builtin_registry(), context)

    async def call(self, name: str, **arguments: Any) -> Any:
        return (await self._dispatcher.call(name, arguments)).result

    async def run(self, *cell_ids: str, **arguments: Any) -> Any:
        return await self.call("runNotebookCells", cellIds=list(cell_ids), **arguments)

    async def head(self) -> str:
        """The first line of the notebook's context."""
        return head_line(await self.w.service.context("a.ipynb"))

    async def kernel_id(self) -> str:
        kernel = await self.w.service.kernel_of("a.ipynb")
        assert kernel is not None
        return str(kernel["id"])

    async def kill(self) -> None:
        """Kill the kernel's process from outside."""
        provisioner = self.w.kernels.get_kernel(await self.kernel_id()).provisioner
        os.kill(provisioner.pid, signal.SIGKILL)
        await until(lambda: provisioner.process.poll() is not None)


# Of a kernel that was forked beforehand it is not known what it ended with: see tests/conftest.py.
OWN_PROCESS = {
    "argv": [sys.executable, "-m", "ipykernel", "-f", "{connection_file}"],
    "display_name": "Python 3",
    "language": "python",
}


@asynccontextmanager
async def tools(
    tmp_path: Path, cells: list[dict[str, Any]] = CASE, *, own_process: bool = False
) -> AsyncIterator[Tools]:
    dirs = [install_spec(tmp_path / "specs", "python3", OWN_PROCESS)] if own_process else []
    async with world(tmp_path, kernel_dirs=dirs) as w:
        write_notebook(w.root, cells)
        yield Tools(w)


async def test_the_second_result_says_what_is_lost_and_the_third_what_has_to_run_again(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path, own_process=True) as t:
        first = await t.run("one")
        second = await t.run("two")
        head = await t.head()
        context = await t.w.service.context("a.ipynb")
        third = await t.run("three")
        again = await t.run("one", "three")
        after = await t.head()

    assert first.ok
    assert second.error.code == "kernel_error"
    assert "did not finish. The kernel died: its process was ended by SIGKILL." in (
        second.error.message
    )
    assert "All variables are gone." in second.error.hint
    assert "Run cell 2 again" in second.error.hint
    assert "not the fault of the cell" in second.error.hint
    assert second.output["runAgain"] == ["one"]
    assert "cell 2 has not run since" in head
    assert context.all_cells is not None
    assert [cell.last_run_success for cell in context.all_cells] == [None] * 4
    assert {cell.execution_status for cell in context.all_cells} <= {None, "idle"}
    assert "NameError" in third.error.message
    assert third.output["runAgain"] == ["one"]
    assert "run it again before you change this cell" in third.error.hint
    assert "Fix this cell" not in third.error.hint
    assert third.output["staleCells"] == ["three"]
    assert again.ok
    assert again.output["staleCells"] == []
    assert "not run since" not in after


async def test_the_cells_that_the_failed_one_depends_on_come_before_all_others(
    tmp_path: Path,
) -> None:
    cells = [
        code("a", "a = 1"),
        code("b", "b = a + 1"),
        code("c", "c = 3"),
        code("never", "n = 4"),
        code("bad", f"print(b)\n{KILL}"),
    ]
    async with tools(tmp_path, cells) as t:
        await t.run("a", "b", "c")
        died = await t.run("bad")
        head = await t.head()

    assert died.output["runAgain"] == ["a", "b"]
    assert "Run cells 1 and 2 again before what depends on them" in died.error.hint
    assert "cells 1-3 have not run since" in head


async def test_counts_from_an_earlier_day_are_no_runs_of_a_kernel_that_was_just_started(
    tmp_path: Path,
) -> None:
    cells = [code("old", "o = 1", execution_count=7), code("new", "n = 1"), code("bad", KILL)]
    async with tools(tmp_path, cells) as t:
        await t.run("new")
        died = await t.run("bad")
    assert died.output["runAgain"] == ["new"]


async def test_a_name_that_no_lost_cell_defines_is_the_fault_of_its_own_cell(
    tmp_path: Path,
) -> None:
    cells = [code("a", "a = 1"), code("bad", KILL), code("typo", "aa + 1"), code("fine", "2")]
    async with tools(tmp_path, cells) as t:
        await t.run("a")
        await t.run("bad")
        failed = await t.run("typo")
        fine = await t.run("fine")
    assert "runAgain" not in failed.output
    assert "Fix this cell" in failed.error.hint
    assert fine.ok
    assert fine.output["staleCells"] == []


async def test_code_that_leaves_no_cell_reports_the_death_as_well(tmp_path: Path) -> None:
    async with tools(tmp_path, own_process=True) as t:
        await t.run("one")
        died = await t.call("executeCode", code="import os; os._exit(3)")
        after = await t.call("executeCode", code="'d' in globals()")
        third = await t.run("three")

    assert died.error.code == "kernel_error"
    assert "its process ended with exit code 3" in died.error.message
    assert died.output["runAgain"] == ["one"]
    assert "All variables are gone." in died.error.hint
    assert "False" in str(after.output["outputs"])
    assert third.output["runAgain"] == ["one"]


async def test_a_kernel_killed_while_idle_is_noticed_by_the_context_and_the_next_run(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as t:
        await t.run("one")
        await t.kill()
        head = await t.head()
        failed = await t.run("three")
    assert "The kernel died" in head
    assert "cell 2 has not run since" in head
    assert failed.output["runAgain"] == ["one"]
    assert "The kernel died" in failed.error.hint


@pytest.mark.parametrize("how", ["user", "agent"])
async def test_a_restart_ends_what_ran_as_a_death_does(tmp_path: Path, how: str) -> None:
    async with tools(tmp_path) as t:
        await t.run("one")
        if how == "user":
            await (await t.w.kernels.restart_kernel(await t.kernel_id()))
        else:
            assert (await t.call("selectKernel", kernelName="python3")).ok
        head = await t.head()
        failed = await t.run("three")
    said = "The kernel was restarted." if how == "user" else "The notebook's kernel was replaced."
    assert said in head
    assert "cell 2 has not run since" in head
    assert failed.output["runAgain"] == ["one"]
    assert "died" not in failed.error.hint


async def test_a_shutdown_between_turns_ends_what_ran(tmp_path: Path) -> None:
    async with tools(tmp_path) as t:
        await t.run("one")
        await t.w.kernels.shutdown_kernel(await t.kernel_id())
        head = await t.head()
        failed = await t.run("three")
    assert "kernel not started" in head
    assert "The kernel was shut down." in head
    assert failed.output["runAgain"] == ["one"]


async def test_what_waits_behind_the_cell_that_kills_the_kernel_runs_in_the_next_one(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as t:
        await t.run("one")
        wait = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.01)\n"
        killing = asyncio.create_task(t.call("executeCode", code=f"open('up', 'w')\n{wait}{KILL}"))
        await until((t.w.root / "up").exists)
        waiting = [
            asyncio.create_task(t.call("executeCode", code="print(6 * 7)")),
            asyncio.create_task(t.run("three")),
        ]
        await asyncio.sleep(0)
        (t.w.root / "go").touch()
        died, printed, failed = await asyncio.gather(killing, *waiting)
    assert "The kernel died" in died.error.message
    assert printed.ok, printed
    assert "42" in str(printed.output["outputs"])
    assert "NameError" in failed.error.message


async def test_a_kernel_that_jupyter_gave_up_is_followed_by_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tools(tmp_path) as t:
        await t.run("one")
        first = await t.kernel_id()
        t.w.kernels.get_kernel(first)._restarter.restart_limit = 0
        died = await t.run("two")
        again = await t.run("one", "three")
        second = await t.kernel_id()
    assert "The kernel died" in died.error.message
    assert again.ok
    assert first != second


async def test_a_kernel_that_dies_twice_is_reported_twice(tmp_path: Path) -> None:
    async with tools(tmp_path) as t:
        await t.run("one")
        await t.run("two")
        twice = await t.run("two")
        third = await t.run("three")
    assert "The kernel died" in twice.error.message
    assert twice.output["runAgain"] == ["one"]
    assert third.output["runAgain"] == ["one"]


async def test_a_kernel_that_nothing_restarts_is_an_error_that_says_what_to_do(
    tmp_path: Path,
) -> None:
    async with tools(tmp_path) as t:
        await t.run("one")
        kernel = t.w.kernels.get_kernel(await t.kernel_id())
        kernel.stop_restarter()
        kernel.autorestart = False
        await t.run("two")
        refused = await t.run("one")
        chosen = await t.call("selectKernel", kernelName="python3")
        again = await t.run("one")
    assert "was not restarted" in refused.error.message
    assert "selectKernel" in refused.error.hint
    assert chosen.ok
    assert again.ok


async def test_a_restart_is_waited_for_with_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "RESTART_SECONDS", 0.3)
    async with tools(tmp_path) as t:
        await t.run("one")
        t.w.kernels.get_kernel(await t.kernel_id()).stop_restarter()
        await t.run("two")
        refused = await asyncio.wait_for(t.run("one"), 30)
    assert "was not restarted in time" in refused.error.message


async def test_another_language_names_all_cells_above(tmp_path: Path) -> None:
    specs = install_spec(tmp_path / "specs", "bash", BASH_SPEC)
    cells = [code("a", "X=1"), code("b", "echo $X"), code("bad", "kill -9 $PPID"), code("c", "f")]
    async with world(tmp_path, kernel_dirs=[specs]) as w:
        metadata = {"kernelspec": {"name": "bash", "display_name": "Bash", "language": "bash"}}
        write_notebook(w.root, cells, metadata=metadata)
        t = Tools(w)
        await t.run("a", "b")
        died = await t.run("bad")
        failed = await t.run("c")
    assert "The kernel died" in died.error.message
    assert died.output["runAgain"] == ["a", "b"]
    assert failed.output["runAgain"] == ["a", "b"]


# -- out of memory ---------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")
@pytest.mark.parametrize(
    ("group", "counter"),
    [
        ("0::/user.slice/jupyter", "sys/fs/cgroup/user.slice/jupyter/memory.events"),
        ("4:cpu,memory:/box\n0::/", "sys/fs/cgroup/memory/box/memory.oom_control"),
        ("0::/", "proc/vmstat"),
    ],
)
@pytest.mark.parametrize("is_counted", [True, False])
async def test_out_of_memory_is_said_only_where_the_system_counts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str, counter: str, is_counted: bool
) -> None:
    system = tmp_path / "system"
    monkeypatch.setattr(process, "ROOT", system)
    file = system / counter
    file.parent.mkdir(parents=True)
    file.write_text("low 0\noom 3\noom_kill 2\n")
    count = f"open({str(file)!r}, 'w').write('low 0\\noom 4\\noom_kill 3\\n')\n"
    cells = [code("one", "d = 5"), code("two", (count if is_counted else "") + KILL)]
    async with tools(tmp_path, cells, own_process=True) as t:
        await t.call("selectKernel", kernelName="python3")
        pid = t.w.kernels.get_kernel(await t.kernel_id()).provisioner.pid
        (system / f"proc/{pid}").mkdir(parents=True)
        (system / f"proc/{pid}/cgroup").write_text(group)
        await t.run("one")
        died = await t.run("two")
    assert ("ran out of memory" in died.error.message) is is_counted
    assert ("SIGKILL" in died.error.message) is not is_counted


GROUP = Path("/sys/fs/cgroup/memory/datalayer-agent-test")


@pytest.fixture
def small_group() -> Any:
    """A control group whose processes may use 150 MB, where one can be made."""
    try:
        GROUP.mkdir()
        (GROUP / "memory.limit_in_bytes").write_text(str(150 * 2**20))
    except OSError:
        pytest.skip("no control group with a limit can be made here")
    yield GROUP
    subprocess.run(["rmdir", str(GROUP)], check=False)


async def test_a_kernel_that_the_system_kills_for_want_of_memory(
    tmp_path: Path, small_group: Path
) -> None:
    cells = [code("one", "d = 5"), code("two", "x = bytearray(600 * 2**20)")]
    async with tools(tmp_path, cells, own_process=True) as t:
        await t.call("selectKernel", kernelName="python3")
        pid = t.w.kernels.get_kernel(await t.kernel_id()).provisioner.pid
        (small_group / "cgroup.procs").write_text(str(pid))
        await t.run("one")
        died = await t.run("two")
    assert "ran out of memory" in died.error.message
    assert died.output["runAgain"] == ["one"]
