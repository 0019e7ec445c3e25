"""An answer that claims more than was done has a notice above it, over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.cars import write_cars
from tests.support.jupyter import RunningServer
from tests.support.model_request import RecordedRequest
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.planning import add, of_type, plan_of, task

CARS = [{"kind": "notebook", "path": "cars.ipynb"}]
CLAIM = Say("The chart is in the new cell below.")
NO_TYPE = Call("addNotebookCell", {"type": "chart", "content": "plot()", "run": True})


@pytest.fixture(autouse=True)
def cars(server: RunningServer) -> None:
    write_cars(server.root)


def ask(server: RunningServer, message: str = "Draw a chart", **more: Any) -> dict[str, Any]:
    reply = server.post("chat", task(message, **{"mode": "agent", "attachments": CARS, **more}))
    assert reply["status"] == "completed", reply
    return dict(reply)


def export(server: RunningServer, session: str, kind: str) -> Any:
    return server.request("GET", f"sessions/{session}/export", params={"format": kind})


def test_it_is_in_the_reply_the_event_the_turn_and_the_exports(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(NO_TYPE, NO_TYPE, Call("addNotebookCell", {"content": "plot()", "type": 1}), CLAIM)
    reply = ask(server)
    found = reply["notDone"]
    assert found["kind"] == "nothing_done"
    said = found["message"]
    assert said.startswith("Nothing was changed in this turn. The last change failed: ")
    assert found["callId"] == reply["toolCalls"][-1]["callId"]
    assert reply["reply"] == "The chart is in the new cell below."
    session = reply["sessionId"]
    [turn] = server.get(f"sessions/{session}/turns", include="events")["turns"]
    assert turn["notDone"] == found
    [final] = of_type(turn["events"], "final_reply")
    assert final["notDone"] == found
    written = export(server, session, "md").text
    assert written.index(said[:60]) < written.index(reply["reply"])
    notebook = export(server, session, "ipynb").json()
    [answer] = [
        "".join(cell["source"])
        for cell in notebook["cells"]
        if cell["metadata"].get("datalayer_agent", {}).get("role") == "assistant"
    ]
    assert answer.index(said[:60]) < answer.index(reply["reply"])
    data = export(server, session, "json").json()
    assert data["turns"][0]["notDone"] == found
    fork = server.post(f"sessions/{session}/fork", {})["id"]
    assert server.get(f"sessions/{fork}/turns")["turns"][0]["notDone"] == found


def test_what_was_fixed_in_the_turn_gives_no_line(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    def repair(request: RecordedRequest) -> Call:
        result = [json.loads(output) for output in request.tool_outputs.values()][-1]
        cell = result["output"]["cellId"]
        return Call("updateNotebookCell", {"cellId": cell, "content": "2 / 1", "run": True})

    model.script(NO_TYPE, add("2 / 0"), repair, CLAIM)
    reply = ask(server)
    assert [call["status"] for call in reply["toolCalls"]] == ["error", "error", "ok"]
    assert reply.get("notDone") is None
    model.script(Call("getCellOutputs", {"cellId": "nowhere"}), Say("There is no such cell."))
    assert ask(server, "What does it show?").get("notDone") is None
    model.script(Say("Four."))
    assert ask(server, "What is 2 + 2?").get("notDone") is None


def test_a_cell_that_fails_in_the_end_is_reported(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(add("2 / 0"), add("'next'"), Say("Both cells ran."))
    found = ask(server)["notDone"]
    assert found["kind"] == "run_failed"
    assert found["message"].startswith("A run failed and was not fixed: Cell ")
    assert "ZeroDivisionError" in found["message"]


def test_what_stood_there_already_is_no_change(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    def again(request: RecordedRequest) -> Call:
        [result] = map(json.loads, request.tool_outputs.values())
        cell = result["cells"][-1]
        same = {"cellId": cell["id"], "content": cell["content"]}
        return Call("updateNotebookCell", same)

    def last_to_the_end(request: RecordedRequest) -> Call:
        result = [json.loads(output) for output in request.tool_outputs.values()][-1]
        assert result["unchanged"] is True
        return Call("moveNotebookCell", {"cellId": result["cellId"], "position": "end"})

    model.script(Call("getNotebookCells", {}), again, last_to_the_end, Say("I have fixed it."))
    reply = ask(server, "Fix the last cell")
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "ok", "ok"]
    assert reply["changes"] == []
    assert (
        reply["notDone"]["message"]
        == "Nothing was changed in this turn: everything was already in place."
    )
    [turn] = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
    lines = [each["summary"] for each in of_type(turn["events"], "tool_call_output")]
    assert [line.split(" ", 2)[2] for line in lines[1:]] == [
        "is already as requested; nothing was changed"
    ] * 2


@pytest.mark.parametrize("text", ["The chart is in the new cell below.", "Vier.", "完成。"])
def test_a_turn_without_a_call_ends_with_that_fact_in_agent_mode_alone(
    server: RunningServer, model: ScriptedModelServer, text: str
) -> None:
    model.script(Say(text), Say(text))
    reply = ask(server)
    assert reply.get("notDone") is None
    assert reply["facts"]["message"] == "Nothing was changed or run in this turn."
    [turn] = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
    [final] = of_type(turn["events"], "final_reply")
    assert final["facts"] == reply["facts"]
    assert ask(server, mode="ask").get("facts") is None


def test_of_a_plan_its_verified_steps_are_the_word(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(plan_of("One"), NO_TYPE, add("1"), Say("Done."))
    reply = ask(server, "agent: do it")
    assert "1 of 1 step done" in reply["reply"]
    assert reply.get("notDone") is None
