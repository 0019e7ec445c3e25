"""A model that answers the request for a plan with tool calls: ``updatePlan`` gives its steps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.cars import LOAD, write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_server import Answer, Call, Calls, Say, ScriptedModelServer
from tests.support.planning import (
    Event,
    add,
    of_type,
    plan_of,
    plan_states,
    sources,
    submit,
    task,
    until,
)

END = ("turn_completed", "turn_aborted")


@pytest.fixture(autouse=True)
def cars(server: RunningServer) -> None:
    write_cars(server.root)


def update_plan(*steps: str, status: str = "pending", name: str = "updatePlan") -> Call:
    described = [{"description": step, "status": status} for step in steps]
    return Call(name, {"steps": described})


def events_of(server: RunningServer, reply: dict[str, Any]) -> list[Event]:
    turns = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
    events: list[Event] = turns[-1]["events"]
    return events


def descriptions(event: Event) -> list[str]:
    return [step["description"] for step in event["steps"]]


def open_calls(events: list[Event]) -> set[str]:
    """The calls that the page shows as running after these events."""
    begun = {event["callId"] for event in of_type(events, "tool_call_started")}
    return begun - {event["callId"] for event in of_type(events, "tool_call_output")}


@pytest.mark.parametrize("name", ["updatePlan", "datalayer_update_plan"])
def test_the_steps_of_the_tool_are_proposed_and_carried_out_once_approved(
    server: RunningServer, model: ScriptedModelServer, name: str
) -> None:
    model.script(
        update_plan("Load the cars", "Count them", status="in_progress", name=name),
        add(LOAD),
        Say("Loaded."),
        add("print(len(cars))"),
        Say("406."),
    )
    session = server.post("sessions", {})["id"]
    events = server.stream(f"sessions/{session}/events?after=0")
    request = task("agent: plot the distributions of the cars", planFirst=True)
    submit(server, session, {"type": "user_message", "request": request})
    seen = until(events, "plan_updated", state="proposed")
    assert descriptions(seen[-1]) == ["Load the cars", "Count them"]
    assert {step["status"] for step in seen[-1]["steps"]} == {"pending"}
    assert seen[-1].get("workflow") is None
    assert open_calls(seen) == set()
    assert len(model.requests) == 1
    assert sources(server) == ["# Cars"]
    submit(server, session, {"type": "plan_decision", "decision": "approve"})
    seen = until(events, *END)
    assert seen[-1]["type"] == "turn_completed"
    assert [e["description"] for e in of_type(seen, "step_started")] == [
        "Load the cars",
        "Count them",
    ]
    assert sources(server) == ["# Cars", LOAD, "print(len(cars))"]


def test_a_plan_in_the_text_names_its_tools_and_goes_before_the_tools_steps(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    written = plan_of("From the text")
    model.script(Answer([written, update_plan("From the tool")]), add("1"), Say("Done."))
    events = events_of(server, server.post("chat", task("agent: do it")))
    assert descriptions(of_type(events, "plan_updated")[0]) == ["From the text"]
    assert open_calls(events) == set()


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (Call("updatePlan", {"steps": []}), "steps: List should have at least 1 item"),
        (update_plan("  "), "Step 1 is empty"),
        (update_plan(*map(str, range(31))), "at most 30 steps"),
        (Call("getNotebookCells", {}), "First the plan"),
        (add("'too early'"), "First the plan"),
    ],
)
def test_a_call_that_gives_no_plan_ends_and_the_model_is_asked_once_more(
    server: RunningServer, model: ScriptedModelServer, bad: Call, said: str
) -> None:
    model.script(bad, update_plan("Walk"), add("'walked'"), Say("Walked."))
    reply = server.post("chat", task("agent: go"))
    assert reply["status"] == "completed", reply
    assert said in model.requests[1].text
    assert "cannot be carried out" in model.requests[1].text
    events = events_of(server, reply)
    assert open_calls(events) == set()
    assert descriptions(of_type(events, "plan_updated")[0]) == ["Walk"]
    assert sources(server) == ["# Cars", "'walked'"]


def test_of_two_calls_the_later_one_gives_the_plan(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Calls([update_plan("First"), update_plan("Second")]), add("1"), Say("Done."))
    events = events_of(server, server.post("chat", task("agent: do it")))
    assert descriptions(of_type(events, "plan_updated")[0]) == ["Second"]
    assert open_calls(events) == set()


def test_the_plan_that_is_carried_out_is_kept_current_by_the_server_alone(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        plan_of("One", "Two"),
        Calls([add("1"), update_plan("Another", "list", "of steps", status="completed")]),
        Say("1"),
        add("2"),
        Say("2"),
    )
    reply = server.post("chat", task("agent: do it"))
    events = events_of(server, reply)
    assert {tuple(descriptions(each)) for each in of_type(events, "plan_updated")} == {
        ("One", "Two")
    }
    assert plan_states(events) == ["running", "completed"]
    [output] = [e for e in of_type(events, "tool_call_output") if e["name"] == "updatePlan"]
    assert output["status"] == "ok"
    assert output["summary"] == "Plan: 0 of 2 steps done"
    assert json.loads(output["output"])["steps"] == 2
