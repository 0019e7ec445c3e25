"""Planned workflows over HTTP: plan, decide, carry out, recover, stop, resume."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cars import LOAD, write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_request import RecordedRequest
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer, Status
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


def events_of(server: RunningServer, session: str, after: int = 0) -> Iterator[Event]:
    return server.stream(f"sessions/{session}/events?after={after}")


def begin(server: RunningServer, message: str, **more: Any) -> tuple[str, Iterator[Event]]:
    """Send a message as a page does; its session and the events from the start."""
    session = server.post("sessions", {})["id"]
    events = events_of(server, session)
    submit(server, session, {"type": "user_message", "request": task(message, **more)})
    return session, events


def test_a_plan_is_shown_before_anything_is_done_and_carried_out_step_by_step(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        plan_of("Load the cars", "Count them"),
        add(LOAD),
        Say("Loaded."),
        add("print(len(cars))"),
        Say("There are 406 cars."),
    )
    reply = server.post("chat", task("agent: count the cars", mode="ask"))
    turn = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"][0]
    events = turn["events"]
    assert reply["status"] == "completed", reply
    assert reply["mode"] == "agent"
    order = [event["type"] for event in events]
    assert order.index("plan_updated") < order.index("tool_call_started")
    first = of_type(events, "plan_updated")[0]
    assert [step["description"] for step in first["steps"]] == ["Load the cars", "Count them"]
    assert first["requiredTools"] == ["addNotebookCell"]
    assert first["requiredToolLabels"] == {"addNotebookCell": "Add a cell"}
    assert plan_states(events) == ["running", "completed"]
    calls = of_type(events, "tool_call_started")
    assert [(e["label"]["activity"], e["reads"]) for e in calls] == [("Adding a cell", False)] * 2
    changed = of_type(events, "document_changed")
    assert [e["callId"] for e in changed] == [e["callId"] for e in calls]
    assert [(e["index"], e["total"]) for e in of_type(events, "step_started")] == [(0, 2), (1, 2)]
    assert [e["success"] for e in of_type(events, "step_finished")] == [True, True]
    assert sources(server) == ["# Cars", LOAD, "print(len(cars))"]
    assert "There are 406 cars." in reply["reply"]
    assert "2 of 2 steps done" in reply["reply"]
    assert "2 cells added" in reply["reply"]
    assert f"{reply['usage']['totalTokens']:,} tokens" in reply["reply"]
    # The JSON of the plan is for the server, not for the user.
    assert "toolCalls" not in "".join(e["delta"] for e in of_type(events, "text_delta"))


def test_the_plan_is_requested_by_schema_and_all_steps_share_one_conversation(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan_of("One", "Two"), add("1"), Say("a"), add("2"), Say("b"))
    server.post("chat", task("agent: do it"))
    asked = model.requests[0].body
    schema = (asked.get("response_format") or asked["text"]["format"])["json_schema"]["schema"]
    assert set(schema["required"]) == {"steps", "requiredTools"}
    for before, after in zip(model.requests, model.requests[1:], strict=False):
        assert after.body["tools"] == before.body["tools"]
        kept = before.body["messages"]
        assert after.body["messages"][: len(kept)] == kept


def test_an_invalid_plan_is_requested_once_more_with_what_was_wrong(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan_of("Fly", tool="fly"), plan_of("Walk"), add("1"), Say("Walked."))
    reply = server.post("chat", task("agent: go"))
    assert reply["status"] == "completed"
    assert "the tool 'fly' does not exist" in model.requests[1].text
    assert len(model.requests) == 4


def test_a_corrected_plan_that_still_names_unknown_tools_is_carried_out_by_its_text(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan_of("Fly", tool="fly"), plan_of("Walk", tool="data/walk"))
    model.script(add("1"), Say("Walked."))
    _, events = begin(server, "agent: go")
    seen = until(events, *END)
    assert seen[-1]["type"] == "turn_completed"
    assert [each["toolCalls"] for each in of_type(seen, "plan_updated")[0]["steps"]] == [[]]
    assert sources(server) == ["# Cars", "1"]


@pytest.mark.parametrize(
    "bad", ["no plan at all", '{"steps": []}', '{"steps": [{"description": "x"}]}', "{broken"]
)
def test_what_is_wrong_with_a_plan_is_reported(
    server: RunningServer, model: ScriptedModelServer, bad: str
) -> None:
    model.script(Say(bad), plan_of("Walk"), add("1"), Say("Walked."))
    assert server.post("chat", task("agent: go"))["status"] == "completed"
    assert "cannot be carried out" in model.requests[1].text


def test_a_server_that_takes_no_schema_is_asked_by_prompt_only(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    refused = Status(400, body={"error": {"message": "response_format is not supported"}})
    model.script(refused, plan_of("Walk"), add("1"), Say("Walked."))
    assert server.post("chat", task("agent: go"))["status"] == "completed"
    assert "response_format" not in model.requests[1].body


def test_with_plan_first_it_waits_and_only_the_edited_steps_run(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        plan_of("Load", "Plot", "Conclude"),
        add("'c'"),
        Say("Three."),
        add("'a'"),
        Say("New."),
    )
    session, events = begin(server, "do it", mode="agent", planFirst=True, attachments=CARS)
    seen = until(events, "plan_updated", state="proposed")
    assert sources(server) == ["# Cars"]
    steps = [{"description": "Conclude"}, {"description": "Add an a"}]
    submit(server, session, {"type": "plan_decision", "decision": "edit", "steps": steps})
    seen = until(events, *END)
    assert [e["description"] for e in of_type(seen, "step_started")] == ["Conclude", "Add an a"]
    assert sources(server) == ["# Cars", "'c'", "'a'"]
    assert "The user changed the plan" in model.requests[1].text


CARS = [{"kind": "notebook", "path": "cars.ipynb"}]


def test_a_plan_can_be_rejected(server: RunningServer, model: ScriptedModelServer) -> None:
    model.script(plan_of("Load"))
    session, events = begin(server, "agent: do it", planFirst=True)
    until(events, "plan_updated", state="proposed")
    submit(server, session, {"type": "plan_decision", "decision": "reject"})
    seen = until(events, *END)
    assert plan_states(seen) == ["rejected"]
    assert seen[-1]["type"] == "turn_aborted"
    assert sources(server) == ["# Cars"]


def test_an_edit_that_cannot_be_carried_out_is_refused_and_the_plan_waits_on(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan_of("Load"), add("1"), Say("Done."))
    session, events = begin(server, "agent: do it", planFirst=True)
    until(events, "plan_updated", state="proposed")
    bad = [{"description": "Fly", "toolCalls": ["fly"]}]
    submit(server, session, {"type": "plan_decision", "decision": "edit", "steps": bad})
    refused = until(events, "error")[-1]
    assert "fly" in refused["message"]
    submit(server, session, {"type": "plan_decision", "decision": "approve"})
    assert until(events, *END)[-1]["type"] == "turn_completed"


def test_where_nobody_can_approve_the_plan_is_not_carried_out(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan_of("Load"))
    reply = server.request("POST", "chat", json=task("agent: do it", planFirst=True)).json()
    assert reply["status"] == "failed"
    assert "1. Load" in reply["reply"]
    assert sources(server) == ["# Cars"]


def test_a_running_plan_is_paused_edited_and_taken_up(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    release = "import time, pathlib\nwhile not pathlib.Path('go').exists(): time.sleep(0.05)"
    model.script(
        plan_of("Wait", "Second", "Third"), add(release), Say("Waited."), add("3"), Say("3")
    )
    (server.root / "go").unlink(missing_ok=True)
    session, events = begin(server, "agent: do it")
    until(events, "tool_call_arguments")
    submit(server, session, {"type": "pause"})
    (server.root / "go").touch()
    paused = until(events, "plan_updated", state="paused")[-1]
    assert [step["status"] for step in paused["steps"]] == ["completed", "pending", "pending"]
    steps = [{"description": "Third"}]
    submit(server, session, {"type": "plan_decision", "decision": "edit", "steps": steps})
    seen = until(events, *END)
    assert [e["description"] for e in of_type(seen, "step_started")] == ["Third"]
    assert sources(server)[-1] == "3"
    assert len(sources(server)) == 3


def test_a_step_that_fails_is_repaired_by_the_model_and_the_plan_continues(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    def repair(request: RecordedRequest) -> Call:
        assert "This step failed" in request.text
        result = [json.loads(output) for output in request.tool_outputs.values()][-1]
        cell = result["output"]["cellId"]
        return Call("updateNotebookCell", {"cellId": cell, "content": "2 / 1", "run": True})

    model.script(plan_of("One", "Two"), add("1"), Say("1"), add("2 / 0"), repair, Say("Repaired."))
    reply = server.post("chat", task("agent: do it"))
    turn = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"][0]
    assert reply["status"] == "completed", reply
    started = of_type(turn["events"], "recovery_started")
    assert [(e["index"], e["attempt"]) for e in started] == [(1, 1)]
    assert "ZeroDivisionError" in started[0]["error"]
    assert [e["success"] for e in of_type(turn["events"], "recovery_finished")] == [True]
    assert sources(server) == ["# Cars", "1", "2 / 1"]


def test_after_two_attempts_it_stops_and_continues_after_the_users_own_fix(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    def worse(request: RecordedRequest) -> Call:
        result = [json.loads(output) for output in request.tool_outputs.values()][-1]
        cell = result["output"]["cellId"]
        return Call("updateNotebookCell", {"cellId": cell, "content": "3 / 0", "run": True})

    model.script(plan_of("One", "Two", "Three"), add("1"), Say("1"), add("2 / 0"), worse, worse)
    reply = server.request("POST", "chat", json=task("agent: do it", approval="never")).json()
    session = reply["sessionId"]
    turn = server.get(f"sessions/{session}/turns", include="events")["turns"][0]
    assert reply["status"] == "failed"
    assert "Stopped at step 2 of 3" in reply["reply"]
    assert "ZeroDivisionError" in reply["reply"]
    assert [e["success"] for e in of_type(turn["events"], "recovery_finished")] == [False, False]
    assert plan_states(turn["events"])[-1] == "stopped"
    assert sources(server) == ["# Cars", "1", "3 / 0"]

    cells = server.post("tools/getNotebookCells", {"arguments": {"path": "cars.ipynb"}})
    broken = cells["output"]["cells"][-1]["id"]
    update = {"path": "cars.ipynb", "cellId": broken, "content": "3 / 1"}
    assert server.post("tools/updateNotebookCell", {"arguments": update})["ok"]
    run = Call("runNotebookCells", {"cellIds": [broken]})
    model.script(run, Say("It runs now."), add("'three'"), Say("Done."))
    again = server.post("chat", task("Continue.", sessionId=session))
    assert again["status"] == "completed", again
    assert "taken up again at step 2" in model.requests[-4].text
    assert "3 of 3 steps done" in again["reply"]
    assert sources(server) == ["# Cars", "1", "3 / 1", "'three'"]


def test_a_cell_of_an_earlier_attempt_that_still_fails_is_named_at_the_end(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan_of("One", "Two"), add("1 / 0"), Say("No."), Say("No."))
    reply = server.request("POST", "chat", json=task("agent: do it", approval="never")).json()
    assert "Stopped at step 1 of 2" in reply["reply"], reply
    failed = sources(server).index("1 / 0") + 1
    model.script(add("1 / 1"), Say("Done."), add("'two'"), Say("Done."))
    again = server.post("chat", task("continue", sessionId=reply["sessionId"]))
    assert again["status"] == "completed", again
    assert "2 of 2 steps done" in again["reply"]
    said = f"- Cell {failed} of an earlier attempt still shows ZeroDivisionError."
    assert said in again["reply"].splitlines()


def test_resume_as_an_op_continues_with_the_step_that_was_interrupted(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    wait = "import time\ntime.sleep(60)"
    model.script(plan_of("One", "Two"), add("1"), Say("1"), add(wait))
    session, events = begin(server, "agent: do it")
    until(events, "step_started", index=1)
    until(events, "status", message="Running cell 3")
    submit(server, session, {"type": "interrupt"})
    seen = until(events, *END)
    assert plan_states(seen)[-1] == "stopped"
    model.script(add("'two'"), Say("Done."))
    submit(server, session, {"type": "resume"})
    seen = until(events, *END)
    assert [e["index"] for e in of_type(seen, "step_started")] == [1]
    assert seen[-1]["type"] == "turn_completed"


def meanwhile(server: RunningServer, tool: str, source: str, **arguments: Any) -> Say:
    """Somebody else changes the cell with this source while the model says that it is done."""
    cells = server.post("tools/getNotebookCells", {"arguments": {"path": "cars.ipynb"}})
    [cell] = [each["id"] for each in cells["output"]["cells"] if each["content"] == source]
    given = {"path": "cars.ipynb", **arguments}
    given |= {"cellIds": [cell]} if tool == "deleteNotebookCells" else {"cellId": cell}
    assert server.post(f"tools/{tool}", {"arguments": given})["ok"]
    return Say("Done.")


def test_a_step_is_not_done_when_one_of_its_cells_is_gone(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    cells = [add("'one'"), add("'two'")]

    def gone(_: RecordedRequest) -> Say:
        return meanwhile(server, "deleteNotebookCells", "'one'")

    model.script(plan_of("Write two cells"), Calls(cells), gone, add("'one'"), Say("Again."))
    reply = server.post("chat", task("agent: do it"))
    assert reply["status"] == "completed", reply
    assert "The cell “'one'” that this step wrote is not in cars.ipynb." in model.requests[3].text
    assert sources(server)[-2:] == ["'two'", "'one'"]


def test_a_cell_that_is_gone_is_not_made_good_by_words(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    def gone(_: RecordedRequest) -> Say:
        return meanwhile(server, "deleteNotebookCells", "'gone'")

    cells = Calls([add("'gone'"), add("'stays'")])
    model.script(plan_of("Write two cells"), cells, gone, Say("It is there."), Say("Really."))
    reply = server.request("POST", "chat", json=task("agent: do it")).json()
    assert "Stopped at step 1 of 1" in reply["reply"], reply


def test_a_cell_that_was_changed_since_is_reported_and_kept(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    def theirs(_: RecordedRequest) -> Say:
        return meanwhile(server, "updateNotebookCell", "'mine'", content="'theirs'")

    model.script(plan_of("Write a cell"), add("'mine'"), theirs)
    reply = server.post("chat", task("agent: do it"))
    assert reply["status"] == "completed", reply
    assert "1 cell read back, 1 cell changed since by someone else and kept" in reply["reply"]
    assert sources(server)[-1] == "'theirs'"


def test_a_step_is_not_done_when_the_model_only_says_so(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    wrong = Calls([Call("updateNotebookCell", {"cellId": "nowhere", "content": "1"})])
    model.script(plan_of("Change a cell"), wrong, Say("Done."), Say("Done, really."), Say("Yes."))
    reply = server.request("POST", "chat", json=task("agent: do it")).json()
    assert reply["status"] == "failed"
    assert "Stopped at step 1 of 1" in reply["reply"]


def test_where_the_model_gives_no_plan_the_workflow_that_was_requested_is_carried_out(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("I would rather not."), Say("Still no plan."))
    message = "agent: Data analysis notebook: cars.csv, without_plan.ipynb"
    reply = server.post("chat", {"message": message})
    assert reply["status"] == "completed", reply
    turn = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"][0]
    (result,) = of_type(turn["events"], "warning")
    assert result["code"] == "template_instead"
    assert "made no plan" in result["message"]
    assert (server.root / "without_plan.ipynb").exists()


def test_where_the_model_gives_no_plan_what_is_close_is_offered(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("I would rather not."), Say("Still no plan."))
    answer = server.request("POST", "chat", json=task("agent: explore cars.csv"))
    assert answer.status_code == 502
    assert answer.json()["offers"][0]["id"] == "exploratory-data-analysis"
    assert answer.json()["toolCalls"] == []


@pytest.mark.parametrize(
    ("status", "tries", "said"),
    [(401, 1, "refused the key"), (429, 6, "rate limiting"), (503, 6, "failed")],
)
def test_a_model_that_refuses_or_is_down_is_reported_and_no_workflow_replaces_it(
    server: RunningServer, model: ScriptedModelServer, status: int, tries: int, said: str
) -> None:
    model.script(*[Status(status, headers={"Retry-After": "0"})] * tries)
    message = "agent: a data analysis notebook, model_down.ipynb, of cars.csv"
    answer = server.request("POST", "chat", json={"message": message})
    assert answer.status_code == 502
    reply = answer.json()
    assert said in reply["error"]["message"]
    assert reply["offers"] == []
    assert not (server.root / "model_down.ipynb").exists()
    turn = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"][0]
    assert of_type(turn["events"], "workflows_offered", "warning", "plan_updated") == []
    [error] = of_type(turn["events"], "error")
    assert error["retryable"]
    assert len(model.requests) == tries
