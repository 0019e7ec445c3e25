"""Which sessions are in memory: deleted while they come, let go while others go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jupyter_datalayer_agent.agent.runtime import Runtime
from jupyter_datalayer_agent.agent.session import registry
from jupyter_datalayer_agent.agent.session.actor import LiveSession
from jupyter_datalayer_agent.agent.session.registry import SessionRegistry
from jupyter_datalayer_agent.notebook.renames import Renames
from jupyter_datalayer_agent.protocol.errors import AgentError

from ..changes.undoing import chat


class SlowScratchKernels:
    """Scratch kernels that take as long to end as a test says."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.go_on = asyncio.Event()
        self.failure: Exception | None = None

    async def end(self, session_id: str, *, goes_on: bool) -> None:
        assert goes_on
        self.asked.append(session_id)
        await self.go_on.wait()
        if self.failure is not None:
            raise self.failure


@asynccontextmanager
async def sessions(
    tmp_path: Path, idle_seconds: float = 3600
) -> AsyncIterator[tuple[SessionRegistry, SlowScratchKernels]]:
    async with chat(tmp_path) as talk:
        rest = SlowScratchKernels()
        runtime: Runtime = replace(
            talk.session.state.runtime,
            notebooks=cast(Any, SimpleNamespace(scratch=rest, renames=Renames())),
        )
        live = SessionRegistry(runtime, idle_seconds)
        try:
            yield live, rest
        finally:
            rest.go_on.set()
            await live.close()


async def until(holds: Any) -> None:
    """Wait until it holds; the test's own limit is that of pytest."""
    while not holds():  # noqa: ASYNC110 - nobody signals what is waited for
        await asyncio.sleep(0.01)


async def test_a_session_that_is_deleted_while_it_is_loaded_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading, go_on = asyncio.Event(), asyncio.Event()
    load = registry.load

    async def slowly(*args: Any) -> LiveSession:
        session = await load(*args)
        loading.set()
        await go_on.wait()
        return session

    monkeypatch.setattr(registry, "load", slowly)
    async with sessions(tmp_path) as (live, _):
        session_id = (await live.create()).id
        wanted = asyncio.ensure_future(live.live(session_id))
        await loading.wait()
        deleted = asyncio.ensure_future(live.delete(session_id))
        await asyncio.sleep(0)
        with pytest.raises(AgentError, match="deleted"):
            await live.live(session_id)
        go_on.set()
        await deleted
        await wanted
        assert live.loaded(session_id) is None
        with pytest.raises(AgentError) as refused:
            await live.live(session_id)
        assert refused.value.code == "not_found"


async def test_one_that_is_deleted_while_another_is_let_go_does_not_end_the_sweeper(
    tmp_path: Path,
) -> None:
    async with sessions(tmp_path, idle_seconds=0.05) as (live, rest):
        first, second = [(await live.begin()).id for _ in range(2)]
        await until(lambda: rest.asked)
        (other,) = {first, second} - set(rest.asked)
        await live.delete(other)
        rest.go_on.set()
        third = await live.begin()
        await until(lambda: live.loaded(third.id) is None)


async def test_one_that_was_loaded_anew_while_another_is_let_go_stays(tmp_path: Path) -> None:
    async with sessions(tmp_path, idle_seconds=0.2) as (live, rest):
        first, second = [await live.begin() for _ in range(2)]
        await until(lambda: rest.asked)
        other = second if rest.asked == [first.id] else first
        await other.close()
        anew = await live.live(other.id)
        assert anew is not other
        rest.go_on.set()
        await asyncio.sleep(0.05)
        assert live.loaded(other.id) is anew


async def test_a_kernel_that_cannot_be_ended_does_not_keep_the_others_in_memory(
    tmp_path: Path,
) -> None:
    async with sessions(tmp_path, idle_seconds=0.05) as (live, rest):
        rest.failure = RuntimeError("no such process")
        rest.go_on.set()
        begun = [(await live.begin()).id for _ in range(3)]
        await until(lambda: set(rest.asked) == set(begun))
        assert [live.loaded(each) for each in begun] == [None] * 3
