"""Kernels by notebook: listing, selecting, and code without a cell."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from traitlets.config import Config

from jupyter_datalayer_agent.notebook.document import DocumentError

from ..support import BASH_SPEC, code, install_spec, text_of, until, world, write_notebook


async def test_running_kernels_are_listed_with_their_notebooks(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1")])
        none = await w.service.kernels()
        await w.service.execute_code("1", path="a.ipynb")
        scratch = await w.service.scratch.kernel_id("s1")
        kernels = await w.service.kernels()
        specs = await w.service.kernel_specs()
        own = await w.service.kernel_of("a.ipynb")

    assert none == []
    by_path = {each.get("path"): each for each in kernels}
    assert set(by_path) == {"a.ipynb", None}
    assert by_path[None]["id"] == scratch
    assert (by_path["a.ipynb"]["name"], by_path["a.ipynb"]["language"]) == ("python3", "python")
    assert own is not None
    assert own["id"] == by_path["a.ipynb"]["id"]
    assert "python3" in [each["name"] for each in specs]


async def test_code_leaves_no_cell_and_no_history(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        file = write_notebook(w.root, [code("a", "1")])
        before = file.read_bytes()
        run = await w.service.execute_code("print(1)\n2", path="a.ipynb")
        counted = await w.service.execute_code("get_ipython().execution_count", path="a.ipynb")
        bad = await w.service.execute_code("nope", path="a.ipynb")
        assert file.read_bytes() == before

    assert (run.status, text_of(run)) == ("ok", "1\n2")
    assert text_of(counted) == "1"
    assert (bad.status, bad.error and bad.error.ename) == ("error", "NameError")


async def test_a_scratch_kernel_is_kept_for_its_key_and_started_anew_when_it_ended(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        first = await w.service.scratch.kernel_id("s1")
        assert await w.service.scratch.kernel_id("s1") == first
        assert await w.service.scratch.kernel_id("s2") != first
        await w.kernels.shutdown_kernel(first, now=True)
        second = await w.service.scratch.kernel_id("s1")
        run = await w.service.execute_code("import os; print(os.getcwd())", kernel_id=second)

    assert second != first
    assert text_of(run).strip() == str(tmp_path / "root")


async def test_a_notebook_gets_the_kernel_that_is_selected(tmp_path: Path) -> None:
    specs = install_spec(tmp_path / "specs", "bash", BASH_SPEC)
    async with world(tmp_path, kernel_dirs=[specs]) as w:
        write_notebook(w.root, [code("a", "1")])
        first = await w.service.select_kernel("a.ipynb", kernel_name="python3")
        shared = await w.service.scratch.kernel_id("other")
        second = await w.service.select_kernel("a.ipynb", kernel_id=shared)
        third = await w.service.select_kernel("a.ipynb", kernel_name="bash")
        left = w.kernels.list_kernel_ids()
        for wrong in ({"kernel_name": "nope"}, {"kernel_id": "nope"}, {}):
            with pytest.raises(DocumentError):
                await w.service.select_kernel("a.ipynb", **wrong)
        now = await w.service.kernel_of("a.ipynb")

    assert first["name"] == "python3"
    assert second["id"] == shared
    assert (third["name"], third["language"]) == ("bash", "bash")
    assert first["id"] not in left  # nobody else used it
    assert shared in left  # it belongs to somebody
    assert now == third or (now is not None and now["id"] == third["id"])


async def test_the_session_of_a_shared_document_is_that_of_its_notebook(tmp_path: Path) -> None:
    """jupyter-collaboration names the session's document with its drive."""
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1")])
        made = await w.sessions.create_session(
            path="RTC:a.ipynb", name="a.ipynb", type="notebook", kernel_name="python3"
        )
        run = await w.service.execute_code("1", path="a.ipynb")
        selected = await w.service.select_kernel("a.ipynb", kernel_id=made["kernel"]["id"])
        kernels = await w.service.kernels()

    assert run.status == "ok"
    assert [(each["id"], each["path"]) for each in kernels] == [(made["kernel"]["id"], "a.ipynb")]
    assert selected["id"] == made["kernel"]["id"]


async def test_a_kernel_that_does_not_run_is_an_error(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        with pytest.raises(DocumentError) as refused:
            await w.service.execute_code("1", kernel_id="nope")
        with pytest.raises(DocumentError):
            await w.service.execute_code("1")
    assert refused.value.code == "kernel_error"


async def test_a_call_right_after_a_killed_kernel_waits_for_its_restart(tmp_path: Path) -> None:
    """A killed process counts as alive for some milliseconds."""
    quick = Config({"KernelRestarter": {"time_to_dead": 0.3, "restart_limit": 100}})
    async with world(tmp_path, config=quick) as w:
        write_notebook(w.root, [code("a", "print('cell')")])
        document = await w.service.open("a.ipynb")
        printed = []
        for attempt in range(10):
            await w.service.execute_code("1", path="a.ipynb")
            [kernel] = await w.service.kernels()
            os.kill(w.kernels.get_kernel(kernel["id"]).provisioner.pid, signal.SIGKILL)
            await asyncio.sleep((0, 0.001, 0.01)[attempt % 3])
            if attempt % 2:
                [run] = await document.run(["a"], timeout=60)
            else:
                run = await w.service.execute_code("print('code')", path="a.ipynb")
            printed.append(text_of(run).strip() or run.error)
    assert printed == ["code", "cell"] * 5


async def test_of_a_kernel_that_dies_time_after_time_is_said_what_to_do(tmp_path: Path) -> None:
    """Jupyter restarts a kernel a limited number of times."""
    never = Config({"KernelRestarter": {"time_to_dead": 0.1, "restart_limit": 0}})
    async with world(tmp_path, config=never) as w:
        write_notebook(w.root, [code("a", "1")])
        await w.service.execute_code("1", path="a.ipynb")
        [kernel] = await w.service.kernels()
        os.kill(w.kernels.get_kernel(kernel["id"]).provisioner.pid, signal.SIGKILL)
        await until(lambda: kernel["id"] not in w.kernels)
        with pytest.raises(DocumentError) as refused:
            await w.service.execute_code("1", kernel_id=kernel["id"])
    assert refused.value.message.startswith("The kernel died")
    assert "Jupyter has stopped restarting it" in refused.value.message
    assert "selectKernel" in (refused.value.hint or "")


async def test_connections_are_closed_when_they_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jupyter_datalayer_agent.notebook.kernel import kernels

    monkeypatch.setattr(kernels, "LINGER_SECONDS", 0.05)
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "1")])
        await w.service.execute_code("x = 1", path="a.ipynb")
        await until(lambda: not w.service._kernels._connections)
        run = await w.service.execute_code("x", path="a.ipynb")
    assert text_of(run) == "1"


def test_importing_the_package_brings_no_heavy_modules() -> None:
    # nbformat, jupyter_client and zmq are there in any Jupyter server already.
    program = (
        "import sys, jupyter_server.serverapp\n"
        "before = set(sys.modules)\n"
        "import jupyter_datalayer_agent.notebook.service\n"
        "new = {m.split('.')[0] for m in set(sys.modules) - before}\n"
        "print(*sorted(new))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    heavy = {"litellm", "nbclient", "nbconvert", "numpy", "pandas", "IPython", "jupyterlab"}
    assert not heavy & set(result.stdout.split())
