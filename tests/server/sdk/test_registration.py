"""The agent registers with an agent SDK that is installed, which then runs tasks by it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Hang, Say, ScriptedModelServer
from tests.support.packages import install
from tests.support.planning import plan_of
from tests.support.until import until

SDK = '''
"""An agent SDK that is driven by files: NAME.ask begins a task, NAME.cancel ends it."""
import asyncio, json
from pathlib import Path

HERE = Path.cwd()


async def register(descriptor, run):
    (HERE / "descriptor.json").write_text(json.dumps(descriptor))
    watching = asyncio.ensure_future(watch(run))

    async def unregister():
        watching.cancel()
        (HERE / "unregistered").write_text("")

    return unregister


async def watch(run):
    tasks = {}
    while True:
        for ask in HERE.glob("*.ask"):
            call = json.loads(ask.read_text() or "null")
            if call and ask.stem not in tasks:
                tasks[ask.stem] = asyncio.ensure_future(carry_out(run, ask.stem, call))
        for cancel in HERE.glob("*.cancel"):
            tasks[cancel.stem].cancel()
        await asyncio.sleep(0.02)


async def carry_out(run, name, call):
    with (HERE / f"{name}.events").open("a") as events:
        def emit(event):
            print(json.dumps(event), file=events, flush=True)
        try:
            outcome = {"reply": await run(emit=emit, **call)}
        except asyncio.CancelledError:
            outcome = {"cancelled": True}
        except Exception as error:
            outcome = {"error": str(error)}
    (HERE / f"{name}.part").write_text(json.dumps(outcome))
    (HERE / f"{name}.part").rename(HERE / f"{name}.outcome")


def refuse(descriptor, run):
    raise RuntimeError("This SDK wants another version.")
'''
TOML = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "an-agent-sdk"
version = "1"
[project.entry-points."jupyter_datalayer_agent.sdk"]
broken = "an_agent_sdk:refuse"
files = "an_agent_sdk:register"
gone = "an_agent_sdk:nothing_of_this_name"
[tool.hatch.build.targets.wheel]
only-include = ["an_agent_sdk.py"]
"""


class Sdk:
    """The files by which the test drives the SDK."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def ask(self, name: str, **call: Any) -> None:
        """Begin a task."""
        part = self.folder / f"{name}.begun"
        part.write_text(json.dumps(call))
        part.rename(self.folder / f"{name}.ask")

    def cancel(self, name: str) -> None:
        """Cancel it."""
        (self.folder / f"{name}.cancel").write_text("")

    def events(self, name: str) -> list[dict[str, Any]]:
        """What it emitted so far."""
        path = self.folder / f"{name}.events"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def outcome(self, name: str) -> dict[str, Any]:
        """Its end."""
        path = self.folder / f"{name}.outcome"
        until(path.exists)
        outcome: dict[str, Any] = json.loads(path.read_text())
        return outcome


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("sdk")
    (folder / "package").mkdir()
    (folder / "package" / "an_agent_sdk.py").write_text(SDK)
    (folder / "package" / "pyproject.toml").write_text(TOML)
    environment = install(folder / "package", folder / "site")
    with RunningServer(folder, api_base=shared_model.base_url, environment=environment) as running:
        # No request of ours: the server registers by itself.
        until((folder / "descriptor.json").exists)
        yield running


@pytest.fixture
def sdk(server: RunningServer) -> Sdk:
    return Sdk(server.folder)


def test_it_is_given_the_descriptor_and_others_that_fail_break_nothing(
    server: RunningServer,
) -> None:
    given = json.loads((server.folder / "descriptor.json").read_text())
    assert given == server.get("descriptor")
    until(lambda: "The agent SDK gone" in server.log.read_text())
    log = server.log.read_text()
    assert "The agent SDK broken (an_agent_sdk:refuse) could not be used" in log
    assert "This SDK wants another version." in log
    assert "Registered as datalayer-autonomous with the agent SDK files" in log


def test_a_message_is_a_planned_task_with_its_progress(
    server: RunningServer, sdk: Sdk, model: ScriptedModelServer
) -> None:
    model.script(
        plan_of("Make a notebook", tool="createNotebook"),
        Call("createNotebook", {"name": "made.ipynb"}),
        Say("It is made."),
    )
    sdk.ask("made", message="Make a notebook")
    reply = sdk.outcome("made")["reply"]
    assert (reply["status"], reply["mode"]) == ("completed", "agent")
    assert (server.root / "made.ipynb").exists()
    types = [each["type"] for each in sdk.events("made")]
    assert types[0] == "turn_started"
    assert types[-1] == "turn_completed"
    assert {"plan_updated", "step_started", "tool_call_output", "step_finished"} <= set(types)
    # It is a session like others, whose changes can be seen and undone.
    session = server.get(f"sessions/{reply['sessionId']}/turns")
    assert [each["id"] for each in session["turns"]] == [reply["turnId"]]


def test_a_cancelled_task_is_interrupted(
    server: RunningServer, sdk: Sdk, model: ScriptedModelServer
) -> None:
    model.script(plan_of("Wait", tool="createNotebook"), Hang(60))
    sdk.ask("long", message="agent: wait for long")
    until(lambda: any(each["type"] == "step_started" for each in sdk.events("long")))
    sdk.cancel("long")
    assert sdk.outcome("long") == {"cancelled": True}
    session = sdk.events("long")[0]
    turns = server.get("sessions")["sessions"]
    last = server.get(f"sessions/{turns[0]['id']}/turns")["turns"][-1]
    assert (last["id"], last["status"]) == (session["turnId"], "aborted")


def test_a_task_that_cannot_begin_says_why(server: RunningServer, sdk: Sdk) -> None:
    sdk.ask("unknown", message="Go on", session_id="s_none")
    assert "s_none" in sdk.outcome("unknown")["error"]
    sdk.ask("empty", message=" ")
    assert "empty" in sdk.outcome("empty")["error"]


def test_it_is_unregistered_when_the_server_stops(tmp_path: Path, server: RunningServer) -> None:
    with RunningServer(tmp_path, environment=server.added):
        until((tmp_path / "descriptor.json").exists)
        assert not (tmp_path / "unregistered").exists()
    assert (tmp_path / "unregistered").exists()


def test_without_one_there_is_a_line_in_the_log(tmp_path: Path) -> None:
    with RunningServer(tmp_path) as running:
        until(lambda: "No agent SDK is installed" in running.log.read_text())
