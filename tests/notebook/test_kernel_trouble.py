"""Kernels that die, hang, or are busy with the user's own cell."""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.notebook.kernel import connection, execution
from jupyter_datalayer_agent.notebook.kernel.connection import KernelConnection

from .support import World, code, install_spec, text_of, until, world, write_notebook


@asynccontextmanager
async def user(w: World, kernel_id: str) -> AsyncIterator[Any]:
    """A client of the kernel as a page of the user's has one."""
    kernel = w.kernels.get_kernel(kernel_id)
    client = kernel.client()
    client.session.session = "the-user"
    client.session.digest_history = set()
    client.start_channels()
    await client.wait_for_ready(timeout=60)
    try:
        yield client
    finally:
        client.stop_channels()


async def started(w: World, path: str = "a.ipynb") -> str:
    session = await w.sessions.create_session(
        path=path, name=path, type="notebook", kernel_name="python3"
    )
    return str(session["kernel"]["id"])


async def until_it_runs(client: Any, msg_id: str) -> None:
    while True:
        message = await client.get_iopub_msg(timeout=30)
        if message["msg_type"] == "execute_input" and message["parent_header"]["msg_id"] == msg_id:
            return


WAIT_FOR_FILE = """
import pathlib, time
try:
    while not pathlib.Path("go").exists():
        time.sleep(0.01)
    print("whole")
except KeyboardInterrupt:
    print("interrupted")
"""


async def test_a_kernel_that_dies_is_reported_and_the_rest_is_skipped(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(
            w.root, [code("a", "x = 1"), code("b", "import os; os._exit(1)"), code("c", "1")]
        )
        document = await w.service.open("a.ipynb")
        runs = await document.run(["a", "b", "c"], stop_on_error=False, timeout=60)
        again = await asyncio.wait_for(document.run(["a"], timeout=60), 60)

    assert [run.status for run in runs] == ["ok", "error", "skipped"]
    assert runs[1].error is not None
    assert runs[1].error.ename == "DeadKernelError"
    assert runs[2].note == "Not run: the kernel died."
    assert again[0].status in ("ok", "error")


def _kill_after(kernel: Any, seconds: float) -> None:
    """Let the process of a kernel live a while longer when it is ended."""
    kill = kernel._async_kill_kernel

    async def later(restart: bool = False) -> None:
        await asyncio.sleep(seconds)
        await kill(restart=restart)

    kernel._async_kill_kernel = later


SLEEPS = "import pathlib, time; pathlib.Path('runs').touch(); time.sleep(600)"


@pytest.mark.parametrize("is_slow", [False, True])
async def test_a_kernel_that_is_shut_down_in_mid_run_ends_the_run(
    tmp_path: Path, is_slow: bool
) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", SLEEPS)])
        kernel_id = await started(w)
        document = await w.service.open("a.ipynb")
        begun = asyncio.Event()

        async def progress(cell_id: str, state: str) -> None:
            begun.set()

        running = asyncio.create_task(document.run(["a"], timeout=600, on_progress=progress))
        await begun.wait()
        if is_slow:
            # It is interrupted first, and has the time to report that.
            await until((w.root / "runs").exists)
            _kill_after(w.kernels.get_kernel(kernel_id), 1.0)
        await w.kernels.shutdown_kernel(kernel_id, now=True)
        runs = await asyncio.wait_for(running, 30)

    assert runs[0].status == "error"
    assert runs[0].error is not None
    assert runs[0].error.ename == "DeadKernelError"


@pytest.mark.parametrize("is_slow", [False, True])
async def test_a_restart_by_the_user_ends_the_run(tmp_path: Path, is_slow: bool) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", SLEEPS), code("b", "1")])
        kernel_id = await started(w)
        document = await w.service.open("a.ipynb")
        begun = asyncio.Event()

        async def progress(cell_id: str, state: str) -> None:
            begun.set()

        running = asyncio.create_task(document.run(["a"], timeout=600, on_progress=progress))
        await begun.wait()
        if is_slow:
            await until((w.root / "runs").exists)
            _kill_after(w.kernels.get_kernel(kernel_id), 1.0)
        await (await w.kernels.restart_kernel(kernel_id, now=True))
        runs = await asyncio.wait_for(running, 30)
        after = await document.run(["b"], timeout=60)

    assert runs[0].status == "error"
    assert runs[0].error is not None
    assert runs[0].error.ename == "DeadKernelError"
    assert after[0].status == "ok"


async def test_peers_06_a_cell_that_runs_too_long_is_interrupted_and_changes_nothing_later(
    tmp_path: Path,
) -> None:
    source = "import time\nx = 0\nwhile True:\n    x += 1\n    time.sleep(0.01)"
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", source), code("b", "x")])
        document = await w.service.open("a.ipynb")
        runs = await document.run(["a", "b"], stop_on_error=False, timeout=0.5)
        first = await document.run(["b"], timeout=60)
        second = await document.run(["b"], timeout=60)

    assert [run.status for run in runs] == ["timeout", "skipped"]
    assert "interrupted" in (runs[0].note or "")
    assert runs[0].error is not None
    assert runs[0].error.ename == "KeyboardInterrupt"
    assert text_of(first[0]) == text_of(second[0])


async def test_code_that_swallows_the_interrupt_is_reported_as_still_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "INTERRUPT_SECONDS", 0.5)
    source = (
        "import signal, time\n"
        "signal.signal(signal.SIGINT, lambda *_: None)\n"
        "end = time.time() + 600\n"
        "while time.time() < end:\n"
        "    time.sleep(0.01)"
    )
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", source), code("b", "1")])
        document = await w.service.open("a.ipynb")
        runs = await document.run(["a"], timeout=0.5)
        with pytest.raises(DocumentError) as refused:
            await document.run(["b"], timeout=60)
        kernel = await w.service.select_kernel("a.ipynb", kernel_name="python3")
        after = await document.run(["b"], timeout=60)

    assert runs[0].status == "timeout"
    assert "still busy" in (runs[0].note or "")
    assert "Restarting" in (runs[0].note or "")
    assert refused.value.code == "kernel_error"
    assert kernel["name"] == "python3"
    assert after[0].status == "ok"


async def test_the_clock_starts_with_our_cell_and_the_users_cell_is_never_interrupted(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "print('ours')")])
        kernel_id = await started(w)
        document = await w.service.open("a.ipynb")
        async with user(w, kernel_id) as client:
            theirs = client.execute(WAIT_FOR_FILE)
            await until_it_runs(client, theirs)
            running = asyncio.create_task(document.run(["a"], timeout=0.3))
            await asyncio.wait([running], timeout=1.5)  # far longer than ours may run
            assert not running.done()
            (w.root / "go").touch()
            runs = await running
            printed = await printed_by(client, theirs)

    assert runs[0].status == "ok"
    assert text_of(runs[0]) == "ours\n"
    assert printed == "whole\n"


async def printed_by(client: Any, msg_id: str) -> str:
    text = ""
    while True:
        message = await client.get_iopub_msg(timeout=30)
        if message["parent_header"].get("msg_id") != msg_id:
            continue
        if message["msg_type"] == "stream":
            text += message["content"]["text"]
        if message["content"].get("execution_state") == "idle":
            return text


async def test_cancelling_while_the_users_cell_runs_leaves_it_alone_and_ours_never_runs(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "ran = True"), code("b", "'ran' in globals()")])
        kernel_id = await started(w)
        document = await w.service.open("a.ipynb")
        async with user(w, kernel_id) as client:
            theirs = client.execute(WAIT_FOR_FILE)
            await until_it_runs(client, theirs)
            running = asyncio.create_task(document.run(["a"], timeout=60))
            await asyncio.wait([running], timeout=0.5)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            (w.root / "go").touch()
            printed = await printed_by(client, theirs)
        after = await document.run(["b"], timeout=60)

    assert printed == "whole\n"
    assert text_of(after[0]) == "False"


async def test_a_cancelled_request_that_already_lies_in_the_kernels_queue_is_stopped_at_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def at_once(self: KernelConnection) -> None:
        return None

    source = "import time; time.sleep(60); ran = True"
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", source), code("b", "'ran' in globals()")])
        kernel_id = await started(w)
        document = await w.service.open("a.ipynb")
        async with user(w, kernel_id) as client:
            theirs = client.execute(WAIT_FOR_FILE)
            await until_it_runs(client, theirs)
            with monkeypatch.context() as patch:
                patch.setattr(KernelConnection, "wait_until_free", at_once)
                running = asyncio.create_task(document.run(["a"], timeout=60))
                await asyncio.wait([running], timeout=0.5)
                running.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await running
            (w.root / "go").touch()
            printed = await printed_by(client, theirs)
        after = await asyncio.wait_for(document.run(["b"], timeout=30), 30)

    assert printed == "whole\n"
    assert text_of(after[0]) == "False"


async def test_cancelling_our_running_cell_interrupts_it_and_keeps_what_it_printed(
    tmp_path: Path,
) -> None:
    source = "import time\nprint('begun', flush=True)\ntime.sleep(600)"
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", source), code("b", "1")])
        document = await w.service.open("a.ipynb")
        running = asyncio.create_task(document.run(["a"], timeout=600))
        await until(lambda: w.cell_on_disk("a")["outputs"])
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        cell = w.cell_on_disk("a")
        kernel = await w.service.kernel_of("a.ipynb")
        after = await asyncio.wait_for(document.run(["b"], timeout=60), 30)

    assert [each["output_type"] for each in cell["outputs"]][-1] == "error"
    assert cell["outputs"][-1]["ename"] == "KeyboardInterrupt"
    assert kernel is not None
    assert kernel["status"] == "idle"
    assert after[0].status == "ok"


async def test_a_page_that_is_connected_to_the_kernel_loses_no_message(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        write_notebook(w.root, [code("a", "print('ours')")])
        kernel_id = await started(w)
        document = await w.service.open("a.ipynb")
        async with user(w, kernel_id) as client:
            theirs = client.execute("print('theirs')")
            runs, printed = await asyncio.gather(
                document.run(["a"], timeout=60), printed_by(client, theirs)
            )
            reply = await client._recv_reply(theirs, timeout=30)

    assert text_of(runs[0]) == "ours\n"
    assert printed == "theirs\n"
    assert reply["parent_header"]["msg_id"] == theirs


async def test_a_kernel_that_cannot_start_is_an_error_not_a_hang(tmp_path: Path) -> None:
    broken = {
        "argv": ["/does/not/exist", "{connection_file}"],
        "display_name": "x",
        "language": "x",
    }
    specs = install_spec(tmp_path / "specs", "broken", broken)
    async with world(tmp_path, kernel_dirs=[specs]) as w:
        write_notebook(
            w.root,
            [code("a", "1")],
            metadata={"kernelspec": {"name": "broken", "display_name": "x"}},
        )
        document = await w.service.open("a.ipynb")
        with pytest.raises(DocumentError) as refused:
            await asyncio.wait_for(document.run(["a"], timeout=60), 60)

    assert refused.value.code == "kernel_error"
    assert "broken" in refused.value.message


async def test_a_kernel_that_never_answers_is_an_error_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "READY_SECONDS", 0.3)
    mute = [sys.executable, "-c", "import time; time.sleep(600)", "{connection_file}"]
    spec = {"argv": mute, "display_name": "Mute", "language": "x"}
    specs = install_spec(tmp_path / "specs", "mute", spec)
    async with world(tmp_path, kernel_dirs=[specs]) as w:
        metadata = {"kernelspec": {"name": "mute", "display_name": "Mute"}}
        write_notebook(w.root, [code("a", "1")], metadata=metadata)
        document = await w.service.open("a.ipynb")
        with pytest.raises(DocumentError) as refused:
            await document.run(["a"], timeout=60)

    assert refused.value.code == "kernel_error"
    assert "does not answer" in refused.value.message


async def test_code_for_one_kernel_runs_one_after_the_other(tmp_path: Path) -> None:
    source = "import time; t = time.time(); time.sleep(0.2); print(t, time.time())"
    async with world(tmp_path) as w:
        write_notebook(w.root, [])
        await started(w)
        runs = await asyncio.gather(
            *(w.service.execute_code(source, path="a.ipynb") for _ in range(3))
        )
    spans = sorted(tuple(float(each) for each in text_of(run).split()) for run in runs)
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))


async def test_an_answer_that_comes_in_while_we_send_is_not_lost(tmp_path: Path) -> None:
    """The socket reports it once, and a send at that moment takes that back."""
    async with world(tmp_path) as w:
        kernel_id = await w.service.scratch.kernel_id("any")
        async with w.service._kernels.connected(kernel_id) as connection:
            for n in range(300):
                connection._ask_info("shell")
                busy_until = time.perf_counter() + (n % 40) / 10_000
                while time.perf_counter() < busy_until:
                    pass  # the event loop does not read meanwhile
                await asyncio.wait_for(connection.wait_until_free(), 20)
