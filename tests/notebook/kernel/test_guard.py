"""Watching a scratch kernel's processes costs the event loop nothing, and finds them all."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from jupyter_datalayer_agent.notebook.kernel import process_tree
from jupyter_datalayer_agent.notebook.kernel.limits import MIB, Limits
from jupyter_datalayer_agent.notebook.kernel.process_tree import ProcessTree

from ..support import World, world

TREE = """
import subprocess, sys, threading
wait = [sys.executable, "-c", "input()"]
children = [subprocess.Popen(wait, stdin=subprocess.PIPE)]
def start():
    children.append(subprocess.Popen(
        [sys.executable, "-c", "import subprocess, sys; p = subprocess.Popen("
         "[sys.executable, '-c', 'input()'], stdin=0); print(p.pid, flush=True); p.wait()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
thread = threading.Thread(target=start)
thread.start()
thread.join()
below = int(children[1].stdout.readline())
print(*(each.pid for each in children), below, flush=True)
input()
"""


@contextmanager
def family() -> Iterator[tuple[subprocess.Popen[str], set[int]]]:
    """A process that leads a session, with a child, and a child and grandchild that another
    thread started; the numbers of those below it."""
    process = subprocess.Popen(
        [sys.executable, "-c", TREE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        yield process, set(map(int, process.stdout.readline().split()))
    finally:
        with suppress(psutil.NoSuchProcess):
            ProcessTree(process.pid).kill()
        process.communicate()


@pytest.mark.parametrize("knows", [True, False])
def test_children_and_theirs_are_found_with_and_without_what_linux_knows(
    monkeypatch: pytest.MonkeyPatch, knows: bool
) -> None:
    if knows and not process_tree._KNOWS_CHILDREN:
        pytest.skip("this system does not tell the children of a process")
    monkeypatch.setattr(process_tree, "_KNOWS_CHILDREN", knows)
    with family() as (process, below):
        assert len(below) == 3
        found = {each.pid for each in ProcessTree(process.pid).descendants()}
    # A child of its own may have ended when the interpreter is started through another program.
    assert found >= below


@pytest.mark.skipif(not process_tree._KNOWS_CHILDREN, reason="Linux lists the children")
def test_no_other_process_is_requested_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask_everybody(*given: Any, **options: Any) -> Any:
        raise AssertionError("every process of the machine was asked")

    monkeypatch.setattr(psutil.Process, "children", ask_everybody)
    with family() as (process, below):
        assert {each.pid for each in ProcessTree(process.pid).descendants()} >= below


def test_a_tree_whose_root_has_ended_has_nothing_below_it() -> None:
    with family() as (process, _):
        tree = ProcessTree(process.pid)
        tree.kill()
        process.wait()
        deadline = time.monotonic() + 10
        while tree.descendants() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert tree.descendants() == []


async def test_the_event_loop_looks_at_no_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookers: list[bool] = []
    original = ProcessTree.descendants

    def noted(self: ProcessTree) -> list[psutil.Process]:
        lookers.append(threading.current_thread() is threading.main_thread())
        return original(self)

    monkeypatch.setattr(ProcessTree, "descendants", noted)
    async with world(tmp_path) as w:
        limits = Limits(memory=300 * MIB, processes=3, seconds=20)
        w.service.scratch._limits = lambda: limits
        await run(w)
    assert lookers
    assert not any(lookers)


async def run(w: World) -> None:
    done = await w.service.scratch.run("s1", "import time; time.sleep(0.5); print(1)")
    assert done.run.status == "ok"
