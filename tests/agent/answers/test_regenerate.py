"""The ops ``ask_again`` and ``choose_answer``: another model answers the newest message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.jupyter import RunningServer
from tests.support.model_server import BreakAfter, Call, Gate, Say, ScriptedModelServer, Status
from tests.support.planning import add, plan_of, task
from tests.support.sessions import act, chat, new_notebook, turns

OTHER = "openai/second-opinion"


def ask_again(
    server: RunningServer, session: str, turn: str, model: str = OTHER, *ends: str
) -> dict[str, Any]:
    op = {"type": "ask_again", "turnId": turn, "model": model}
    return act(server, session, op, *(ends or ("answer_finished",)))


def choose(server: RunningServer, session: str, turn: str, answer: str | None) -> dict[str, Any]:
    op = {"type": "choose_answer", "turnId": turn, "answerId": answer}
    return act(server, session, op, "answer_chosen")


def test_the_other_model_reads_what_the_first_one_read_and_changes_nothing(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    new_notebook(server.root / "again.ipynb", "price = 12")
    session, _ = chat(server, model, ("My colour is blue", "Noted."))
    model.script(Call("getNotebookCells"), Say("The first one says twelve."))
    first = server.post(
        "chat",
        {
            "message": "What is the price?",
            "sessionId": session,
            "mode": "agent",
            "attachments": [{"kind": "notebook", "path": "again.ipynb"}],
            "activeNotebook": "again.ipynb",
        },
    )
    asked = model.requests[-1]
    # What was read counts, not the current state.
    new_notebook(server.root / "again.ipynb", "price = 99")
    model.script(Say("The second one says twelve, too."))
    done = ask_again(server, session, first["turnId"])
    assert (done["status"], done["text"]) == ("completed", "The second one says twelve, too.")
    assert done["usage"]["totalTokens"] > 0
    again = model.requests[-1]
    assert again.body["model"] == "second-opinion"
    assert again.body["tool_choice"] == "none"
    assert again.items[:3] == asked.items[:3], "system prompt and history"
    assert set(again.tool_names) >= set(asked.tool_names), "what was called is known"
    assert "My colour is blue" in again.text
    assert "price = 12" in again.text
    assert "price = 99" not in again.text
    assert again.tool_outputs == asked.tool_outputs != {}
    assert "The first one says" not in again.text

    record = turns(server, session, include="events")[-1]
    (answer,) = record["answers"]
    assert (answer["answerId"], answer["model"]) == (done["answerId"], OTHER)
    assert (record["reply"], record.get("chosenAnswer")) == ("The first one says twelve.", None)
    types = [event["type"] for event in record["events"]]
    assert types[-3:] == ["answer_started", "answer_delta", "answer_finished"], "it is drawn again"
    assert record["changes"] == []
    key = answer["provenance"]
    assert (key["providerId"], key["responseType"], key["responseIndex"]) == ("openai", "batch", 1)
    found = server.get("responses", **key)
    assert found["text"] == "The second one says twelve, too."
    assert found["message"] == "What is the price?"
    cells = [
        {"content": "Kept", "turnId": first["turnId"], **more} for more in ({}, {"provenance": key})
    ]
    kept = server.post("scratchpad", {"cells": cells})["path"]
    marks = [
        cell["metadata"]["datalayer_agent"]["provenance"]["responseIndex"]
        for cell in json.loads((server.root / kept).read_text())["cells"][-2:]
    ]
    assert marks == [0, 1], "the turn's own answer, unless another is named"
    (hit,) = server.get("search", q="second one says")["results"]
    assert (hit["turnId"], hit["role"]) == (first["turnId"], "assistant")
    rows = {row["key"]: row for row in server.get("usage", by="model")["rows"]}
    assert rows[OTHER]["modelCalls"] == 1
    total = server.get(f"sessions/{session}")["sessionTokens"]
    assert total == first["usage"]["sessionTokens"] + done["usage"]["totalTokens"]


def test_the_conversation_continues_from_the_answer_that_was_chosen(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, (one,) = chat(server, model, ("Name a fruit", "Apple."))
    model.script(Say("Pear."))
    answer = ask_again(server, session, one)["answerId"]
    assert choose(server, session, one, answer)["answerId"] == answer
    copy = server.post(f"sessions/{session}/fork", {})["id"]
    for each in (session, copy):
        model.script(Say("Green."))
        server.post("chat", {"message": "Its colour?", "sessionId": each})
        text = model.requests[-1].text
        assert "Pear." in text
        assert "Apple." not in text
        (kept,) = turns(server, each)[0]["answers"]
        assert (kept["answerId"], turns(server, each)[0]["chosenAnswer"]) == (answer, answer)
    assert turns(server, copy)[0]["answers"][0]["provenance"]["aiTurnId"] != one
    exported = {
        kind: server.request("GET", f"sessions/{session}/export?format={kind}").text
        for kind in ("md", "ipynb", "json")
    }
    assert f"asked again: {OTHER}\n\nPear.\n\n*The session continued from this" in exported["md"]
    cells = ["".join(cell["source"]) for cell in json.loads(exported["ipynb"])["cells"]]
    assert any("Pear." in cell and "continued from this" in cell for cell in cells)
    assert json.loads(exported["json"])["turns"][0]["chosenAnswer"] == answer
    late = choose(server, session, one, None)
    assert "latest" in late["message"], "what was said since was said to the other answer"

    session, (one,) = chat(server, model, ("Name a tree", "Oak."))
    model.script(Say("Elm."))
    answer = ask_again(server, session, one)["answerId"]
    choose(server, session, one, answer)
    assert choose(server, session, one, None).get("answerId") is None
    assert choose(server, session, one, "answer_no")["code"] == "not_found"
    model.script(Say("Yes."))
    server.post("chat", {"message": "Sure?", "sessionId": session})
    assert "Oak." in model.requests[-1].text
    assert "Elm." not in model.requests[-1].text


def test_it_is_refused_while_a_turn_runs_and_for_any_turn_but_the_newest(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, (one, two) = chat(server, model, ("One", "1"), ("Two", "2"))
    assert "latest" in ask_again(server, session, one)["message"]
    model.script(Gate(Say("Slow."), after=0))
    message = {"type": "user_message", "request": {"message": "Three"}}
    act(server, session, message, "model_started")
    assert ask_again(server, session, two)["code"] == "turn_in_progress"
    model.release()
    _, foreign = chat(server, model, ("Other", "3"))
    unknown = {"type": "ask_again", "turnId": foreign[0], "model": OTHER}
    assert server.request("POST", f"sessions/{session}/ops", json=unknown).status_code == 404


def test_a_turn_that_carried_out_a_plan_has_no_answer_to_compare(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    new_notebook(server.root / "cars.ipynb", "x = 1")
    model.script(plan_of("Add a note"), add("A note", "markdown"), Say("The note is there."))
    reply = server.post("chat", {**task("agent: add a note"), "approval": "never"})
    assert reply["status"] == "completed", reply
    refused = ask_again(server, reply["sessionId"], reply["turnId"])
    assert (refused["type"], refused["code"]) == ("error", "invalid_request")
    assert "plan" in refused["message"]


def test_a_message_waits_for_it_and_the_user_can_stop_it(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, (one,) = chat(server, model, ("One", "1"))
    model.script(Gate(Say("A long answer of another model.", chunk=4), after=2))
    op = {"type": "ask_again", "turnId": one, "model": OTHER}
    assert act(server, session, op, "answer_delta")["answerId"]
    assert act(server, session, op, "answer_started")["code"] == "turn_in_progress"
    message = {"type": "user_message", "request": {"message": "Next"}}
    assert act(server, session, message, "op_queued")["message"] == "Next"
    model.script(Say("Done."))
    stopped = act(server, session, {"type": "interrupt"}, "answer_finished")
    assert (stopped["status"], stopped["text"]) == ("stopped", "")
    assert stopped["usage"]["estimated"] is True, "what was said of it is counted"
    model.release()
    for event in server.stream(f"sessions/{session}/events?after={stopped['seq']}"):
        if event["type"] == "turn_completed":
            break
    assert [turn["answers"] for turn in turns(server, session)] == [[], []]
    assert [turn["message"] for turn in turns(server, session)] == ["One", "Next"]


def test_what_broke_is_requested_once_more_and_a_failure_is_reported_under_the_turn(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, (one,) = chat(server, model, ("One", "1"))
    model.script(BreakAfter(2, Say("Half an answer", chunk=4)), Say("A whole answer."))
    done = ask_again(server, session, one)
    assert (done["status"], done["text"]) == ("completed", "A whole answer.")
    (record,) = turns(server, session, include="events")
    deltas = [event["delta"] for event in record["events"] if event["type"] == "answer_delta"]
    assert deltas == ["A whole answer."], "what was taken back is not drawn again"
    model.script(Status(401))
    failed = ask_again(server, session, one)
    assert (failed["status"], failed["code"]) == ("failed", "model_error")
    server.request("PATCH", f"sessions/{session}", json={"settings": {"tokenLimit": 5}})
    limited = ask_again(server, session, one)
    assert (limited["status"], limited["code"]) == ("failed", "token_limit")
    assert len(turns(server, session)[0]["answers"]) == 1


def test_what_may_not_be_sent_any_more_is_not_sent_to_the_other_model(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    (server.root / "rows.csv").write_text("name,age\nAda,36\n")
    model.script(Say("Two columns."))
    first = server.post(
        "chat",
        {"message": "Describe it", "attachments": [{"kind": "file", "path": "rows.csv"}]},
    )
    assert "Ada,36" in model.requests[-1].text
    session = first["sessionId"]
    server.request("PATCH", f"sessions/{session}", json={"settings": {"rowData": "never"}})
    model.script(Say("It was withheld."))
    assert ask_again(server, session, first["turnId"])["status"] == "completed"
    assert "Ada,36" not in model.requests[-1].text
    assert "withheld by the setting" in model.requests[-1].text


def test_an_answer_that_was_being_given_when_the_server_died_is_reported_as_stopped(
    tmp_path: Path, shared_model: ScriptedModelServer
) -> None:
    shared_model.reset()
    with RunningServer(tmp_path, api_base=shared_model.base_url) as server:
        session, (one,) = chat(server, shared_model, ("Name a fruit", "Apple."))
        shared_model.script(Say("Pear."))
        answer = ask_again(server, session, one)["answerId"]
        choose(server, session, one, answer)
        shared_model.script(Gate(Say("Never to be read to its end.", chunk=4), after=2))
        op = {"type": "ask_again", "turnId": one, "model": OTHER}
        assert act(server, session, op, "answer_delta")
        server.kill()
        shared_model.release()
        server.start()
        (record,) = turns(server, session, include="events")
        ended = [event for event in record["events"] if event["type"] == "answer_finished"]
        assert [event["status"] for event in ended] == ["completed", "stopped"]
        assert len(record["answers"]) == 1
        shared_model.script(Say("Plum."))
        assert ask_again(server, session, one)["text"] == "Plum.", "the context is kept"
        assert "Name a fruit" in shared_model.requests[-1].text
        shared_model.script(Say("Green."))
        server.post("chat", {"message": "Its colour?", "sessionId": session})
        assert "Pear." in shared_model.requests[-1].text
        assert "Apple." not in shared_model.requests[-1].text
