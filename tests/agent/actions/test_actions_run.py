"""Actions of another package, run: changes can be undone, and what is secret is kept nowhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest

from tests.support.jupyter import PYTHONPATH, RunningServer
from tests.support.packages import declare
from tests.support.planning import Event, of_type, submit, until

SECRET = "tr0ub4dor-and-3"
PACKAGE = """
import asyncio
from pydantic import BaseModel
from jupyter_datalayer_agent.services.action import (
    Action, ActionFailed, ActionResult, parameter,
)
from jupyter_datalayer_agent.services.service import Service, ServiceConfig

class Sign(Action):
    id = "sign"
    title = "Sign the notebook"
    description = "Adds a cell with a name."
    class Parameters(BaseModel):
        name: str = parameter(title="Name", kind="name")
    async def execute(self, parameters, progress):
        await progress("Signing", 0.5)
        await self.context.call(
            "addNotebookCell", {"type": "markdown", "content": f"Signed: {parameters.name}"}
        )
        return ActionResult(f"Signed as {parameters.name}.")

class Login(Action):
    id = "login"
    title = "Log in"
    description = "Needs a password."
    class Parameters(BaseModel):
        user: str = parameter(title="User", kind="name")
        password: str = parameter(title="Password", secret=True)
    async def execute(self, parameters, progress):
        await progress(f"Trying {parameters.password}")
        if parameters.user == "crash":
            raise RuntimeError(f"inside with {parameters.password}")
        if parameters.user == "fail":
            raise ActionFailed(f"{parameters.password} is refused. Ask for a new one.")
        if len(parameters.password) != 15:
            raise ActionFailed("The password is wrong. Ask for a new one.")
        return ActionResult(f"Logged in with {parameters.password}.")

class Wait(Action):
    id = "wait"
    title = "Wait"
    description = "Waits."
    async def execute(self, parameters, progress):
        await progress("Waiting")
        await asyncio.sleep(600)

class Furnish(Action):
    id = "furnish"
    title = "Furnish the office"
    description = "Buys a desk."
    async def execute(self, parameters, progress):
        return ActionResult("Created the desk.")

class Crash(Action):
    id = "crash"
    title = "Crash"
    description = "Crashes."
    async def execute(self, parameters, progress):
        raise RuntimeError("inside")

SERVICE = Service(
    id="office", name="Office", description="Signs and logs in.",
    config=ServiceConfig(context="Signing adds a cell."), examples=["Sign this"],
    actions=[Sign, Login, Wait, Furnish, Crash],
)
LIE = Service(
    id="office", name="Other", description="Takes the same name.",
    config=ServiceConfig(context="x"), examples=["x"],
)
"""
ENTRIES = """
[jupyter_datalayer_agent.services]
office = office_service:SERVICE
lie = office_service:LIE
gone = office_service_that_is_not_there:SERVICE
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("actions")
    packages = folder / "packages"
    declare(packages, "office-service", ENTRIES)
    (packages / "office_service.py").write_text(PACKAGE)
    path = os.pathsep.join([str(packages), PYTHONPATH])
    with RunningServer(folder, environment={"PYTHONPATH": path}) as running:
        cells = [nbformat.v4.new_code_cell("1 + 1", id="one")]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), running.root / "cars.ipynb")
        yield running


def sources(server: RunningServer) -> list[str]:
    return [c.source for c in nbformat.read(server.root / "cars.ipynb", as_version=4).cells]


def propose(
    server: RunningServer, message: str, action: str, mode: str = "ask"
) -> tuple[str, Event]:
    """The proposal of an action that the user chose for the message: no model is there."""
    session = str(server.post("sessions", {})["id"])
    request = {
        "message": message, "activeNotebook": "cars.ipynb", "location": "panel", "mode": mode,
        "intent": {"service": "office", "subcommand": action},
    }  # fmt: skip
    submit(server, session, {"type": "user_message", "request": request})
    events = until(server.stream(f"sessions/{session}/events"), "turn_completed", "turn_aborted")
    (proposal,) = of_type(events, "action_proposed")
    return session, proposal


def run(server: RunningServer, session: str, proposal: Event, **parameters: Any) -> list[Event]:
    last = server.get(f"sessions/{session}")["lastSeq"]
    op = {"type": "run_action", "proposalId": proposal["proposalId"], "parameters": parameters}
    submit(server, session, op)
    stream = server.stream(f"sessions/{session}/events?after={last}")
    return until(stream, "turn_completed", "turn_aborted", "error")


def test_a_service_that_lies_or_is_gone_is_reported_and_breaks_nothing(
    server: RunningServer,
) -> None:
    listed = server.get("services")
    assert "office" in [each["id"] for each in listed["services"]]
    assert len(listed["problems"]) == 2
    assert any("There is a service /office already" in each for each in listed["problems"])
    assert any("No module named" in each for each in listed["problems"])


def test_an_action_changes_the_notebook_in_ask_mode_and_is_undone(server: RunningServer) -> None:
    session, proposal = propose(server, '/office sign it as "Ada"', "sign")
    assert sources(server) == ["1 + 1"]
    events = run(server, session, proposal, name="Ada")
    assert of_type(events, "action_finished")[0]["status"] == "ok"
    assert of_type(events, "action_progress")[0] | {"seq": 0, "at": 0, "turnId": ""} == {
        "type": "action_progress", "message": "Signing", "fraction": 0.5,
        "seq": 0, "at": 0, "turnId": "",
    }  # fmt: skip
    assert sources(server) == ["1 + 1", "Signed: Ada"]
    # The user chose Ask: a click on one action changes nothing of that.
    assert server.get(f"sessions/{session}")["settings"]["mode"] == "ask"
    last = server.get(f"sessions/{session}")["lastSeq"]
    submit(server, session, {"type": "undo", "turnId": events[-1]["turnId"]})
    until(server.stream(f"sessions/{session}/events?after={last}"), "changes_undone")
    assert sources(server) == ["1 + 1"]


def test_what_an_action_did_elsewhere_is_not_called_nothing(server: RunningServer) -> None:
    cars = {"kind": "notebook", "path": "cars.ipynb"}
    settings = {"mode": "agent", "attachments": [cars]}
    session = str(server.post("sessions", {"settings": settings})["id"])
    call = {"service": "office", "action": "furnish", "parameters": {}}
    request = {
        "message": "Furnish", "activeNotebook": "cars.ipynb", "location": "panel",
        "mode": "agent", "attachments": [cars], "action": call,
    }  # fmt: skip
    submit(server, session, {"type": "user_message", "request": request})
    events = until(server.stream(f"sessions/{session}/events"), "turn_completed", "turn_aborted")
    (reply,) = of_type(events, "final_reply")
    assert reply["text"] == "Created the desk."
    assert reply.get("notDone") is None


def test_a_secret_is_used_and_kept_nowhere(server: RunningServer) -> None:
    session, proposal = propose(server, f'/office log in as "ada" with {SECRET}x', "login")
    password = next(each for each in proposal["parameters"] if each["name"] == "password")
    assert password["secret"] is True
    assert password.get("value") is None
    assert password["found"] is False
    events = run(server, session, proposal, user="ada", password=SECRET)
    assert of_type(events, "action_finished")[0]["output"] == "Logged in with …."
    # Nor where the action itself is careless with it.
    failed = run(server, session, proposal, user="fail", password=SECRET)
    assert of_type(failed, "action_finished")[0]["error"] == "… is refused. Ask for a new one."
    run(server, session, proposal, user="crash", password=SECRET)
    assert "inside with …" in server.log.read_text()
    server.stop()
    try:
        written = [each for each in server.folder.rglob("*") if each.is_file()]
        assert "agent.db" in {each.name for each in written}
        for file in written:
            data = file.read_bytes().replace(f"{SECRET}x".encode(), b"")
            assert SECRET.encode() not in data, file
    finally:
        server.start()


def test_a_failure_says_what_to_do_and_a_crash_says_no_more_than_that(
    server: RunningServer,
) -> None:
    session, proposal = propose(server, '/office log in as "ada"', "login")
    failed = run(server, session, proposal, user="ada", password="short")
    assert of_type(failed, "action_finished")[0]["error"] == (
        "The password is wrong. Ask for a new one."
    )
    missing = run(server, session, proposal, user="ada")
    assert of_type(missing, "action_finished")[0]["error"] == "Required: Password."
    session, proposal = propose(server, "/office crash", "crash")
    crashed = run(server, session, proposal)
    assert "inside" not in of_type(crashed, "action_finished")[0]["error"]


def test_a_run_is_stopped_by_the_user(server: RunningServer) -> None:
    session, proposal = propose(server, "/office wait", "wait")
    last = server.get(f"sessions/{session}")["lastSeq"]
    op = {"type": "run_action", "proposalId": proposal["proposalId"]}
    submit(server, session, op)
    stream = server.stream(f"sessions/{session}/events?after={last}")
    until(stream, "action_progress")
    submit(server, session, {"type": "interrupt"})
    events = until(stream, "turn_aborted")
    assert of_type(events, "action_finished")[0]["status"] == "cancelled"


def test_a_proposal_of_before_a_restart_can_be_run(server: RunningServer) -> None:
    session, proposal = propose(server, '/office sign as "Grace"', "sign")
    server.stop()
    server.start()
    events = run(server, session, proposal, name="Grace")
    assert of_type(events, "action_finished")[0]["status"] == "ok"
    assert "Signed: Grace" in sources(server)


def test_a_proposal_of_nobody_is_refused(server: RunningServer) -> None:
    session, _ = propose(server, "/office wait", "wait")
    (*_, error) = run(server, session, {"proposalId": "proposal_0"})
    assert error["type"] == "error"
    assert error["code"] == "not_found"


def test_an_ordinary_message_needs_a_model_and_no_service_answers_it(server: RunningServer) -> None:
    session, _ = propose(server, "/office sign it", "sign")
    last = server.get(f"sessions/{session}")["lastSeq"]
    request = {"message": "/office sign it", "location": "panel", "intent": {}}
    submit(server, session, {"type": "user_message", "request": request})
    stream = server.stream(f"sessions/{session}/events?after={last}")
    events = until(stream, "turn_completed", "turn_aborted")
    assert of_type(events, "intent_detected", "action_proposed", "help_shown") == []
    assert [each["code"] for each in of_type(events, "error")] == ["no_model"]
