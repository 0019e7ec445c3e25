"""What waits for the user keeps waiting when the server is killed or restarted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Calls, Say, ScriptedModelServer
from tests.support.page import FakePage
from tests.support.planning import add, of_type, plan_of, sources, submit, task, until

END = ("turn_completed", "turn_aborted")


@pytest.fixture
def model() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer() as model:
        yield model
    assert model.errors == []


@pytest.fixture
def server(tmp_path: Path, model: ScriptedModelServer) -> Iterator[RunningServer]:
    with RunningServer(tmp_path, api_base=model.base_url) as running:
        write_cars(running.root)
        yield running


def begin(server: RunningServer, request: dict[str, Any]) -> str:
    session = server.post("sessions", {})["id"]
    submit(server, session, {"type": "user_message", "request": request})
    return str(session)


def events(server: RunningServer, session: str) -> Iterator[dict[str, Any]]:
    return server.stream(f"sessions/{session}/events")


def end_and_start(server: RunningServer, how: str) -> None:
    if how == "kill -9":
        server.kill()
    else:
        server.stop()
    server.start()


@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_a_call_as_text_that_waits_is_not_carried_out_by_a_restart(
    server: RunningServer, model: ScriptedModelServer, decision: str
) -> None:
    """Its tool is one that asks nothing when it is called by a call."""
    written = {"name": "addNotebookCell", "arguments": {"content": "After.", "type": "markdown"}}
    model.script(Say(json.dumps(written)), Say("Well."))
    attached = [{"kind": "notebook", "path": "cars.ipynb"}]
    session = begin(server, task("Add it", mode="agent", attachments=attached))
    asked = until(events(server, session), "approval_requested")[-1]
    end_and_start(server, "kill -9")
    assert server.get(f"sessions/{session}/turns")["turns"][0]["status"] == "running"
    assert sources(server) == ["# Cars"]
    answer = {"type": "approval_decision", "approvalId": asked["approvalId"]}
    submit(server, session, {**answer, "decision": decision})
    seen = until(events(server, session), *END)
    assert len(of_type(seen, "approval_requested")) == 1
    assert sources(server) == ["# Cars", *(["After."] if decision == "approve" else [])]


@pytest.mark.parametrize("how", ["kill -9", "restart"])
def test_an_approval_is_decided_after_the_server_was_ended(
    server: RunningServer, model: ScriptedModelServer, how: str
) -> None:
    cells = [
        Call("addNotebookCell", {"type": "markdown", "content": "Before."}),
        Call("deleteNotebookCells", {"cellIds": ["heading"]}),
        Call("addNotebookCell", {"type": "markdown", "content": "After."}),
    ]
    model.script(Calls(cells), Say("Deleted."))
    attached = [{"kind": "notebook", "path": "cars.ipynb"}]
    session = begin(server, task("Delete it", mode="agent", attachments=attached))
    asked = until(events(server, session), "approval_requested")[-1]
    end_and_start(server, how)

    turn = server.get(f"sessions/{session}/turns", include="events")["turns"][0]
    assert turn["status"] == "running"
    assert sources(server) == ["# Cars", "Before."]
    decision = {"type": "approval_decision", "approvalId": asked["approvalId"]}
    submit(server, session, {**decision, "decision": "approve"})
    seen = until(events(server, session), *END)
    assert seen[-1]["type"] == "turn_completed"
    assert len(of_type(seen, "approval_requested")) == 1
    assert [e["decision"] for e in of_type(seen, "approval_resolved")] == ["approve"]
    assert [e["status"] for e in of_type(seen, "tool_call_output")] == ["ok", "ok", "ok"]
    assert sources(server) == ["Before.", "After."]
    assert len(model.requests) == 2
    numbers = [event["seq"] for event in seen]
    assert numbers == sorted(set(numbers))


def write_cell(server: RunningServer, source: str) -> None:
    cells = [nbformat.v4.new_code_cell(source, id="it")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), server.root / "cars.ipynb")


def test_an_approval_is_not_of_what_was_changed_while_the_server_was_down(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_cell(server, "!rm junk.txt")
    (server.root / "kept.txt").write_text("x", encoding="utf-8")
    model.script(Call("runNotebookCells", {"all": True}), Say("Ran."))
    attached = [{"kind": "notebook", "path": "cars.ipynb"}]
    session = begin(server, task("Run it", mode="agent", attachments=attached))
    asked = until(events(server, session), "approval_requested")[-1]
    server.kill()
    write_cell(server, "!rm kept.txt")
    server.start()
    seen = events(server, session)
    until(seen, "approval_resolved", approvalId=asked["approvalId"], decision="aborted")
    new = until(seen, "approval_requested")[-1]
    assert new["code"][0]["source"] == "!rm kept.txt"
    decision = {"type": "approval_decision", "approvalId": new["approvalId"], "decision": "deny"}
    submit(server, session, decision)
    until(seen, *END)
    assert (server.root / "kept.txt").exists()


def test_a_denial_after_the_restart_reaches_the_model_with_its_reason(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("deleteNotebookCells", {"cellIds": ["heading"]}), Say("Kept."))
    attached = [{"kind": "notebook", "path": "cars.ipynb"}]
    session = begin(server, task("Delete it", mode="agent", attachments=attached))
    asked = until(events(server, session), "approval_requested")[-1]
    server.kill()
    server.start()
    # Every page is notified of it, before anybody looks at the session.
    with FakePage(server) as page:
        while not (waiting := page.wait_for("sessions_waiting")["sessions"]):
            pass
    assert waiting == [{"sessionId": session, "title": "Delete it"}]
    decision = {"type": "approval_decision", "approvalId": asked["approvalId"]}
    submit(server, session, {**decision, "decision": "deny", "feedback": "It is the title."})
    assert until(events(server, session), *END)[-1]["type"] == "turn_completed"
    assert "It is the title." in model.requests[-1].text
    assert sources(server) == ["# Cars"]


def test_what_the_user_changed_meanwhile_is_not_overwritten(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("deleteNotebookCells", {"cellIds": ["heading"]}), Say("I left it."))
    attached = [{"kind": "notebook", "path": "cars.ipynb"}]
    session = begin(server, task("Delete it", mode="agent", attachments=attached))
    asked = until(events(server, session), "approval_requested")[-1]
    server.kill()
    path = server.root / "cars.ipynb"
    path.write_text(path.read_text().replace("# Cars", "# My cars"))
    server.start()
    decision = {"type": "approval_decision", "approvalId": asked["approvalId"]}
    submit(server, session, {**decision, "decision": "approve"})
    until(events(server, session), *END)
    assert sources(server) == ["# My cars"]


def test_a_question_is_answered_after_a_restart(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("askUser", {"question": "Which one?"}), Say("Thank you."))
    session = begin(server, task("Ask me", mode="ask"))
    asked = until(events(server, session), "user_input_requested")[-1]
    server.kill()
    server.start()
    answer = {"type": "user_input_answer", "requestId": asked["requestId"], "answer": "The blue"}
    submit(server, session, answer)
    assert until(events(server, session), *END)[-1]["type"] == "turn_completed"
    assert "The blue" in model.requests[-1].text


@pytest.mark.parametrize("how", ["kill -9", "restart"])
def test_a_plan_is_approved_after_the_server_was_ended(
    server: RunningServer, model: ScriptedModelServer, how: str
) -> None:
    model.script(plan_of("One", "Two"), add("'1'"), Say("One."), add("'2'"), Say("Two."))
    session = begin(server, task("agent: do it", planFirst=True))
    until(events(server, session), "plan_updated", state="proposed")
    end_and_start(server, how)
    submit(server, session, {"type": "plan_decision", "decision": "approve"})
    seen = until(events(server, session), *END)
    assert seen[-1]["type"] == "turn_completed"
    assert sources(server) == ["# Cars", "'1'", "'2'"]


def test_an_approval_in_the_middle_of_a_step_is_decided_after_a_restart(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    delete = Call("deleteNotebookCells", {"cellIds": ["heading"]})
    model.script(plan_of("One", "Two"), add("'1'"), Say("One."), delete, Say("Gone."))
    session = begin(server, task("agent: do it"))
    asked = until(events(server, session), "approval_requested")[-1]
    server.kill()
    server.start()
    decision = {"type": "approval_decision", "approvalId": asked["approvalId"]}
    submit(server, session, {**decision, "decision": "approve"})
    seen = until(events(server, session), *END)
    assert seen[-1]["type"] == "turn_completed"
    assert [e["index"] for e in of_type(seen, "step_started")] == [0, 1]
    assert sources(server) == ["'1'"]


def test_a_running_plan_whose_server_was_killed_is_taken_up_by_continue(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan_of("One", "Two"), add("'1'"), Say("One."), add("import time; time.sleep(60)"))
    session = begin(server, task("agent: do it"))
    until(events(server, session), "status", message="Running cell 3")
    server.kill()
    server.start()
    model.script(add("'2'"), Say("Two."))
    reply = server.post("chat", task("continue", sessionId=session))
    assert reply["status"] == "completed", reply
    assert "2 of 2 steps done" in reply["reply"]
