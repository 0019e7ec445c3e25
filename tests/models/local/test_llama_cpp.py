"""llama.cpp itself, with the tiny model: started, streamed, shared, stopped, ended when idle.

The wheel of llama.cpp has 34 MB on Linux, so CI does not install it: these tests are skipped where
the extra ``local`` is missing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from jupyter_datalayer_agent.models.litellm_model import LitellmModel
from jupyter_datalayer_agent.models.local.added_models import AddedModels
from jupyter_datalayer_agent.models.local.servers import LocalOptions, LocalServers
from jupyter_datalayer_agent.models.types import (
    ModelError,
    ModelLoading,
    ModelRequest,
    ResponseDone,
    StreamEvent,
    TextChunk,
)
from jupyter_datalayer_agent.models.with_local_models import with_local_models
from tests.notebook.support import until
from tests.support.tiny_model import CONTEXT, LETTERS, tiny_model

pytest.importorskip("xllamacpp", reason="llama.cpp is not installed: the extra local has it")

PROMPT = [{"role": "user", "content": "hello"}]


class World:
    """The servers of two added models, ``tiny`` and ``other``."""

    def __init__(self, folder: Path, idle_seconds: float = 900.0) -> None:
        self.folder = folder
        self.models = AddedModels(folder / "added")
        for name in ("tiny", "other"):
            self.models.add(tiny_model(folder / f"{name}.gguf"))
        self.idle_seconds = idle_seconds
        self.servers = LocalServers(
            lambda: self.models, lambda: LocalOptions(self.idle_seconds, threads=1)
        )
        self.model = with_local_models(LitellmModel(), self.servers)

    def stream(self, name: str = "tiny", **changes: Any) -> Any:
        request = {
            "model": f"local/{name}",
            "instructions": "Be brief.",
            "input": PROMPT,
            "temperature": 0.0,
            "max_output_tokens": 12,
            **changes,
        }
        return contextlib.aclosing(self.model.stream(ModelRequest(**request)))

    async def answer(self, name: str = "tiny", **changes: Any) -> list[StreamEvent]:
        async with self.stream(name, **changes) as events:
            return [event async for event in events]

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in self.servers.processes()]


def in_world(test: Callable[[World], Awaitable[None]]) -> Callable[[Path], Awaitable[None]]:
    """A test that is given a ``World``, whose processes end with it."""

    async def run(tmp_path: Path) -> None:
        world = World(tmp_path)
        try:
            await test(world)
        finally:
            await world.servers.close()

    run.__name__ = test.__name__
    return run


def text(events: list[StreamEvent]) -> str:
    return "".join(event.delta for event in events if isinstance(event, TextChunk))


@in_world
async def test_a_model_is_loaded_at_its_first_use_and_streams(world: World) -> None:
    assert world.pids == []
    events = await world.answer()
    shown = [event.message for event in events if isinstance(event, ModelLoading)]
    assert (shown[0], shown[-1]) == ("Loading tiny (0.4 MB)", "Thinking")
    done = events[-1]
    assert isinstance(done, ResponseDone)
    assert set(text(events)) <= set(LETTERS)
    assert len([event for event in events if isinstance(event, TextChunk)]) == 12
    assert done.finish_reason == "max_output_tokens"
    # By llama.cpp's count, and for nothing.
    assert (done.usage.output_tokens, done.usage.estimated, done.usage.cost) == (12, False, None)
    before = world.pids
    again = await world.answer()
    assert not [event for event in again if isinstance(event, ModelLoading)]
    assert text(again) == text(events)
    assert world.pids == before
    assert psutil.Process(before[0]).nice() == 10


@in_world
async def test_two_at_once_share_one_process_and_both_get_the_answer(world: World) -> None:
    first, second, other = await asyncio.gather(
        world.answer(), world.answer(), world.answer("other")
    )
    assert text(first) == text(second) == text(other)
    assert len(world.pids) == 2


async def test_an_idle_process_ends_and_its_model_is_loaded_again(tmp_path: Path) -> None:
    world = World(tmp_path, idle_seconds=0.3)
    await world.answer()
    (pid,) = world.pids
    await until(lambda: not psutil.pid_exists(pid))
    assert world.pids == []
    events = await world.answer()
    assert isinstance(events[0], ModelLoading)
    await world.servers.close()


async def test_it_does_not_end_while_somebody_uses_it(tmp_path: Path) -> None:
    world = World(tmp_path, idle_seconds=0.1)
    async with world.stream(max_output_tokens=400) as events:
        async for event in events:
            if isinstance(event, TextChunk):
                break
        await asyncio.sleep(0.5)
        assert len(world.pids) == 1
    await until(lambda: not world.pids)
    await world.servers.close()


@in_world
async def test_a_prompt_that_is_longer_than_the_window_says_so(world: World) -> None:
    long = [{"role": "user", "content": "rat " * CONTEXT}]
    with pytest.raises(ModelError) as caught:
        await world.answer(input=long)
    assert caught.value.code == "context_window"
    # The process goes on.
    assert text(await world.answer())


@in_world
async def test_a_process_that_is_killed_while_it_answers_is_reported(world: World) -> None:
    async def kill_at_first_text() -> None:
        async with world.stream(max_output_tokens=1500) as events:
            async for event in events:
                if isinstance(event, TextChunk) and world.pids:
                    os.kill(world.pids[0], signal.SIGKILL)
                    await until(lambda: not world.pids)

    with pytest.raises(ModelError) as caught:
        await kill_at_first_text()
    assert "The system ended the local model tiny (0.4 MB)" in caught.value.message
    assert text(await world.answer())


@in_world
async def test_the_server_refuses_who_has_no_key(world: World) -> None:
    async with world.servers.use("tiny") as running:
        async for _ in running.loading():
            pass
        address = await running.process.address()
        assert address.startswith("http://127.0.0.1:")
        body = {"messages": PROMPT, "max_tokens": 1}
        async with httpx.AsyncClient(base_url=address) as client:
            refused = await client.post("/v1/chat/completions", json=body)
            wrong = {"Authorization": f"Bearer {'x' * 43}"}
            still = await client.post("/v1/chat/completions", json=body, headers=wrong)
            right = {"Authorization": f"Bearer {running.process.key}"}
            taken = await client.post("/v1/chat/completions", json=body, headers=right)
    assert (refused.status_code, still.status_code, taken.status_code) == (401, 401, 200)


@in_world
async def test_a_file_that_only_llama_cpp_can_refuse(world: World) -> None:
    world.models.add(tiny_model(world.folder / "quux.gguf", architecture="quux"))
    with pytest.raises(ModelError) as caught:
        await world.answer("quux")
    assert "quux" in caught.value.message
    assert caught.value.message.startswith("llama.cpp failed")
    assert not caught.value.retryable


async def test_the_key_is_in_no_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    world = World(tmp_path)
    with caplog.at_level("DEBUG"):
        await world.answer()
        with contextlib.suppress(ModelError):
            await world.answer(tool_choice={"type": "nonsense"}, tools=[{"type": "function"}])
        (process,) = world.servers.processes()
        os.kill(process.pid, signal.SIGKILL)
        await until(lambda: not world.pids)
        assert "tiny" in caplog.text
        assert process.key not in caplog.text
        assert process.key not in process.failure()
    await world.servers.close()


@in_world
async def test_closing_ends_all_processes(world: World) -> None:
    await asyncio.gather(world.answer(), world.answer("other"))
    pids = world.pids
    assert len(pids) == 2
    await world.servers.close()
    assert not any(psutil.pid_exists(pid) for pid in pids)
