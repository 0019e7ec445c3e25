"""Steps of a plan that are actions of services: proposed by the agent, run by the user alone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cars import write_cars
from tests.support.jupyter import PYTHONPATH, RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.packages import declare
from tests.support.planning import Event, add, of_type, plan_states, sources, submit, task, until

END = ("turn_completed", "turn_aborted")
PACKAGE = """
import sys
from pydantic import BaseModel
from jupyter_datalayer_agent.services.action import Action, ActionFailed, ActionResult, parameter
from jupyter_datalayer_agent.services.service import Service, ServiceConfig

class Stamp(Action):
    id = "stamp"
    title = "Stamp a parcel"
    description = "Writes a file with the name of the parcel."
    examples = ("Stamp the parcel",)
    class Parameters(BaseModel):
        name: str = parameter(title="Name", kind="name")
        token: str | None = parameter(None, title="Token", secret=True)
    async def execute(self, parameters, progress):
        runs = await self.context.path("runs.txt")
        runs.write_text((runs.read_text() if runs.exists() else "") + parameters.name + "\\n")
        if parameters.name == "refused":
            raise ActionFailed("This parcel is refused. Choose another name.")
        if parameters.name == "lost":
            return ActionResult("Stamped.", ["lost.txt"])
        return ActionResult(f"Stamped {parameters.name}.", ["runs.txt"])

class Burn(Action):
    id = "burn"
    title = "Burn a parcel"
    description = "Burns it."
    destructive = True
    class Parameters(BaseModel):
        name: str
    async def wizard(self, ui):
        name = await ui.pick("name", "Which parcel?", ["red", "blue"])
        if name == "red":
            await ui.confirm("sure", "Really the red one?")
        return self.Parameters(name=name)
    def destroys(self, known):
        return f"The parcel {known.get('name', '')} is burnt."
    async def execute(self, parameters, progress):
        return ActionResult(f"Burnt {parameters.name}.")

class Drop(Action):
    id = "drop"
    title = "Drop a parcel"
    description = "Its code is at fault wherever the parcel says."
    class Parameters(BaseModel):
        name: str = parameter(title="Name", kind="name")
        token: str | None = parameter(None, title="Token", secret=True)
    async def options(self, name, known):
        if known.get("name") == "raises":
            raise KeyError("sk-secret")
        if known.get("name") == "exits":
            sys.exit(3)
        return [object()] if known.get("name") == "unsendable" else None
    async def execute(self, parameters, progress):
        sys.exit("dropped") if parameters.name == "runs-exit" else {}[parameters.name]

class Break(Drop):
    id = "break"
    title = "Break a parcel"
    def __init__(self, context):
        raise RuntimeError("broken")

SERVICE = Service(
    id="parcels", name="Parcels", description="Stamps and burns parcels.",
    config=ServiceConfig(context="Parcels are stamped."), examples=["Stamp the parcel"],
    actions=[Stamp, Burn, Drop, Break],
)

class BurnLetter(Drop):
    id = "burn"
    title = "Burn a letter"

class ListFiles(Drop):
    id = "listfiles"
    title = "List the letters"

LETTERS = Service(
    id="letters", name="Letters", description="Burns letters and lists them.",
    config=ServiceConfig(context="Letters are burnt."), examples=["Burn the letter"],
    actions=[BurnLetter, ListFiles],
)
"""
ENTRY_POINTS = """[jupyter_datalayer_agent.services]
parcels = parcels_service:SERVICE
letters = parcels_service:LETTERS
"""


@pytest.fixture(scope="module")
def shared_model() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer() as model:
        yield model


@pytest.fixture
def model(shared_model: ScriptedModelServer) -> Iterator[ScriptedModelServer]:
    shared_model.reset()
    shared_model.set_default(None)
    yield shared_model
    assert shared_model.errors == []


@pytest.fixture(scope="module")
def running(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("parcels")
    packages = folder / "packages"
    declare(packages, "parcels-service", ENTRY_POINTS)
    (packages / "parcels_service.py").write_text(PACKAGE)
    path = os.pathsep.join([str(packages), PYTHONPATH])
    environment = {"PYTHONPATH": path}
    with RunningServer(folder, api_base=shared_model.base_url, environment=environment) as running:
        yield running


@pytest.fixture
def server(running: RunningServer) -> RunningServer:
    write_cars(running.root)
    (running.root / "runs.txt").unlink(missing_ok=True)
    return running


def step(description: str, action: str | None = None, **parameters: Any) -> dict[str, Any]:
    if action is None:
        return {"description": description, "toolCalls": ["addNotebookCell"]}
    return {"description": description, "action": action, "parameters": parameters}


def plan(*steps: dict[str, Any]) -> Say:
    return Say(json.dumps({"steps": list(steps), "requiredTools": []}), chunk=64)


STAMP = step("Stamp the parcel Ada", "parcels/stamp", name="Ada")
NOTE = step("Write a note")
TASK = "agent: stamp the parcel Ada, then write a note"


def begin(server: RunningServer, message: str = TASK, **more: Any) -> str:
    session = str(server.post("sessions", {})["id"])
    submit(
        server,
        session,
        {"type": "user_message", "request": task(message, clientId="page-1", **more)},
    )
    return session


def stream(server: RunningServer, session: str, after: int = 0) -> Iterator[Event]:
    return server.stream(f"sessions/{session}/events?after={after}")


def waiting(server: RunningServer, session: str, after: int = 0) -> tuple[Event, Event]:
    """The proposal, and the plan that waits with it."""
    seen = until(stream(server, session, after), "plan_updated", state="waiting")
    return of_type(seen, "action_proposed")[-1], seen[-1]


def act(server: RunningServer, session: str, op: dict[str, Any]) -> list[Event]:
    """Submit the op; the events from then to the end of the turn or an error."""
    last = server.get(f"sessions/{session}")["lastSeq"]
    submit(server, session, op)
    return until(stream(server, session, last), *END, "error")


def run_op(proposal: Event, **parameters: Any) -> dict[str, Any]:
    return {
        "type": "run_action",
        "proposalId": proposal["proposalId"],
        "parameters": parameters,
    }


def runs(server: RunningServer) -> list[str]:
    file = server.root / "runs.txt"
    return file.read_text().split() if file.exists() else []


def script_note(model: ScriptedModelServer) -> None:
    model.script(add("A note.", "markdown"), Say("Written."))


def test_the_plan_waits_at_an_action_and_goes_on_when_the_user_has_run_it(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan(STAMP, NOTE))
    session = begin(server)
    proposal, shown = waiting(server, session)
    assert [each["status"] for each in shown["steps"]] == ["in_progress", "pending"]
    assert shown["steps"][0]["proposalId"] == proposal["proposalId"]
    assert proposal["complete"] is True
    name, token = proposal["parameters"]
    assert (name["value"], name["source"]) == ("Ada", "the plan")
    assert (token["secret"], token["found"]) == (True, False)
    assert runs(server) == []
    assert len(model.requests) == 1  # what the plan says is not asked of a model again
    script_note(model)
    seen = act(server, session, run_op(proposal, name="Ada"))
    assert seen[-1]["type"] == "turn_completed"
    assert runs(server) == ["Ada"]
    assert of_type(seen, "action_started")[0]["proposalId"] == proposal["proposalId"]
    finished = of_type(seen, "action_finished")[0]
    assert (finished["status"], finished["paths"]) == ("ok", ["runs.txt"])
    ends = of_type(seen, "step_finished")
    assert [(e["index"], e["success"]) for e in ends] == [(0, True), (1, True)]
    assert ends[0]["message"] == "Stamped Ada."
    assert sources(server) == ["# Cars", "A note."]
    said = of_type(seen, "final_reply")[0]["text"]
    assert "- You ran: Stamp the parcel Ada\n- Changed: wrote runs.txt, 1 cell added" in said
    assert "1 file found where expected" in said
    # The model reads what came of the action.
    assert "the user ran its action. Its result:\\nStamped Ada." in json.dumps(
        model.requests[1].body
    )


def test_a_second_click_while_the_plan_goes_on_is_refused(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan(STAMP, step("Stamp the parcel Bob", "parcels/stamp", name="Bob")))
    session = begin(server)
    first, shown = waiting(server, session)
    submit(server, session, run_op(first, name="Ada"))
    second, _ = waiting(server, session, shown["seq"])
    assert second["proposalId"] != first["proposalId"]
    refused = act(server, session, run_op(first, name="Ada"))[-1]
    assert (refused["type"], refused["code"]) == ("error", "invalid_request")
    approved = act(server, session, {"type": "plan_decision", "decision": "approve"})[-1]
    assert "Run it in its form" in approved["message"]
    seen = act(server, session, run_op(second, name="Bob"))
    assert seen[-1]["type"] == "turn_completed"
    assert runs(server) == ["Ada", "Bob"]


@pytest.mark.parametrize("how", ["kill -9", "restart"])
def test_a_plan_waits_for_its_action_over_the_end_of_the_server(
    server: RunningServer, model: ScriptedModelServer, how: str
) -> None:
    model.script(plan(STAMP, NOTE))
    session = begin(server)
    proposal, _ = waiting(server, session)
    if how == "kill -9":
        server.kill()
    else:
        server.stop()
    server.start()
    script_note(model)
    seen = act(server, session, run_op(proposal, name="Ada"))
    assert seen[-1]["type"] == "turn_completed"
    assert of_type(seen, "action_proposed") == []
    assert runs(server) == ["Ada"]
    assert sources(server) == ["# Cars", "A note."]


def test_an_action_whose_package_is_gone_fails_its_step(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan(STAMP, {**NOTE, "dependencies": [0]}))
    session = begin(server)
    waiting(server, session)
    server.kill()
    declared = server.folder / "packages" / "parcels_service-1.0.dist-info" / "entry_points.txt"
    declared.write_text("")
    try:
        server.start()
        # The session is loaded by whoever opens it: then the plan goes on.
        seen = until(stream(server, session), *END)
    finally:
        server.kill()
        declared.write_text(ENTRY_POINTS)
        server.start()
    (ended,) = of_type(seen, "step_finished")
    assert ended["success"] is False
    assert "no service 'parcels'" in ended["message"]
    assert plan_states(seen)[-1] == "stopped"
    assert runs(server) == []


def test_a_skipped_step_is_not_run_and_the_others_are(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan(STAMP, NOTE))
    session = begin(server)
    waiting(server, session)
    script_note(model)
    seen = act(server, session, {"type": "plan_decision", "decision": "skip"})
    assert seen[-1]["type"] == "turn_completed"
    assert [each["status"] for each in of_type(seen, "plan_updated")[-1]["steps"]] == [
        "skipped",
        "completed",
    ]
    assert runs(server) == []
    assert "You skipped step 1." in of_type(seen, "final_reply")[0]["text"]
    assert "skipped by the user" in json.dumps(model.requests[1].body)


def test_steps_that_need_a_skipped_one_are_not_begun(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    burn = step("Burn the parcel blue", "parcels/burn", name="blue")
    model.script(plan(STAMP, {**burn, "dependencies": [0]}))
    session = begin(server)
    waiting(server, session)
    seen = act(server, session, {"type": "plan_decision", "decision": "skip"})
    assert (
        "Not started, since it needs what was skipped: step 2."
        in (of_type(seen, "final_reply")[0]["text"])
    )


def test_a_stopped_plan_proposes_the_action_again(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan(STAMP, NOTE))
    session = begin(server)
    first, _ = waiting(server, session)
    stopped = act(server, session, {"type": "interrupt"})
    assert stopped[-1]["type"] == "turn_aborted"
    assert plan_states(stopped) == ["stopped"]
    last = server.get(f"sessions/{session}")["lastSeq"]
    submit(server, session, {"type": "resume"})
    again, _ = waiting(server, session, last)
    assert again["proposalId"] == first["proposalId"]
    script_note(model)
    assert act(server, session, run_op(again, name="Ada"))[-1]["type"] == "turn_completed"
    assert runs(server) == ["Ada"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("refused", "This parcel is refused. Choose another name."),
        ("lost", "lost.txt should have been written, but does not exist."),
    ],
)
def test_a_failed_action_fails_its_step_and_can_be_run_again(
    server: RunningServer, model: ScriptedModelServer, name: str, why: str
) -> None:
    model.script(plan(STAMP, NOTE))
    session = begin(server)
    proposal, _ = waiting(server, session)
    seen = act(server, session, run_op(proposal, name=name))
    assert seen[-1]["type"] == "turn_aborted"
    assert of_type(seen, "step_finished")[0]["message"] == why
    assert plan_states(seen)[-1] == "stopped"
    last = server.get(f"sessions/{session}")["lastSeq"]
    submit(server, session, {"type": "resume"})
    again, _ = waiting(server, session, last)
    script_note(model)
    assert act(server, session, run_op(again, name="Ada"))[-1]["type"] == "turn_completed"


@pytest.mark.parametrize(
    ("action", "name"),
    [("drop", "raises"), ("drop", "exits"), ("drop", "unsendable"), ("break", "Ada")],
)
def test_an_action_that_cannot_say_what_it_needs_is_skipped(
    server: RunningServer, model: ScriptedModelServer, action: str, name: str
) -> None:
    model.script(plan(step("Get rid of it", f"parcels/{action}", name=name), NOTE))
    model.set_default(Say("{}"))
    session = begin(server)
    proposal, _ = waiting(server, session)
    assert proposal["complete"] is False
    assert "The action failed before it could show its form." in proposal["description"]
    refused = server.post(
        f"services/parcels/actions/{action}/dry-run", {"parameters": {"name": name}}
    )
    assert refused["description"] == proposal["description"]
    script_note(model)
    seen = act(server, session, {"type": "plan_decision", "decision": "skip"})
    assert seen[-1]["type"] == "turn_completed"
    assert sources(server) == ["# Cars", "A note."]


@pytest.mark.parametrize("name", ["runs-exit", "runs-raise"])
def test_an_action_whose_run_is_at_fault_stops_the_plan(
    server: RunningServer, model: ScriptedModelServer, name: str
) -> None:
    model.script(plan(step("Get rid of it", "parcels/drop", name=name), NOTE))
    session = begin(server)
    proposal, _ = waiting(server, session)
    assert proposal["complete"] is True
    script_note(model)
    seen = act(server, session, run_op(proposal, name=name, token="tk-of-the-form"))
    assert seen[-1]["type"] == "turn_aborted"
    assert "internal error" in of_type(seen, "action_finished")[0]["error"]
    assert plan_states(seen)[-1] == "stopped"
    assert "tk-of-the-form" not in server.log.read_text(errors="replace")


def test_the_remaining_steps_are_edited_while_the_plan_waits(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan(STAMP, NOTE))
    session = begin(server)
    proposal, shown = waiting(server, session)
    submit(
        server,
        session,
        {
            "type": "plan_decision",
            "decision": "edit",
            "steps": [{"description": "Write a note"}, {"description": "Stamp the parcel Ada"}],
        },
    )
    script_note(model)
    again, moved = waiting(server, session, shown["seq"])
    # The action is the same step by its text, with the values that the plan had.
    assert [each["status"] for each in moved["steps"]] == ["completed", "in_progress"]
    assert again["proposalId"] == proposal["proposalId"]
    assert again["parameters"][0]["value"] == "Ada"
    assert act(server, session, run_op(again, name="Ada"))[-1]["type"] == "turn_completed"


def test_an_unknown_action_is_an_error_to_the_planner(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        plan(step("Stamp it", "parcels/stmp", name="Ada")),
        plan(step("Stamp it", "parcels/stamp", nam="Ada")),
    )
    reply_of = begin(server)
    seen = until(stream(server, reply_of), *END)
    first, second = model.requests
    assert "Parcels has no action 'stmp', but stamp, burn, drop, break." in json.dumps(second.body)
    assert of_type(seen, "action_proposed") == []
    # The planner is offered the actions by name, in its request for the plan alone.
    assert "parcels/stamp(name): Stamp a parcel" in json.dumps(first.body)
    assert seen[-1]["type"] == "turn_aborted"


@pytest.mark.parametrize("name", ["parcels/stamp", "stamp", "parcels/stamp(name)"])
def test_an_action_that_is_named_as_a_steps_tool_is_that_action(
    server: RunningServer, model: ScriptedModelServer, name: str
) -> None:
    model.script(plan({"description": "Stamp the parcel Ada", "toolCalls": [name]}, NOTE))
    model.script(Say(json.dumps({"name": {"value": "Ada", "source": "Ada"}})))
    proposal, shown = waiting(server, begin(server))
    assert [each.get("action") for each in shown["steps"]] == ["parcels/stamp", None]
    assert proposal["parameters"][0]["value"] == "Ada"
    assert runs(server) == []


@pytest.mark.parametrize("name", ["listFiles", "burn"], ids=["a tool", "two actions"])
def test_a_name_that_means_something_else_as_well_is_no_action(
    server: RunningServer, model: ScriptedModelServer, name: str
) -> None:
    named = plan({"description": "Burn the parcel and the letter", "toolCalls": [name]})
    if name == "burn":
        model.script(named)  # it is asked for a corrected one
    model.script(named, Say("Nothing was burnt or listed."))
    session = begin(
        server, "agent: burn the parcel red, then burn the letter blue and list letters"
    )
    seen = until(stream(server, session), *END)
    offered = model.requests[0].text
    assert all(f"{each}(" in offered for each in ("parcels/burn", "letters/burn"))
    (step,) = of_type(seen, "plan_updated")[0]["steps"]
    assert step.get("action") is None
    assert step["toolCalls"] == (["listFiles"] if name == "listFiles" else [])
    assert of_type(seen, "action_proposed") == []


def test_actions_beside_tools_are_corrected_and_then_left_out(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    mixed = {
        "description": "Write a note",
        "toolCalls": ["parcels/stamp", "addNotebookCell"],
        "dependencies": [0],
    }
    model.script(plan(mixed), plan(mixed))
    script_note(model)
    seen = until(stream(server, begin(server)), *END)
    assert seen[-1]["type"] == "turn_completed"
    asked = model.requests[1].text
    assert "'parcels/stamp' is an action, not a tool" in asked
    assert '"action": "parcels/stamp", alone in a step without toolCalls' in asked
    (step,) = of_type(seen, "plan_updated")[0]["steps"]
    assert (step["toolCalls"], step["dependencies"]) == (["addNotebookCell"], [])
    assert of_type(seen, "action_proposed") == []
    assert runs(server) == []


def test_a_destructive_wizard_says_what_it_destroys_and_asks_on(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan(step("Burn a parcel", "parcels/burn", name="red")))
    model.script(Say("{}"), Say("{}"))  # asked once a question, the model finds nothing more
    session = begin(server, "agent: burn the red parcel")
    proposal, _ = waiting(server, session)
    assert (proposal["destructive"], proposal["wizard"]) == (True, True)
    assert proposal["destroys"] == "The parcel red is burnt."
    assert proposal["complete"] is False
    asked = {each["name"]: each["found"] for each in proposal["parameters"]}
    assert asked == {"name": True, "sure": False}
    seen = act(server, session, run_op(proposal, name="red", sure=True))
    assert of_type(seen, "action_finished")[0]["output"] == "Burnt red."
    said = of_type(seen, "final_reply")[0]["text"]
    assert "- You ran: Burn a parcel\n- Verified: nothing to verify" in said
    assert "Changed" not in said


def test_where_nobody_can_run_it_no_action_is_offered_and_none_is_taken(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan(STAMP), plan(NOTE))
    script_note(model)
    reply = server.post("chat", task(TASK))
    assert reply["status"] == "completed"
    first, second, *_ = model.requests
    assert "parcels/stamp" not in json.dumps(first.body).replace(TASK, "")
    assert "Actions need a form" in json.dumps(second.body)
    assert runs(server) == []


def test_a_plan_of_a_page_that_is_continued_without_one_is_denied_at_its_action(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan(STAMP, NOTE))
    session = begin(server)
    waiting(server, session)
    act(server, session, {"type": "interrupt"})
    reply = server.post("chat", {**task("continue"), "sessionId": session})
    assert reply["status"] == "failed"
    assert "Actions need a form" in reply["reply"]
    assert runs(server) == []


def test_a_task_that_no_service_is_about_is_planned_as_before(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan(NOTE))
    script_note(model)
    session = begin(server, "agent: describe the columns of cars.csv and write a note")
    until(stream(server, session), *END)
    asked = json.dumps(model.requests[0].body)
    assert "action" not in asked.split("Do not act yet.")[1].split("]")[0]
    assert '"parameters": {"type": "object"}' not in asked.split('"requiredTools"')[-1]


def test_the_model_cannot_run_an_action_by_a_tool(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan(NOTE))
    model.script(Call("parcels/stamp", {"name": "Ada"}))
    model.set_default(Say("I tried."))
    session = begin(server, "agent: write a note")
    until(stream(server, session), *END)
    assert runs(server) == []
