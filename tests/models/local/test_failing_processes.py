"""Processes that do not load their model. They are real processes with the program of a test in
place of llama.cpp, since it cannot be made to run out of memory here."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

import psutil
import pytest

from jupyter_datalayer_agent.models.local import servers
from jupyter_datalayer_agent.models.local.added_models import AddedModels, LocalModel
from jupyter_datalayer_agent.models.local.servers import LocalOptions, LocalServers, ModelProcess
from jupyter_datalayer_agent.models.types import ModelError
from tests.notebook.support import until
from tests.support.tiny_model import tiny_model

READ_JOB = "import sys, os, time, json; job = json.loads(sys.stdin.readline()); "


class Programs:
    """Servers whose processes run ``source``; ``started`` are all processes there were."""

    def __init__(self, folder: Path, source: str) -> None:
        self.folder = folder / "program"
        self.folder.mkdir()
        (self.folder / "__main__.py").write_text(READ_JOB + source)
        self.models = AddedModels(folder / "added")
        for name in ("one", "two"):
            self.models.add(tiny_model(folder / f"{name}.gguf"))
        self.started: list[ModelProcess] = []
        self.servers = LocalServers(lambda: self.models, LocalOptions, self._start)

    def _start(self, model: LocalModel, threads: int) -> ModelProcess:
        self.started.append(ModelProcess(model, threads, self.folder))
        return self.started[-1]

    async def failure(self, name: str = "one") -> ModelError:
        """The error of loading the model."""
        with pytest.raises(ModelError) as caught:
            await self.load(name)
        return caught.value

    async def load(self, name: str = "one") -> list[str]:
        """What is shown while it is loaded."""
        async with self.servers.use(name) as running:
            return [message async for message in running.loading()]


@pytest.fixture(autouse=True)
def llama_cpp_seems_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "MODULE", "json")


async def test_a_process_that_the_system_kills_ran_out_of_memory(tmp_path: Path) -> None:
    programs = Programs(tmp_path, "os.kill(os.getpid(), 9)")
    error = await programs.failure()
    assert "The system ended the local model one (0.4 MB), most likely" in error.message
    assert not error.retryable
    await programs.servers.close()


async def test_an_allocation_that_failed_is_named_as_such(tmp_path: Path) -> None:
    line = "0.00.1 E ggml  alloc: failed to allocate buffer of size 9"
    programs = Programs(tmp_path, f"print({line!r}, file=sys.stderr); sys.exit(1)")
    assert "memory ran out" in (await programs.failure()).message
    await programs.servers.close()


async def test_a_model_that_llama_cpp_does_not_know_is_reported_in_its_words(
    tmp_path: Path,
) -> None:
    line = "0.00.388.185 E srv    load_model: unknown model architecture: 'quux'"
    source = f"print({line!r}, file=sys.stderr); print(json.dumps({{'error': 'RuntimeError'}}))"
    programs = Programs(tmp_path, source)
    message = (await programs.failure()).message
    assert "the local model one: unknown model architecture: 'quux'" in message
    assert "pip install --upgrade xllamacpp" in message
    await programs.servers.close()


async def test_a_process_that_failed_is_started_anew(tmp_path: Path) -> None:
    programs = Programs(tmp_path, "print('no JSON')")
    await programs.failure()
    await programs.failure()
    assert len(programs.started) == 2
    await programs.servers.close()
    assert programs.servers.processes() == []


async def test_stop_while_loading_ends_the_process(tmp_path: Path) -> None:
    programs = Programs(tmp_path, "time.sleep(600)")
    loading = asyncio.create_task(programs.load())
    await until(lambda: programs.started)
    (process,) = programs.started
    assert process.is_alive
    loading.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await loading
    await until(lambda: not process.is_alive)
    await programs.servers.close()


async def test_a_process_that_two_wait_for_survives_the_stop_of_one(tmp_path: Path) -> None:
    source = (
        f"path = {str(tmp_path / 'go')!r}\n"
        "while not os.path.exists(path): time.sleep(0.01)\n"
        "print(json.dumps({'address': 'http://127.0.0.1:1'}), flush=True); time.sleep(600)"
    )
    programs = Programs(tmp_path, source)
    first, second = (asyncio.create_task(programs.load()) for _ in range(2))
    await until(lambda: programs.servers.users("one") == 2)
    first.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await first
    (tmp_path / "go").touch()
    assert (await second)[0] == "Loading one (0.4 MB)"
    assert len(programs.started) == 1
    await programs.servers.close()


async def test_a_model_that_does_not_fit_beside_another_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "print(json.dumps({'address': 'http://127.0.0.1:1'}), flush=True); time.sleep(600)"
    programs = Programs(tmp_path, source)

    def room_for_one() -> int:
        return 0 if any(process.is_alive for process in programs.started) else 2_000_000

    monkeypatch.setattr("jupyter_datalayer_agent.models.local.servers.available", room_for_one)
    async with programs.servers.use("one") as running:
        async for _ in running.loading():
            pass
        # Somebody uses the first one: it is not taken away.
        message = (await programs.failure("two")).message
        assert "two needs about 1.5 MB of memory, and 0.0 MB are available" in message
    await programs.load("two")
    assert [process.is_alive for process in programs.started] == [False, True]
    await programs.servers.close()


async def test_a_model_that_is_added_anew_does_not_cut_off_an_answer_of_the_former_one(
    tmp_path: Path,
) -> None:
    source = "print(json.dumps({'address': 'http://127.0.0.1:1'}), flush=True); time.sleep(600)"
    programs = Programs(tmp_path, source)
    async with programs.servers.use("one") as running:
        async for _ in running.loading():
            pass
        programs.models.remove("one")
        programs.models.add(tmp_path / "one.gguf", window=1_000)
        assert "its former version is still answering" in (await programs.failure()).message
        assert running.process.is_alive
    await programs.load()
    assert [process.is_alive for process in programs.started] == [False, True]
    assert programs.started[1].model.window == 1_000
    await programs.servers.close()


async def test_the_key_is_where_other_programs_do_not_see_it(tmp_path: Path) -> None:
    programs = Programs(tmp_path, "time.sleep(600)")
    async with programs.servers.use("one") as running:
        key, process = running.process.key, psutil.Process(running.process.pid)
        assert len(key) > 40
        assert key not in " ".join(process.cmdline())
        assert key not in process.environ().values()
        assert os.getsid(process.pid) != os.getsid(0)
    await programs.servers.close()
