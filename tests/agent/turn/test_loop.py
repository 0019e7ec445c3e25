"""The loop of DESIGN 4, as a program sees it: history, retries, approvals, questions, Stop."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest

from jupyter_datalayer_agent.store.queries.event_log import join_deltas
from tests.support.jupyter import RunningServer
from tests.support.model_server import (
    BreakAfter,
    Call,
    Calls,
    Gate,
    NoFinish,
    Reasoning,
    Say,
    ScriptedModelServer,
    Status,
)

ENDS = ("turn_completed", "turn_aborted")
SLEEP = "import time\nfor _ in range(600):\n    time.sleep(0.1)"


def agent_request(message: str = "go", **more: Any) -> dict[str, Any]:
    return {
        "message": message,
        "mode": "agent",
        "attachments": [{"kind": "notebook", "path": "loop.ipynb"}],
        "activeNotebook": "loop.ipynb",
        **more,
    }


@pytest.fixture
def notebook(server: RunningServer) -> RunningServer:
    shutil.copy(server.root / "cars.ipynb", server.root / "loop.ipynb")
    return server


def until(events: Iterator[Any], *types: str) -> list[Any]:
    """The events up to and with the first of one of these types."""
    seen = []
    for event in events:
        seen.append(event)
        if event["type"] in types:
            return seen
    raise AssertionError(f"none of {types} came; last: {seen[-3:]}")


def test_history_is_sent_byte_for_byte_and_the_context_only_once(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("getNotebookCells"), Say("Blue."), Say("You said blue."))
    first = notebook.post("chat", agent_request("My favourite colour is blue."))
    notebook.post("chat", agent_request("What is it?", sessionId=first["sessionId"]))
    _, second, third = [request.body for request in model.requests]
    key = "input" if "input" in third else "messages"
    texts = [json.dumps(item) for item in third[key]]
    assert sum('"<context>\\n' in text for text in texts) == 1
    assert any("favourite colour is blue" in text for text in texts)
    assert any("# Cars" in text and "cellCount" in text for text in texts), "tool outputs are kept"
    assert third["tools"] == second["tools"]
    if key == "messages":
        assert third[key][0] == second[key][0]


def test_peers_08_the_conversation_is_known_after_a_restart(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("getNotebookCells"), Say("Noted."), Say("Blue."))
    first = notebook.post("chat", agent_request("My favourite colour is blue."))
    notebook.stop()
    notebook.start()
    notebook.post("chat", {"message": "Which?", "sessionId": first["sessionId"], "mode": "ask"})
    assert "favourite colour is blue" in model.requests[-1].text
    assert "cellCount" in model.requests[-1].text


def test_parallel_calls_are_answered_in_their_order(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        Calls(
            [
                Call("getNotebookCells", call_id="call_a"),
                Call("addNotebookCell", {"type": "markdown", "content": "x"}, call_id="call_b"),
                Call("getNotebookCells", call_id="call_c"),
                Call("listKernels", call_id="call_d"),
            ]
        ),
        Say("Done."),
    )
    reply = notebook.post("chat", agent_request())
    assert list(model.requests[1].tool_outputs) == ["call_a", "call_b", "call_c", "call_d"]
    counts = [
        call["output"]["output"].get("cellCount") for call in reply["toolCalls"] if call["output"]
    ]
    assert counts == [1, None, 2, None]


def test_a_cell_that_is_added_without_a_type_is_code(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("addNotebookCell", {"content": "6 * 7", "run": True}), Say("Added."))
    (call,) = notebook.post("chat", agent_request())["toolCalls"]
    assert call["status"] == "ok"
    cell = nbformat.read(notebook.root / "loop.ipynb", as_version=4).cells[-1]
    assert (cell.cell_type, cell.source) == ("code", "6 * 7")
    assert cell.outputs[0]["data"]["text/plain"] == "42"


def test_a_rate_limit_is_waited_out(notebook: RunningServer, model: ScriptedModelServer) -> None:
    model.script(
        Status(429, headers={"Retry-After": "0"}), Status(503, body={"error": "busy"}), Say("Now.")
    )
    reply = notebook.post("chat", {"message": "hi"})
    assert reply["reply"] == "Now."
    turns = notebook.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
    statuses = [event["message"] for event in turns[0]["events"] if event["type"] == "status"]
    assert "Reconnecting 1 of 5" in statuses
    # This server is on the same machine: it may be loading its model.
    assert "The model server is not ready (503). Next try in 4 s" in statuses


@pytest.mark.parametrize(
    "cut", [lambda step: BreakAfter(2, step), lambda step: NoFinish(step, done=False)]
)
def test_a_broken_stream_takes_back_what_it_showed(
    notebook: RunningServer, model: ScriptedModelServer, cut: Any
) -> None:
    model.script(cut(Say("The answer is wr", chunk=4)), Say("The answer is 42."))
    reply = notebook.post("chat", {"message": "hi"})
    assert reply["reply"] == "The answer is 42."
    events = list(notebook.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"])
    shown = events[0]["events"]
    assert any(event["type"] == "item_discarded" for event in shown)
    texts = [event["delta"] for event in shown if event["type"] == "text_delta"]
    assert texts == ["The answer is 42."]


def test_what_was_shown_of_an_answer_that_broke_off_stays_and_the_next_turn_knows_it(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    gone = Status(401, body={"error": {"message": "The key was withdrawn."}})
    model.script(BreakAfter(2, Say("The answer is wrong", chunk=7)), gone, Say("As I said."))
    reply = notebook.request("POST", "chat", json={"message": "hi"}).json()
    assert reply["status"] == "failed"
    assert reply["reply"] == "The answer is "
    path = f"sessions/{reply['sessionId']}/turns"
    shown = notebook.get(path, include="events")["turns"][0]["events"]
    (text,) = [event for event in shown if event["type"] == "text_delta"]
    (error,) = [event for event in shown if event["type"] == "error"]
    assert text["delta"] == reply["reply"]
    assert error["itemId"] == text["itemId"]
    notebook.post("chat", {"message": "And?", "sessionId": reply["sessionId"]})
    sent = model.requests[-1].text
    assert sent.index(reply["reply"]) < sent.index("may be cut off") < sent.index("And?")


def test_a_call_that_was_cut_off_is_not_carried_out(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    half = Call("addNotebookCell", {"type": "markdown", "content": "half of it"}, chunk=8)
    model.script(BreakAfter(2, half), Say("Nothing was added."))
    reply = notebook.post("chat", agent_request())
    assert reply["toolCalls"] == []
    assert len(nbformat.read(notebook.root / "loop.ipynb", as_version=4).cells) == 1


def test_reasoning_is_shown_and_sent_back_whole_over_responses(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Reasoning("Let me see."), Say("Seen."))
    reply = notebook.request("POST", "chat", json={"message": "hi"}).json()
    turns = notebook.get(f"sessions/{reply['sessionId']}/turns", include="events")["turns"]
    kinds = {event["type"] for event in turns[0]["events"]}
    assert "reasoning_delta" in kinds


def test_approval_over_a_stream(notebook: RunningServer, model: ScriptedModelServer) -> None:
    call = Call("deleteNotebookCells", {"cellIds": ["heading"]})
    model.script(call, Say("Kept."), call, Say("Deleted."))
    session = notebook.post("sessions", {})["id"]
    for decision, left in (("deny", 1), ("approve", 0)):
        events = notebook.stream("chat/stream", agent_request(sessionId=session))
        asked = until(events, "approval_requested")[-1]
        assert asked["destructive"]
        assert asked["changes"][0]["before"] == "# Cars"
        op = {
            "type": "approval_decision",
            "approvalId": asked["approvalId"],
            "decision": decision,
            "feedback": "Keep the title.",
        }
        notebook.post(f"sessions/{session}/ops", op)
        rest = until(events, *ENDS)
        assert rest[-1]["type"] == "turn_completed"
        output = next(event for event in rest if event["type"] == "tool_call_output")
        assert output["status"] == ("denied" if decision == "deny" else "ok")
        if decision == "deny":
            assert "Keep the title." in output["output"]
        assert len(nbformat.read(notebook.root / "loop.ipynb", as_version=4).cells) == left


def test_code_that_runs_a_shell_command_is_requested(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        Call("addNotebookCell", {"type": "code", "content": "!echo hello", "run": True}),
        Say("Ran."),
        Call("executeCode", {"code": "%pip --version"}),
        Say("Not ran."),
    )
    session = notebook.post("sessions", {})["id"]
    events = notebook.stream("chat/stream", agent_request(sessionId=session))
    asked = until(events, "approval_requested")[-1]
    assert "shell command" in asked["reason"]
    notebook.post(
        f"sessions/{session}/ops",
        {
            "type": "approval_decision",
            "approvalId": asked["approvalId"],
            "decision": "approve_for_session",
        },
    )
    assert until(events, *ENDS)[-1]["type"] == "turn_completed"
    events = notebook.stream("chat/stream", agent_request(sessionId=session))
    asked = until(events, "approval_requested")[-1]
    assert asked["name"] == "executeCode"
    notebook.post(f"sessions/{session}/ops", {"type": "interrupt"})
    assert until(events, *ENDS)[-1]["reason"] == "interrupted"


def test_an_approval_for_the_session_covers_the_same_kind_of_act_alone(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    def adding(code: str) -> Call:
        return Call("addNotebookCell", {"type": "code", "content": code, "run": True})

    model.script(
        adding("%pip --version"),
        adding("%pip --version # again"),
        adding("%pip --version\n!echo hello"),
        Say("Done."),
    )
    session = notebook.post("sessions", {})["id"]
    request = agent_request(sessionId=session, approval="always")
    events = notebook.stream("chat/stream", request)
    decision = {"type": "approval_decision", "decision": "approve_for_session"}

    asked = until(events, "approval_requested")[-1]
    assert asked["kinds"] == ["installs or removes packages"]
    notebook.post(f"sessions/{session}/ops", {**decision, "approvalId": asked["approvalId"]})
    # The second one installs, too, and is let through; the third one does more than that.
    asked = until(events, "approval_requested")[-1]
    assert asked["kinds"] == ["installs or removes packages", "runs a shell command"]
    assert "!echo hello" in asked["reason"]
    denial = {"type": "approval_decision", "decision": "deny"}
    notebook.post(f"sessions/{session}/ops", {**denial, "approvalId": asked["approvalId"]})
    until(events, *ENDS)

    # Under "always" a plain cell was not approved by that, nor is a command by a plain cell.
    model.script(adding("1"), adding("2"), adding("!echo hello"), Say("Done."))
    events = notebook.stream("chat/stream", request)
    asked = until(events, "approval_requested")[-1]
    assert asked["arguments"]["content"] == "1"
    notebook.post(f"sessions/{session}/ops", {**decision, "approvalId": asked["approvalId"]})
    asked = until(events, "approval_requested")[-1]
    assert asked["arguments"]["content"] == "!echo hello"
    notebook.post(f"sessions/{session}/ops", {"type": "interrupt"})
    until(events, *ENDS)


def test_a_question_is_answered_by_an_op(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Call("askUser", {"question": "Which?", "options": ["a", "b"]}), Say("Ok, b."))
    session = notebook.post("sessions", {})["id"]
    events = notebook.stream("chat/stream", agent_request(sessionId=session))
    asked = until(events, "user_input_requested")[-1]
    assert asked["options"] == ["a", "b"]
    notebook.post(
        f"sessions/{session}/ops",
        {"type": "user_input_answer", "requestId": asked["requestId"], "answer": "b"},
    )
    until(events, *ENDS)
    assert '"answer":"b"' in model.requests[1].last_output


def test_peers_09_stop_interrupts_the_kernel_and_the_next_turn_knows(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(
        Call("addNotebookCell", {"type": "code", "content": SLEEP, "run": True}),
        Call("executeCode", {"code": "print('free again')"}),
        Say("Free."),
    )
    session = notebook.post("sessions", {})["id"]
    events = notebook.stream("chat/stream", agent_request(sessionId=session))
    for event in events:
        if event["type"] == "status" and event["message"].startswith("Running cell"):
            break
    notebook.post(f"sessions/{session}/ops", {"type": "interrupt"})
    seen = until(events, *ENDS)
    assert seen[-1]["reason"] == "interrupted"
    aborted = [event for event in seen if event["type"] == "tool_call_output"]
    assert aborted[0]["status"] == "aborted"
    reply = notebook.post("chat", agent_request("go on", sessionId=session))
    assert reply["toolCalls"][0]["output"]["output"]["outputs"] == "free again"
    assert "The user stopped the turn here" in model.requests[1].text
    first = notebook.get(f"sessions/{session}/turns")["turns"][0]
    assert first["status"] == "aborted"
    assert first["changes"][0]["op"] == "insert", "what was done before the stop is known"


def test_stop_ends_the_models_stream_at_once(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("Half is never said."), after=1), Say("Yes."))
    session = notebook.post("sessions", {})["id"]
    events = notebook.stream("chat/stream", {"message": "hi", "sessionId": session})
    until(events, "text_delta")
    notebook.post(f"sessions/{session}/ops", {"type": "interrupt"})
    assert until(events, *ENDS)[-1]["reason"] == "interrupted"
    model.wait_for(model.answered(0, "disconnected"))
    notebook.post("chat", {"message": "Do you know?", "sessionId": session})
    known = [item["content"] for item in model.requests[1].items if item["role"] == "assistant"]
    assert json.dumps(known).count("Half is ") == 1


def test_a_waiting_message_can_be_removed_or_sent_now(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("One.")), Say("Three."))
    session = notebook.post("sessions", {})["id"]
    ops = f"sessions/{session}/ops"
    notebook.post(ops, {"type": "user_message", "request": {"message": "one"}})
    model.wait_for(model.at_gate)
    two = notebook.post(ops, {"type": "user_message", "request": {"message": "two"}})["opId"]
    three = notebook.post(ops, {"type": "user_message", "request": {"message": "three"}})["opId"]
    # An op is taken when its request is answered, and carried out soon after.
    both = [{"opId": two, "message": "two"}, {"opId": three, "message": "three"}]
    while notebook.get(f"sessions/{session}")["queued"] != both:
        time.sleep(0.02)
    notebook.post(ops, {"type": "dequeue", "opId": two})
    notebook.post(ops, {"type": "send_now", "opId": three})
    events = notebook.stream(f"sessions/{session}/events")
    seen = until(events, "turn_aborted")
    assert seen[-1]["reason"] == "replaced"
    seen += until(events, "turn_completed")
    assert [event["text"] for event in seen if event["type"] == "final_reply"] == ["Three."]
    gone = [(e["opId"], e["reason"]) for e in seen if e["type"] == "op_dequeued"]
    assert gone == [(two, "removed"), (three, "started")]


def test_a_waiting_message_that_is_refused_is_named_and_leaves_its_place_to_the_next(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Gate(Say("One."), after=0), Say("Three."))
    session = notebook.post("sessions", {})["id"]

    def send(message: str, **more: Any) -> str:
        op = {"type": "user_message", "request": {"message": message, **more}}
        return str(notebook.post(f"sessions/{session}/ops", op)["opId"])

    send("one")
    model.wait_for(model.at_gate)
    two = send("two", attachments=[{"kind": "file", "path": "gone.csv"}])
    send("three")
    order = {"type": "approval_decision", "approvalId": "none", "decision": "deny"}
    third = notebook.post(f"sessions/{session}/ops", order)["opId"]
    model.release()
    events = notebook.stream(f"sessions/{session}/events")
    seen = until(events, "turn_completed") + until(events, "turn_completed")
    assert [event["text"] for event in seen if event["type"] == "final_reply"] == ["One.", "Three."]
    refused = {event["opId"]: event["code"] for event in seen if event["type"] == "error"}
    assert refused == {third: "not_found", two: "not_found"}


def test_events_resume_where_a_reader_left(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("One two three.", chunk=2, delay_ms=5))
    reply = notebook.post("chat", {"message": "hi"})
    path = f"sessions/{reply['sessionId']}/events"
    whole = until(notebook.stream(path), *ENDS)
    half = whole[len(whole) // 2]
    headers = {"Last-Event-ID": str(half["seq"])}
    rest = until(notebook.stream(path, headers=headers), *ENDS)
    # What was streamed comes in one piece once that is done after the turn.
    assert join_deltas(rest) == join_deltas(whole[len(whole) // 2 + 1 :])
    numbers = [event["seq"] for event in whole]
    assert numbers == sorted(set(numbers))
    ends = [event for event in whole if event["type"] in ENDS]
    assert len(ends) == 1


def test_two_readers_see_the_same(notebook: RunningServer, model: ScriptedModelServer) -> None:
    model.script(Gate(Say("Said to all.", chunk=3, delay_ms=2)))
    session = notebook.post("sessions", {})["id"]
    seen: dict[int, list[Any]] = {}

    def read(number: int) -> None:
        seen[number] = until(notebook.stream(f"sessions/{session}/events"), *ENDS)

    op = {"type": "user_message", "request": {"message": "hi"}}
    notebook.post(f"sessions/{session}/ops", op)
    model.wait_for(model.at_gate)
    threads = [threading.Thread(target=read, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    model.release()
    for thread in threads:
        thread.join(30)
    assert seen[1] == seen[2]
    assert seen[1][-1]["type"] == "turn_completed"


def test_a_session_remembers_its_mode_its_notebook_and_a_title(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("One."), Say("Two."))
    first = notebook.post("chat", agent_request("Count the cars\nplease"))
    session = notebook.get(f"sessions/{first['sessionId']}")
    assert session["title"] == "Count the cars"
    assert session["settings"]["notebook"] == "loop.ipynb"
    second = notebook.post("chat", {"message": "again", "sessionId": first["sessionId"]})
    assert second["mode"] == "agent"


def test_a_picture_reaches_a_model_that_sees_and_stays_in_the_conversation(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    code = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    model.script(
        Call("addNotebookCell", {"type": "code", "content": code, "run": True}),
        Say("A line."),
        Say("Bye."),
    )
    first = notebook.post("chat", agent_request())
    notebook.post("chat", {"message": "bye", "sessionId": first["sessionId"]})
    _, second, third = [json.dumps(request.body) for request in model.requests]
    assert "data:image/png;base64," in second
    assert "data:image/png;base64," in third
    assert "[picture 1: image/png" in third


def test_attached_cells_and_tool_references_reach_the_model_and_open_nothing_else(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    """The notebook of an attached cell or output is not attached: not read as a whole, not
    changed, in no mode."""
    model.script(Call("addNotebookCell", {"type": "code", "content": "1"}), Say("Ok."))
    attached = {"kind": "cell", "path": "loop.ipynb", "cellId": "heading"}
    attachments = [attached, {**attached, "kind": "output"}]
    body = {"message": "#executeCode what?", "attachments": attachments}
    reply = notebook.post("chat", {**body, "activeNotebook": "loop.ipynb", "mode": "agent"})
    assert reply["notebookMode"] == "off"
    assert reply["changes"] == []
    assert reply["toolCalls"][0]["status"] == "error"
    text = model.requests[0].text
    assert "Attached cells of loop.ipynb" in text
    assert "[1] markdown id=heading" in text
    assert "Notebook mode is off" in text
    assert "No active notebook found" in model.requests[1].last_output
    assert "The user means these tools: executeCode" in text


def test_a_path_with_blanks_can_be_attached_by_name(
    notebook: RunningServer, model: ScriptedModelServer
) -> None:
    for name in ("my notes.txt", "other notes.txt"):
        (notebook.root / name).write_text(f"text of {name}")
    model.script(Say("Ok."))
    notebook.post("chat", {"message": 'Read @my\\ notes.txt and @"other notes.txt".'})
    assert "text of my notes.txt" in model.requests[0].text
    assert "text of other notes.txt" in model.requests[0].text
