"""Servers that die, editors that go away, and private servers."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import acp
import psutil
import pytest

from tests.acp.editor import open_editor, run
from tests.support.jupyter import RunningServer
from tests.support.model_server import Gate, Say, ScriptedModelServer
from tests.support.planning import add
from tests.support.sessions import new_notebook, sources


async def until_aborted(server: RunningServer, session: str) -> dict[str, Any]:
    """The session's last turn, once it ended."""
    while True:
        turns = server.get(f"sessions/{session}/turns")["turns"]
        if turns and turns[-1]["status"] != "running":
            return dict(turns[-1])
        await asyncio.sleep(0.05)


def test_an_editor_that_goes_away_stops_its_turn_and_leaves_no_empty_session(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    before = [each["id"] for each in server.get("sessions")["sessions"]]

    async def use() -> None:
        async with open_editor(server) as (editor, agent):
            await agent.new(server.root)
            session = await agent.new(server.root)
            model.script(Gate(Say("Nobody reads this"), after=1))
            asked = asyncio.ensure_future(agent.ask(session, "Speak"))
            await editor.until(lambda: editor.text(session) != "")
            agent.process.stdin.close()
            assert await agent.process.wait() == 0
            with contextlib.suppress(ConnectionError, acp.RequestError):
                await asked
        assert (await until_aborted(server, session))["status"] == "aborted"
        now = [each["id"] for each in server.get("sessions")["sessions"]]
        assert now == [session, *before]

        # One that is terminated does the same.
        async with open_editor(server) as (editor, agent):
            session = await agent.new(server.root)
            model.script(Gate(Say("Nor this"), after=1))
            asked = asyncio.ensure_future(agent.ask(session, "Speak"))
            await editor.until(lambda: editor.text(session) != "")
            agent.process.terminate()
            assert await agent.process.wait() == 0
            with contextlib.suppress(ConnectionError, acp.RequestError):
                await asked
        assert (await until_aborted(server, session))["status"] == "aborted"

    run(use())


def test_a_server_that_dies_is_reported_and_the_next_message_goes_on_at_another(
    tmp_path: Path,
) -> None:
    async def use(server: RunningServer, model: ScriptedModelServer) -> None:
        async with open_editor(server) as (editor, agent):
            session = await agent.new(server.root)
            model.script(add("1"), Gate(Say("Cut off"), after=1))
            asked = asyncio.ensure_future(
                agent.ask(session, "Add one to ", server.root / "kept.ipynb")
            )
            await editor.until(lambda: editor.text(session) != "")
            server.kill()
            with pytest.raises(acp.RequestError, match="does not answer any more"):
                await asked
            assert sources(server.root / "kept.ipynb") == ["1"]
            # The same conversation, at a private server in the session's folder.
            model.script(add("2"), Say("I remember."))
            done = await agent.ask(session, "Go on")
            assert done.stop_reason == "end_turn"
            assert sources(server.root / "kept.ipynb") == ["1", "2"]
            assert "Add one to kept.ipynb" in model.requests[-1].text

    with ScriptedModelServer() as model, RunningServer(tmp_path, api_base=model.base_url) as server:
        new_notebook(server.root / "kept.ipynb")
        run(use(server, model))


def test_where_no_server_runs_a_private_one_lives_as_long_as_the_editor(tmp_path: Path) -> None:
    server = RunningServer(tmp_path)  # Never started: its folders.

    async def use() -> None:
        async with open_editor(server, whole=True) as (_, agent):
            await agent.new(server.root)
            [private] = psutil.Process(agent.process.pid).children()
            assert any(each.startswith("--ServerApp.root_dir=") for each in private.cmdline())
            # Nothing gets to say goodbye.
            agent.process.kill()
            await agent.process.wait()
            await asyncio.to_thread(psutil.wait_procs, [private], 20)
            assert not private.is_running()

    run(use())
