"""A plan whose steps say what they need: one that failed holds up those that need it alone."""

from __future__ import annotations

import json

import pytest

from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.planning import add, of_type, plan_states, sources, submit, task, until

END = ("turn_completed", "turn_aborted")


@pytest.fixture(autouse=True)
def cars(server: RunningServer) -> None:
    write_cars(server.root)


def plan_with(**needs: list[int]) -> Say:
    """A plan with these steps and what each needs, as the model answers it."""
    steps = [
        {"description": name, "toolCalls": ["addNotebookCell"], "dependencies": each}
        for name, each in needs.items()
    ]
    return Say(json.dumps({"steps": steps, "requiredTools": ["addNotebookCell"]}), chunk=64)


def test_what_does_not_need_a_failed_step_is_done_and_what_needs_it_is_not_begun(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        plan_with(Load=[], Count=[0], Describe=[], Report=[1, 2]),
        add("1 / 0"),
        Say("It fails."),
        Say("It fails still."),
        add("'described'"),
        Say("Described."),
    )
    reply = server.request("POST", "chat", json=task("agent: do it", approval="never")).json()
    assert reply["status"] == "failed", reply
    session = reply["sessionId"]
    events = server.get(f"sessions/{session}/turns", include="events")["turns"][0]["events"]
    assert [e["description"] for e in of_type(events, "step_started")] == ["Load", "Describe"]
    assert [e["success"] for e in of_type(events, "step_finished")] == [False, True]
    last = of_type(events, "plan_updated")[-1]
    assert last["state"] == "stopped"
    assert [(each["status"], each["dependencies"]) for each in last["steps"]] == [
        ("failed", []),
        ("pending", [0]),
        ("completed", []),
        ("pending", [1, 2]),
    ]
    assert "Step 1 failed and is left so; this step does not need it." in model.requests[-2].text
    assert sources(server)[-1] == "'described'"
    said = reply["reply"]
    assert "Stopped at step 1 of 4" in said
    assert "Step 3 is kept." in said
    assert "Steps 2 and 4 were not started, since they need what failed." in said

    # Taken up, the failed step is done again, and then all that waited for it.
    script = [add("'loaded'"), Say("1"), add("'counted'"), Say("2"), add("'concluded'"), Say("4")]
    model.script(*script)
    again = server.post("chat", task("continue", sessionId=session))
    assert again["status"] == "completed", again
    assert "3. Describe (done)" in model.requests[0].text + model.requests[-1].text
    assert sources(server)[-4:] == ["'described'", "'loaded'", "'counted'", "'concluded'"]
    assert "4 of 4 steps done" in again["reply"]


def test_a_plan_in_which_no_step_needs_another_stops_at_the_first_that_fails(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan_with(Load=[], Count=[]), add("1 / 0"), Say("No."), Say("No."))
    reply = server.request("POST", "chat", json=task("agent: do it", approval="never")).json()
    assert "Stopped at step 1 of 2" in reply["reply"]
    assert "not started" not in reply["reply"]


def test_an_edited_plan_keeps_what_its_steps_need_and_names_the_tools_that_are_left(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan_with(Load=[], Count=[0], Describe=[]), add("1"), Say("1"), add("2"), Say("2"))
    session = server.post("sessions", {})["id"]
    events = server.stream(f"sessions/{session}/events?after=0")
    request = task("agent: do it", planFirst=True)
    submit(server, session, {"type": "user_message", "request": request})
    until(events, "plan_updated", state="proposed")
    # As the page sends them: it says nothing of what they need.
    steps = [{"description": each, "toolCalls": []} for each in ("Describe", "Load", "Count")]
    decision = {"type": "plan_decision", "decision": "edit", "steps": steps}
    model.script(add("1"), Say("1"), add("2"), Say("2"), add("3"), Say("3"))
    submit(server, session, decision)
    running = until(events, "plan_updated", state="running")[-1]
    assert [each["dependencies"] for each in running["steps"]] == [[], [], [1]]
    assert running["requiredTools"] == []
    assert plan_states(until(events, *END))[-1] == "completed"


def test_a_step_that_failed_before_the_server_went_is_not_forgotten_after_it(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    delete = Call("deleteNotebookCells", {"cellIds": ["heading"]})
    model.script(
        plan_with(Load=[], Count=[0], Remove=[]), add("1 / 0"), Say("No."), Say("No."), delete
    )
    session = server.post("sessions", {})["id"]
    events = server.stream(f"sessions/{session}/events?after=0")
    submit(server, session, {"type": "user_message", "request": task("agent: do it")})
    asked = until(events, "approval_requested")[-1]
    server.kill()
    server.start()
    model.script(Say("Removed."))
    approve = {"type": "approval_decision", "approvalId": asked["approvalId"]}
    submit(server, session, {**approve, "decision": "approve"})
    events = server.stream(f"sessions/{session}/events?after={asked['seq']}")
    seen = until(events, *END)
    assert plan_states(seen)[-1] == "stopped"
    said = of_type(seen, "final_reply")[-1]["text"]
    assert "Stopped at step 1 of 3" in said
    assert "Step 3 is kept." in said
    assert "Step 2 was not started, since it needs what failed." in said
