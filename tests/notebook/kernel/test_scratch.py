"""The scratch kernel of a conversation: its limits, passed in each way, and what works then."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from jupyter_datalayer_agent.notebook.kernel import process
from jupyter_datalayer_agent.notebook.kernel import scratch as scratch_module
from jupyter_datalayer_agent.notebook.kernel.acts import Act, ActDecision, asking
from jupyter_datalayer_agent.notebook.kernel.confinement import confinement
from jupyter_datalayer_agent.notebook.kernel.limits import MIB, Limits
from jupyter_datalayer_agent.notebook.kernel.scratch import (
    ENDED_SINCE,
    NEW,
    NOT_CONFINED,
    ScratchRun,
)
from tests.support.preloaded import kernels as preloaded

from ..support import World, text_of, until, world

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="a bound that only Linux knows")


@pytest.fixture(autouse=True)
def kernels_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are started as anywhere: how a preloaded one ends, and what is its own, is not
    known."""
    monkeypatch.setattr(preloaded, "_child", lambda *given: None)


@asynccontextmanager
async def scratch(
    tmp_path: Path, limits: Limits | None = None, **options: Any
) -> AsyncIterator[World]:
    """A service whose scratch kernels have small limits."""
    async with world(tmp_path, **options) as w:
        small = limits or Limits(memory=300 * MIB, processes=3, seconds=20)
        w.service.scratch._limits = lambda: small
        yield w


def hard_bound(w: World, kernel_id: str) -> int | None:
    """Bytes of private memory that the kernel's process cannot have mapped."""
    if sys.platform != "linux":
        return None
    process = psutil.Process(w.kernels.get_kernel(kernel_id).provisioner.pid)
    soft, hard = process.rlimit(psutil.RLIMIT_DATA)
    assert soft == hard
    return hard


async def call(w: World, code: str) -> ScratchRun:
    return await w.service.scratch.run("s1", code)


async def assert_it_works(w: World, note: str | None) -> None:
    """The next call finds a working kernel, and learns whether it is another one."""
    after = await call(w, "print(6 * 7)")
    assert (after.run.status, text_of(after.run)) == ("ok", "42\n")
    assert (after.note or "").startswith(note or "")
    assert after.passed is None


# -- what it is for --------------------------------------------------------------------------------


async def test_no_kernel_is_started_before_code_is_run_and_then_one_that_keeps_its_variables(
    tmp_path: Path,
) -> None:
    async with scratch(tmp_path) as w:
        before = await w.service.kernels()
        first = await call(w, "x = 5")
        second = await call(w, "import os; print(x, os.getcwd())")
        other = await w.service.scratch.run("s2", "'x' in globals()")
        listed = await w.service.kernels()
        bounds = [hard_bound(w, each["id"]) for each in listed]

    assert before == []
    assert (first.note or "").startswith(NEW)
    assert second.note is None
    assert text_of(second.run) == f"5 {w.root}\n"
    assert text_of(other.run) == "False"
    assert len(listed) == 2
    if sys.platform == "linux":
        assert bounds == [Limits(memory=300 * MIB).hard_memory] * 2


async def test_calls_of_one_conversation_run_one_after_the_other(tmp_path: Path) -> None:
    async with scratch(tmp_path) as w:
        runs = await asyncio.gather(
            *(call(w, f"seen = [*globals().get('seen', []), {n}]; print(seen)") for n in range(4))
        )
    assert [text_of(each.run) for each in runs] == [
        "[0]\n",
        "[0, 1]\n",
        "[0, 1, 2]\n",
        "[0, 1, 2, 3]\n",
    ]


async def test_kernels_of_notebooks_have_no_limits_of_ours(tmp_path: Path) -> None:
    from ..support import code, write_notebook

    async with scratch(tmp_path) as w:
        write_notebook(w.root, [code("a", "1")])
        await call(w, "1")
        await w.service.execute_code("x = bytearray(400 << 20)", path="a.ipynb")
        kernel = await w.service.kernel_of("a.ipynb")
        assert kernel is not None
        own = w.kernels.get_kernel(kernel["id"])
        assert own.autorestart
        if sys.platform == "linux":
            assert hard_bound(w, kernel["id"]) == psutil.RLIM_INFINITY


async def test_jupyters_kernel_manager_is_left_as_it_is(tmp_path: Path) -> None:
    async with scratch(tmp_path) as w:
        before = w.kernels.kernel_manager_factory
        await call(w, "1")
        [kernel] = await w.service.kernels()
        assert w.kernels.kernel_manager_factory is before
        provisioner = w.kernels.get_kernel(kernel["id"]).provisioner
        assert type(provisioner) is LocalProvisioner


@linux_only
async def test_a_kernel_that_the_user_restarted_has_the_hard_bound_again(tmp_path: Path) -> None:
    async with scratch(tmp_path) as w:
        await call(w, "1")
        [kernel] = await w.service.kernels()
        await w.kernels.restart_kernel(kernel["id"], now=True)
        await assert_it_works(w, ENDED_SINCE)
        assert hard_bound(w, kernel["id"]) == Limits(memory=300 * MIB).hard_memory


async def test_a_conversation_that_is_over_takes_its_kernel_with_it(tmp_path: Path) -> None:
    async with scratch(tmp_path) as w:
        await call(w, "import subprocess; p = subprocess.Popen(['sleep', '300'])")
        [kernel] = await w.service.kernels()
        child = psutil.Process(int(text_of((await call(w, "print(p.pid)")).run)))
        await w.service.scratch.end("s1")
        await w.service.scratch.end("never had one")
        assert await w.service.kernels() == []
        gone, alive = psutil.wait_procs([child], timeout=10)
        assert (gone, alive) == ([child], [])
        await assert_it_works(w, NEW)
        assert kernel["id"] not in [each["id"] for each in await w.service.kernels()]


async def test_a_kernel_that_the_user_shut_down_or_restarted_is_reported(
    tmp_path: Path,
) -> None:
    async with scratch(tmp_path) as w:
        await call(w, "x = 1")
        [kernel] = await w.service.kernels()
        await w.kernels.shutdown_kernel(kernel["id"], now=True)
        await assert_it_works(w, ENDED_SINCE)
        [kernel] = await w.service.kernels()
        await w.kernels.restart_kernel(kernel["id"], now=True)
        await assert_it_works(w, ENDED_SINCE)
        assert [each["id"] for each in await w.service.kernels()] == [kernel["id"]]


# -- memory ----------------------------------------------------------------------------------------


async def test_one_large_allocation_ends_the_kernel(tmp_path: Path) -> None:
    async with scratch(tmp_path) as w:
        done = await call(w, "x = b'x' * (900 << 20); import time; time.sleep(30)")
        assert done.passed is not None
        assert (done.passed.limit, done.passed.died) == ("memory", True)
        assert "300 MiB" in done.passed.message
        await assert_it_works(w, NEW)


async def test_memory_that_grows_slowly_ends_the_kernel(tmp_path: Path) -> None:
    grow = "import time\nx = []\nwhile True:\n    x.append(b'x' * (4 << 20)); time.sleep(0.005)"
    async with scratch(tmp_path) as w:
        done = await call(w, grow)
        assert done.passed is not None
        assert (done.passed.limit, done.passed.died) == ("memory", True)
        await assert_it_works(w, NEW)


@linux_only
async def test_an_enormous_allocation_fails_in_the_code_and_keeps_the_variables(
    tmp_path: Path,
) -> None:
    async with scratch(tmp_path) as w:
        await call(w, "kept = 1")
        done = await call(w, "x = bytearray(1 << 40)")
        assert done.passed is not None
        assert (done.passed.limit, done.passed.died) == ("memory", False)
        after = await call(w, "kept")
        assert (text_of(after.run), after.note) == ("1", None)


async def test_memory_that_is_reserved_or_mapped_from_a_file_and_not_used_does_not_count(
    tmp_path: Path,
) -> None:
    code = """
import mmap, os
reserved = mmap.mmap(-1, 900 << 20)
with open('big', 'wb') as file:
    for _ in range(600):
        file.write(bytes(1 << 20))
with open('big', 'rb') as file:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
print(sum(mapped[at] for at in range(0, len(mapped), 4096)))
import time; time.sleep(0.5)
"""
    async with scratch(tmp_path) as w:
        done = await call(w, code)
        (w.root / "big").unlink()
    assert (done.run.status, done.passed) == ("ok", None)


async def test_memory_of_a_child_process_counts_and_the_kernel_continues_without_it(
    tmp_path: Path,
) -> None:
    code = """
kept = 1
import subprocess, sys
subprocess.run([sys.executable, '-c', "x = b'x' * (900 << 20); import time; time.sleep(60)"])
"""
    async with scratch(tmp_path) as w:
        done = await call(w, code)
        assert done.passed is not None
        assert (done.passed.limit, done.passed.died) == ("memory", False)
        after = await call(w, "kept")
        assert (text_of(after.run), after.note) == ("1", None)


# -- child processes -------------------------------------------------------------------------------


async def test_too_many_child_processes_are_ended_and_the_kernel_continues(tmp_path: Path) -> None:
    code = """
import subprocess, time
kept, many = 1, []
while len(many) < 8:
    many.append(subprocess.Popen(['sleep', '60']))
time.sleep(60)
"""
    async with scratch(tmp_path) as w:
        done = await call(w, code)
        assert done.passed is not None
        assert (done.passed.limit, done.passed.died) == ("processes", False)
        # It is seen as soon as there are too many, maybe before there are all.
        found = re.search(r"had (\d) child processes at once", done.passed.message)
        assert found is not None
        assert 3 < int(found[1]) <= 8
        assert "limit of a scratch kernel is 3" in done.passed.message
        # Killed; or interrupted with the kernel, if it started just after the others were killed.
        after = await call(w, "print(kept, [p.wait() for p in many])")
        kept, _, ends = text_of(after.run).partition(" ")
        codes = json.loads(ends)
        assert kept == "1"
        assert codes == sorted(codes), "those that were killed, and then those that came later"
        assert set(codes) <= {-9, -2}
        assert codes.count(-9) > 2
        assert after.note is None


async def test_processes_that_are_started_again_and_again_end_the_kernel(tmp_path: Path) -> None:
    code = """
import subprocess, time
while True:
    try:
        many = [subprocess.Popen(['sleep', '60']) for _ in range(8)]
        time.sleep(0.3)
    except BaseException:
        pass
"""
    async with scratch(tmp_path) as w:
        done = await call(w, code)
        assert done.passed is not None
        assert (done.passed.limit, done.passed.died) == ("processes", True)
        await assert_it_works(w, NEW)


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork")
async def test_children_that_hide_in_a_session_of_their_own_count(tmp_path: Path) -> None:
    code = """
import subprocess, time
many = [subprocess.Popen(['sh', '-c', 'sleep 60 & wait'], start_new_session=True) for _ in range(4)]
time.sleep(60)
"""
    async with scratch(tmp_path) as w:
        done = await call(w, code)
        assert done.passed is not None
        assert done.passed.limit == "processes"
        assert text_of((await call(w, "[p.wait() for p in many]")).run) == str([-9] * 4)


async def test_a_pool_within_the_limit_is_left_alone(tmp_path: Path) -> None:
    code = """
import subprocess
many = [subprocess.Popen(['sleep', '0.5']) for _ in range(3)]
print([p.wait() for p in many])
again = [subprocess.Popen(['sleep', '0.5']) for _ in range(3)]
print([p.wait() for p in again])
"""
    async with scratch(tmp_path) as w:
        done = await call(w, code)
    assert (text_of(done.run), done.passed) == ("[0, 0, 0]\n[0, 0, 0]\n", None)


# -- time ------------------------------------------------------------------------------------------


async def test_an_endless_loop_is_interrupted_and_keeps_the_variables(tmp_path: Path) -> None:
    async with scratch(tmp_path, Limits(seconds=0.5)) as w:
        done = await call(w, "n = 0\nwhile True:\n    n += 1")
        assert done.passed is not None
        assert (done.passed.limit, done.passed.died) == ("time", False)
        assert "0.5 s" in done.passed.message
        after = await call(w, "n > 0")
        assert (text_of(after.run), after.note) == ("True", None)


async def test_code_that_swallows_the_interrupt_is_ended_with_its_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_datalayer_agent.notebook.kernel.execution.INTERRUPT_SECONDS", 1.0)
    code = """
import time
while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
"""
    async with scratch(tmp_path, Limits(seconds=0.5)) as w:
        done = await call(w, code)
        assert done.passed is not None
        assert (done.passed.limit, done.passed.died) == ("time", True)
        await assert_it_works(w, NEW)


async def test_code_that_does_not_stop_for_the_user_is_ended_with_its_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_datalayer_agent.notebook.kernel.execution.INTERRUPT_SECONDS", 1.0)
    code = """
import time
open('started', 'w').close()
while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
"""
    async with scratch(tmp_path) as w:
        running = asyncio.ensure_future(call(w, code))
        await until(lambda: (w.root / "started").exists())
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await w.service.kernels() == []
        await assert_it_works(w, ENDED_SINCE)


# -- unexpected ends -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os; os._exit(3)", "exit code 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ended by SIGKILL"),
    ],
)
async def test_code_that_ends_its_kernel_is_reported(tmp_path: Path, code: str, said: str) -> None:
    async with scratch(tmp_path) as w:
        done = await call(w, code)
        assert done.passed is not None
        assert (done.passed.limit, done.passed.died) == ("death", True)
        assert said in done.passed.message
        await assert_it_works(w, NEW)
        assert len(await w.service.kernels()) == 1


async def test_a_kernel_whose_process_is_elsewhere_is_reported_dead_without_a_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scratch(tmp_path) as w:
        monkeypatch.setattr(process, "_exit_code", lambda kernel: None)
        done = await call(w, "import os; os._exit(3)")
        assert done.passed is not None
        assert (done.passed.limit, done.passed.died) == ("death", True)
        assert "exit code" not in done.passed.message


# -- what it is held to ----------------------------------------------------------------------------

confined_only = pytest.mark.skipif(
    confinement(False, "/tmp") is None, reason="a system without Landlock"
)


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The temporary folder is beside the server's root, which is in it in other tests. Its name is
    short, as that of a socket in it must be."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield


@confined_only
@pytest.mark.usefixtures("outside")
@pytest.mark.parametrize(
    "code",
    [
        "open('cars.csv', 'w')",
        "open('new.csv', 'w')",
        "import os; os.remove('cars.csv')",
        "import os; os.rename('cars.csv', 'moved.csv')",
        "import os; os.truncate('cars.csv', 0)",
        "import os; os.mkdir('folder')",
        "import os; os.symlink('cars.csv', 'link')",
        "import ctypes, os; c = ctypes.CDLL(None, use_errno=True)\n"
        "if c.unlink(b'cars.csv') < 0: raise PermissionError(ctypes.get_errno())",
        "import subprocess as s; s.run(['rm', 'cars.csv'], check=True)",
        "import pyarrow as p, pyarrow.csv as c; c.write_csv(p.table({'a': [1]}), 'cars.csv')",
        "import duckdb; duckdb.sql(\"COPY (SELECT 1) TO 'cars.csv'\")",
        "import threading as t, os\n"
        "x = t.Thread(target=os.remove, args=['cars.csv']); x.start(); x.join()\n"
        "os.remove('cars.csv')",
    ],
)
async def test_a_scratch_kernel_changes_no_file_outside_the_temporary_folder(
    tmp_path: Path, code: str
) -> None:
    async with scratch(tmp_path, Limits()) as w:
        (w.root / "cars.csv").write_text("a,b\n1,2\n", encoding="utf-8")
        done = await call(w, code)
        after = sorted(each.name for each in w.root.iterdir())
        text = (w.root / "cars.csv").read_text(encoding="utf-8")
    assert done.run.status == "error"
    assert (after, text) == (["cars.csv"], "a,b\n1,2\n")


@confined_only
def test_a_process_may_be_held_to_reading_some_folders(tmp_path: Path) -> None:
    """As TeX is, which exports a stranger's notebook."""
    for name in ("own", "allowed", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name, encoding="utf-8")
    (tmp_path / "own/link").symlink_to(tmp_path / "other/file")
    system = ("/usr", "/bin", "/lib", "/lib64", "/etc", sys.prefix, sys.base_prefix)
    readable = (*system, str(tmp_path / "allowed"), str(tmp_path / "none"))
    held = confinement(False, str(tmp_path / "own"), readable)
    assert held is not None

    def read(name: str) -> str:
        command = ["cat", str(tmp_path / name)]
        done = subprocess.run(
            command, preexec_fn=held.apply, capture_output=True, text=True, check=False
        )
        return done.stdout or done.stderr.rsplit(": ", 1)[-1].strip()

    assert [read("own/file"), read("allowed/file")] == ["own", "allowed"]
    assert [read("other/file"), read("own/link")] == ["Permission denied"] * 2


@confined_only
@pytest.mark.usefixtures("outside")
async def test_a_scratch_kernel_connects_to_nothing_unless_it_is_allowed_to(tmp_path: Path) -> None:
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    tries = {
        "tcp": f"socket.create_connection(('127.0.0.1', {port}), 5)",
        "fast open": f"socket.socket().sendto(b'x', socket.MSG_FASTOPEN, ('127.0.0.1', {port}))",
        "udp": "socket.socket(type=socket.SOCK_DGRAM)",
        "raw": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    }
    async with scratch(tmp_path, Limits()) as w:
        for each in tries.values():
            done = await call(w, f"import socket; {each}")
            assert done.run.error is not None, each
            assert done.run.error.ename == "PermissionError"
            assert "connects to no machine or port" in (done.note or "")
        w.service.scratch._network = lambda: True
        await w.service.scratch.end("s1")
        allowed = await call(w, f"import socket; {tries['tcp']}; {tries['udp']}")
    server.close()
    assert allowed.run.status == "ok"
    assert "connects to" not in (allowed.note or "")


ORDINARY = """import os, tempfile, multiprocessing, sqlite3
import joblib, numpy as np, pandas as pd
import matplotlib.pyplot as plt
print(pd.read_csv("cars.csv").shape)
plt.plot([1, 2]); plt.savefig(os.path.join(tempfile.gettempdir(), "p.png")); plt.show()
print(joblib.Parallel(2)(joblib.delayed(abs)(i) for i in [1, -2]))
def f(x):
    print(f"in a fork {x}\\n", end="", flush=True)
    return x
with multiprocessing.get_context("fork").Pool(2) as pool: print(pool.map(f, [1, 2]))
with multiprocessing.Manager() as m: d = m.dict(); d[1] = 2; print(d)
with tempfile.TemporaryDirectory() as folder:
    pd.DataFrame({"a": [1]}).to_parquet(os.path.join(folder, "x.parquet"))
    sqlite3.connect(os.path.join(folder, "x.db")).execute("create table t (a)")
print("done")
"""


@confined_only
@pytest.mark.usefixtures("outside")
async def test_ordinary_analysis_works_in_a_confined_kernel(tmp_path: Path) -> None:
    async with scratch(tmp_path, Limits(processes=None, seconds=120)) as w:
        (w.root / "cars.csv").write_text("a,b\n1,2\n", encoding="utf-8")
        done = await call(w, ORDINARY)
    assert done.run.error is None
    text = text_of(done.run)
    for each in ("(1, 2)", "[1, 2]", "in a fork 1", "in a fork 2", "{1: 2}", "done"):
        assert each in text
    assert [each for each in done.run.outputs if "image/png" in each.get("data", {})]
    assert done.run.duration_ms is not None
    assert (done.note or "").startswith(NEW)
    assert f"changes files only in {tempfile.gettempdir()}" in (done.note or "")


@confined_only
@pytest.mark.usefixtures("outside")
async def test_what_the_system_would_not_permit_is_not_asked_about(tmp_path: Path) -> None:
    asked: list[Act] = []

    async def ask(act: Act) -> ActDecision:
        asked.append(act)
        return ActDecision(True)

    async with scratch(tmp_path, Limits()) as w:
        (w.root / "cars.csv").write_text("x", encoding="utf-8")
        with asking(ask):
            removed = await call(w, "import os; os.remove('cars.csv')")
            reached = await call(w, "import socket; socket.create_connection(('192.0.2.1', 80))")
            await call(w, "import subprocess; subprocess.run(['ls'])")
    assert [each.verb for each in asked] == ["run"]
    assert removed.run.error is not None
    assert removed.run.error.evalue == (
        "Not allowed to delete cars.csv: a scratch kernel changes files only in "
        f"{tempfile.gettempdir()}."
    )
    assert reached.run.error is not None
    assert "a scratch kernel connects to nothing" in reached.run.error.evalue


@confined_only
@pytest.mark.usefixtures("outside")
async def test_a_confined_kernel_that_the_user_restarted_is_confined_again(tmp_path: Path) -> None:
    async with scratch(tmp_path, Limits()) as w:
        await call(w, "1")
        [each] = await w.service.kernels()
        await w.kernels.restart_kernel(each["id"])
        again = await call(w, "open('new.csv', 'w')")
    assert again.run.error is not None
    assert again.run.error.ename == "PermissionError"


async def test_where_the_system_cannot_confine_it_works_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch_module, "confinement", lambda network, folder: None)
    async with scratch(tmp_path) as w:
        done = await call(w, "print(1)")
        again = await call(w, "print(1)")
    assert text_of(done.run) == "1\n"
    assert done.note == f"{NEW} {NOT_CONFINED}"
    assert again.note is None
