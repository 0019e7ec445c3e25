"""How many connections there may be, and when one ends by itself."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_datalayer_agent.server.mcp import connections
from jupyter_datalayer_agent.server.mcp.connections import Connections
from jupyter_datalayer_agent.server.mcp.sdk.adapter import Identity
from tests.server.mcp.conftest import Run

ME = Identity("test", "Test", "1", "")


def test_one_that_is_not_heard_of_ends(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (connections, connections):
        monkeypatch.setattr(module, "IDLE_SECONDS", 0.3)

    async def scenario() -> None:
        every = Connections(ME, lambda each: {}, lambda: "agent")
        held, forgotten = await every.open("me"), await every.open("me")
        assert held is not None
        assert forgotten is not None
        held.held = 1
        ended = asyncio.Event()
        forgotten.on_end.append(ended.set)
        await ended.wait()
        assert every.find(forgotten.id, "me") is None
        assert every.find(held.id, "me") is held
        assert every.find(held.id, "another") is None
        await every.close()
        assert held.is_over

    run(scenario())


def test_a_new_one_takes_the_place_of_the_one_that_is_idle_longest(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 2)

    async def scenario() -> None:
        every = Connections(ME, lambda each: {}, lambda: "agent")
        first, second = await every.open("me"), await every.open("me")
        assert first is not None
        assert second is not None
        first.held = 1
        third = await every.open("me")
        assert third is not None
        assert second.is_over
        third.held = 1
        assert await every.open("me") is None
        await every.close()

    run(scenario())
