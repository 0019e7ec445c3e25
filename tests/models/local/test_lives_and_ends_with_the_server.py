"""A model's process beside the Jupyter server, its kernels and their ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from jupyter_datalayer_agent.models.local.added_models import AddedModels
from jupyter_datalayer_agent.models.local.servers import PROGRAM
from tests.support.jupyter import PYTHONPATH, RunningServer
from tests.support.tiny_model import tiny_model

# Starts a process as the server does, and is then killed.
PARENT = """
import asyncio, sys
from pathlib import Path
from jupyter_datalayer_agent.models.local.added_models import LocalModel
from jupyter_datalayer_agent.models.local.servers import ModelProcess

async def main():
    model = LocalModel("m", sys.argv[1], 1000, "", "llama", 1000, 1)
    print(ModelProcess(model, 1).pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""

# In place of llama.cpp, so that these tests run without it: a load that never ends, in which no
# Python thread runs, as in that of llama.cpp; or one that ends at once.
LOADS_FOR_EVER = """
import ctypes, pathlib, types
def CommonParams():
    return types.SimpleNamespace(model=types.SimpleNamespace(),
        cpuparams=types.SimpleNamespace(), cpuparams_batch=types.SimpleNamespace())
def Server(params):
    pathlib.Path(params.model.path).write_text("loading")
    ctypes.PyDLL(None).sleep(600)
"""
LOADS_AT_ONCE = LOADS_FOR_EVER.replace(
    "    ctypes.PyDLL(None).sleep(600)",
    "    return types.SimpleNamespace(listening_address='http://127.0.0.1:1')",
)


def wait_for(holds: Callable[[], Any], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "It did not come about."
        time.sleep(0.02)


def is_gone(pid: int) -> bool:
    """Also as a zombie: the process that adopts it may wait for it late."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize(
    "llama_cpp",
    [
        pytest.param(
            LOADS_FOR_EVER,
            marks=pytest.mark.skipif(sys.platform != "linux", reason="later on other systems"),
            id="while loading",
        ),
        pytest.param(LOADS_AT_ONCE, id="loaded"),
    ],
)
def test_it_ends_when_the_server_is_killed(tmp_path: Path, llama_cpp: str) -> None:
    (tmp_path / "xllamacpp.py").write_text(llama_cpp)
    mark = tmp_path / "model"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{PYTHONPATH}"}
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(mark)], env=environment, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    wait_for(mark.exists)
    assert not is_gone(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_for(lambda: is_gone(pid))


def model_processes(server: RunningServer) -> list[psutil.Process]:
    """The processes that serve models, of those that the server started."""
    assert server.process is not None
    children = psutil.Process(server.process.pid).children(recursive=True)
    return [child for child in children if str(PROGRAM) in child.cmdline()]


class TestWithLlamaCpp:
    """A real server and llama.cpp itself; skipped where that is not installed."""

    @pytest.fixture
    def server(self, tmp_path: Path) -> Any:
        pytest.importorskip("xllamacpp", reason="llama.cpp is not installed: the extra local")
        file = tiny_model(tmp_path / "tiny.gguf", context=8192)
        environment = {"DATALAYER_AGENT_MAX_OUTPUT_TOKENS": "8"}
        server = RunningServer(tmp_path, environment=environment)
        folder = Path(server.environment["JUPYTER_DATA_DIR"], "datalayer-agent", "local-models")
        AddedModels(folder).add(file)
        with server:
            yield server

    def test_a_question_is_answered_by_the_model_that_was_added(
        self, server: RunningServer
    ) -> None:
        reply = server.get("models")
        assert (reply["default"], reply["ready"]) == ("local/tiny", True)
        (listed,) = [each for each in reply["models"] if each["id"] == "local/tiny"]
        assert listed["provider"] == "On this computer"
        assert (listed["label"], listed["contextWindow"]) == ("tiny (needs 4.7 MB)", 8192)
        assert server.get("models", model="local/tiny")["models"][0] == listed
        # Nothing is started to list it.
        assert model_processes(server) == []
        events = list(server.stream("chat/stream", {"message": "hello", "mode": "ask"}))
        shown = [event["message"] for event in events if event["type"] == "status"]
        assert "Loading tiny (0.4 MB)" in shown
        assert events[-1]["type"] == "turn_completed", events[-1]
        assert events[-1]["usage"]["outputTokens"] == 8

    def test_it_ends_neither_with_a_kernel_nor_after_the_server(
        self, server: RunningServer
    ) -> None:
        server.post("chat", {"message": "hello", "mode": "ask"})
        (process,) = model_processes(server)
        kernel = server.post("/api/kernels", {"name": "python3"})
        server.request("POST", f"/api/kernels/{kernel['id']}/interrupt")
        server.request("DELETE", f"/api/kernels/{kernel['id']}")
        assert not is_gone(process.pid)
        assert server.process is not None
        # Ctrl+C in the terminal reaches the group of the server.
        assert os.getpgid(process.pid) != os.getpgid(server.process.pid)
        server.kill()
        wait_for(lambda: is_gone(process.pid))

    def test_a_server_that_stops_leaves_none(self, server: RunningServer) -> None:
        server.post("chat", {"message": "hello", "mode": "ask"})
        (process,) = model_processes(server)
        server.process.send_signal(signal.SIGTERM)  # type: ignore[union-attr]
        wait_for(lambda: is_gone(process.pid))
