"""Turns and planned workflows on a Lexical document: blocks are run, repaired, verified and undone
as cells are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.lexical.block_types import new_blocks
from jupyter_datalayer_agent.notebook.lexical.convert import new_document
from jupyter_datalayer_agent.notebook.lexical.nodes import source_of
from tests.agent.changes.test_undo_over_http import undo
from tests.agent.plan.test_planned_recovery import FAILING
from tests.support.cars import LOAD, write_cars
from tests.support.jupyter import RunningServer
from tests.support.lexical import assert_lexical
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.planning import of_type, plan_of, plan_states

NAME = "report.dlex"


@pytest.fixture
def document(server: RunningServer) -> Iterator[Path]:
    """An indented document with a heading and the block that loads the cars."""
    write_cars(server.root)
    file = server.root / NAME
    nodes = [*new_blocks("markdown", "# Cars"), *new_blocks("jupyter-input", LOAD)]
    file.write_text(json.dumps(json.loads(new_document(nodes)), indent=1) + "\n")
    yield file
    for each in server.get("/api/sessions"):
        server.request("DELETE", f"/api/sessions/{each['id']}")


def code(file: Path) -> list[str]:
    blocks = json.loads(file.read_text())["root"]["children"]
    return [source_of(each) for each in blocks if each["type"] == "jupyter-input"]


def block(source: str) -> Call:
    return Call("insertBlock", {"type": "jupyter-input", "content": source, "run": True})


def chat(server: RunningServer, message: str, **more: Any) -> tuple[Any, list[dict[str, Any]]]:
    """The reply to a message about the document, and the events of its turn."""
    body = {"message": message, "activeNotebook": NAME, "location": "panel", "approval": "never"}
    reply = server.post("chat", body | more)
    turns = server.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
    return reply, turns[-1]["events"]


ATTACHED: dict[str, Any] = {"mode": "agent", "attachments": [{"kind": "file", "path": NAME}]}


def test_ten_blocks_run_one_fails_and_is_repaired_and_the_rest_follows(
    server: RunningServer, model: ScriptedModelServer, document: Path
) -> None:
    sources = [f"x{number} = {number}\nx{number}" for number in range(10)]
    sources[6] = "x6 = x5 / 0\nx6"
    nodes = [node for each in sources for node in new_blocks("jupyter-input", each)]
    document.write_text(json.dumps(json.loads(new_document(nodes)), indent="\t"))
    before = document.read_bytes()
    failed: dict[str, Any] = {}

    def repair(request: Any) -> Call:
        output = json.loads(request.body["messages"][-1]["content"])
        failed.update(output)
        bad = next(run for run in output["output"]["runs"] if run["status"] == "error")
        return Call("updateBlock", {"blockId": bad["id"], "content": "x6 = x5 + 1\nx6"})

    model.script(Call("runAllBlocks", {}), repair, Call("runAllBlocks", {}), Say("All ten ran."))
    reply, events = chat(server, "Run it", **ATTACHED)
    assert reply["status"] == "completed", reply
    assert [each["status"] for each in reply["toolCalls"]] == ["error", "ok", "ok"]
    # What the model was sent of the failure: which block, why, and what to do about it.
    statuses = [run["status"] for run in failed["output"]["runs"]]
    assert statuses == ["ok"] * 6 + ["error"]
    [skipped] = failed["output"]["skippedBlocks"].items()
    assert skipped == ("Not run: a block before it failed.", [15, 16, 17])
    assert "Block 13" in failed["error"]["message"], "outputs are blocks, too"
    assert "ZeroDivisionError" in failed["error"]["message"]
    assert "updateBlock" in failed["error"]["hint"]
    runs = reply["toolCalls"][-1]["output"]["output"]["runs"]
    assert [run["status"] for run in runs] == ["ok"] * 10
    assert [run["outputs"] for run in runs] == [str(number) for number in range(10)]
    assert reply.get("notDone") is None
    assert of_type(events, "fixes_offered") == []
    assert_lexical([document.read_text()])
    assert undo(server, reply)["conflicts"] == []
    assert document.read_bytes() == before


def test_a_run_that_stays_failed_is_said_and_its_fix_is_one_click_away(
    server: RunningServer, model: ScriptedModelServer, document: Path
) -> None:
    model.script(
        Call("insertBlock", {"type": "jupyter-input", "content": 'cars["Horsepowr"].max()'}),
        Call("runAllBlocks", {}),
        Say("All blocks ran without errors."),
    )
    reply, events = chat(server, "Run it", **ATTACHED)
    assert reply["notDone"]["kind"] == "run_failed"
    assert "KeyError" in reply["notDone"]["message"]
    [offered] = of_type(events, "fixes_offered")
    assert offered["path"] == NAME
    fix = offered["fixes"][0]
    assert "Horsepower" in fix["title"]
    assert [call["name"] for call in fix["calls"]] == ["updateBlock"]
    assert "block" in fix["calls"][0]["label"]
    found = server.get("fixes", path=NAME, cellId=offered["cellId"])["fixes"]
    assert found == offered["fixes"]
    before, asked = document.read_bytes(), len(model.requests)
    workflow = {"id": "fix-error", "parameters": {"cellId": offered["cellId"], "fixId": fix["id"]}}
    reply, events = chat(server, "Fix the block", workflow=workflow)
    assert reply["status"] == "completed", reply
    assert code(document) == [LOAD, 'cars["Horsepower"].max()']
    assert "230" in document.read_text()
    assert len(model.requests) == asked, "no model is needed"
    assert "1 block changed" in reply["reply"]
    assert "1 block ran without error" in reply["reply"]
    undo(server, reply)
    assert document.read_bytes() == before


def test_each_step_of_a_plan_over_blocks_is_fixed_without_the_model(
    server: RunningServer, model: ScriptedModelServer, document: Path
) -> None:
    steps = [step for wrong, _ in FAILING.values() for step in (block(wrong), Say("Looked."))]
    model.script(
        plan_of("Load", *FAILING, tool="insertBlock"),
        Call("runAllBlocks", {}),
        Say("Loaded."),
        *steps,
    )
    reply, events = chat(server, "agent: look at the cars")
    assert reply["status"] == "completed", reply
    [planned, *_] = of_type(events, "plan_updated")
    assert planned["requiredTools"] == ["insertBlock"]
    sent = [tool["function"]["name"] for tool in model.requests[0].body["tools"]]
    assert len([name for name in sent if "Block" in name]) == 9, "the planner knows them"
    assert code(document) == [LOAD, *(right for _, right in FAILING.values())]
    assert [each["success"] for each in of_type(events, "recovery_finished")] == [True] * 6
    # The model hears of the fixes, and was not asked for them.
    assert len(model.requests) == 3 + len(steps)
    assert "The block was fixed" in model.requests[4].text
    assert plan_states(events)[-1] == "completed"
    assert "6 blocks added" in reply["reply"]
    assert "6 blocks read back" in reply["reply"]
    assert_lexical([document.read_text()])


def test_the_model_repairs_the_block_of_a_step_that_has_no_known_fix(
    server: RunningServer, model: ScriptedModelServer, document: Path
) -> None:
    def repair(request: Any) -> Call:
        calls = [each for each in request.body["messages"] if each["role"] == "tool"]
        written = json.loads(calls[-1]["content"])["output"]["blocks"][0]["id"]
        return Call("updateBlock", {"blockId": written, "content": "1 / 2", "run": True})

    model.script(
        plan_of("Divide", "Go on", tool="insertBlock"),
        block("1 / 0"),
        repair,
        Say("Divided."),
        block("2 + 2"),
        Say("4"),
    )
    reply, events = chat(server, "agent: divide")
    assert reply["status"] == "completed", reply
    assert code(document) == [LOAD, "1 / 2", "2 + 2"]
    [started] = of_type(events, "recovery_started")
    assert "ZeroDivisionError" in started["error"]
    assert "Fix this block in place with updateBlock" in model.requests[2].text
    assert "2 blocks added" in reply["reply"]
    # A step whose block cannot be repaired stops the plan and leaves what was done.
    model.script(
        plan_of("Divide", "Go on", tool="insertBlock"), block("1 / 0"), Say("No."), Say("No.")
    )
    reply, events = chat(server, "agent: divide again")
    assert "Stopped at step 1 of 2" in reply["reply"]
    assert code(document)[-1] == "1 / 0"


def test_a_block_that_somebody_deletes_before_the_step_ends_fails_the_step(
    server: RunningServer, model: ScriptedModelServer, document: Path
) -> None:
    before = document.read_text()

    def delete(*_: Any) -> Say:
        document.write_text(before)
        return Say("Added.")

    model.script(
        plan_of("Add", tool="insertBlock"), block("1"), delete, block("1"), Say("Added again.")
    )
    reply, events = chat(server, "agent: add")
    assert reply["status"] == "completed", reply
    [started] = of_type(events, "recovery_started")
    assert "The block “1” that this step wrote is not in report.dlex" in started["error"]
    assert "1 block read back" in reply["reply"]
