"""The tools of the history in a conversation: what is recent there, and turns by their numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Say, ScriptedModelServer
from tests.support.sessions import act, chat


def asked(
    server: RunningServer, model: ScriptedModelServer, call: Call, session: str | None
) -> Any:
    """What the model reads of a call in the next turn of the session."""
    model.script(call, Say("Looked."))
    server.post("chat", {"message": "What did we just discuss?", "sessionId": session})
    return json.loads(model.requests[-1].last_output)


def messages(found: Any) -> list[str]:
    return [turn["message"] for turn in found["turns"]]


@pytest.fixture
def two(server: RunningServer, model: ScriptedModelServer) -> tuple[str, str]:
    """Two conversations, the second with newer turns."""
    first, _ = chat(server, model, ("apples", "1"), ("pears", "2"), ("plums", "3"))
    second, _ = chat(server, model, ("bolts", "4"), ("nuts", "5"))
    return first, second


def test_recent_turns_are_those_of_this_conversation(
    server: RunningServer, model: ScriptedModelServer, two: tuple[str, str]
) -> None:
    found = asked(server, model, Call("getRecentTurns", {}), two[0])
    assert messages(found) == ["plums", "pears", "apples"]
    assert [turn["number"] for turn in found["turns"]] == [3, 2, 1]


def test_recent_turns_of_another_conversation_and_of_all_are_requested(
    server: RunningServer, model: ScriptedModelServer, two: tuple[str, str]
) -> None:
    other = Call("getRecentTurns", {"sessionId": two[1]})
    assert messages(asked(server, model, other, two[0])) == ["nuts", "bolts"]
    all_of_them = Call("getRecentTurns", {"allSessions": True, "limit": 4})
    found = messages(asked(server, model, all_of_them, two[0]))
    assert found == ["What did we just discuss?", "nuts", "bolts", "plums"]


def test_a_first_turn_has_nothing_before_it(
    server: RunningServer, model: ScriptedModelServer, two: tuple[str, str]
) -> None:
    assert messages(asked(server, model, Call("getRecentTurns", {}), None)) == []


def test_a_program_that_names_no_conversation_gets_the_turns_of_all(
    server: RunningServer, two: tuple[str, str]
) -> None:
    found = server.post("tools/getRecentTurns", {"arguments": {"limit": 3}})["output"]
    assert messages(found) == ["nuts", "bolts", "plums"]
    body = {"arguments": {}, "sessionId": two[0]}
    found = server.post("tools/getRecentTurns", body)["output"]
    assert messages(found) == ["plums", "pears", "apples"]


@pytest.mark.parametrize("arguments", [{"number": 2}, {"turnId": "2"}])
def test_a_turn_is_read_by_its_number(
    server: RunningServer,
    model: ScriptedModelServer,
    two: tuple[str, str],
    arguments: dict[str, Any],
) -> None:
    found = asked(server, model, Call("getTurnById", arguments), two[0])
    assert (found["message"], found["reply"]) == ("pears", "2")
    assert found["number"] == 2
    arguments = {**arguments, "sessionId": two[1]}
    found = asked(server, model, Call("getTurnById", arguments), two[0])
    assert found["message"] == "nuts"


def test_numbers_are_those_of_the_list_of_steps_also_after_going_back(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    session, ids = chat(server, model, ("one", "1"), ("two", "2"), ("three", "3"))
    act(server, session, {"type": "go_back", "turnId": ids[0]}, "went_back")
    model.script(Say("4"))
    server.post("chat", {"message": "four", "sessionId": session})
    steps = server.get(f"sessions/{session}/prompts")["prompts"]
    for step in steps:
        call = Call("getTurnById", {"number": step["index"] + 1})
        found = asked(server, model, call, session)
        assert (found["turnId"], found["message"]) == (step["turnId"], step["message"])
        assert found.get("takenBack", False) == step.get("withdrawn", False)
    assert ids == [step["turnId"] for step in steps[:3]]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"number": 12}, "There is no turn 12; the session has 4 turns."),
        ({"number": 0}, "number"),
        ({}, "give turnId, or the number"),
        ({"number": 1, "turnId": "turn_1"}, "give turnId, or the number"),
    ],
)
def test_a_number_that_names_no_turn_is_reported(
    server: RunningServer,
    model: ScriptedModelServer,
    two: tuple[str, str],
    arguments: dict[str, Any],
    expected: str,
) -> None:
    found = asked(server, model, Call("getTurnById", arguments), two[0])
    assert expected in found["error"]["message"]


def test_the_strategist_reads_all_conversations(
    server: RunningServer, model: ScriptedModelServer, two: tuple[str, str]
) -> None:
    model.script(
        Call("getRecentTurns", {"limit": 3}),
        Call("getRecentTurns", {"sessionId": two[0], "limit": 1}),
        Call("getTurnById", {"number": 1, "sessionId": two[1]}),
        Call("getTurnById", {"number": 1}),
        Say("Bolts."),
    )
    server.post("strategist", {"question": "What was it about?", "sessionId": two[0]})
    outputs = [json.loads(each) for each in model.requests[-1].tool_outputs.values()]
    assert messages(outputs[0]) == ["nuts", "bolts", "plums"]
    assert messages(outputs[1]) == ["plums"]
    assert outputs[2]["message"] == "bolts"
    assert "sessionId" in outputs[3]["error"]["hint"]


def test_the_calls_of_a_turn_are_read_as_json_and_not_as_json_in_a_string(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    code = 'print("one \\"quoted\\" word")\n' * 60
    model.script(
        Call("executeCode", {"code": code}), Call("executeCode", {"code": '{"a": 1'}), Say("Done.")
    )
    reply = server.post("chat", {"message": "run it", "mode": "agent"})
    raw = Call("getTurnById", {"number": 1})
    found = asked(server, model, raw, reply["sessionId"])
    good, bad = found["toolCalls"]
    assert good["arguments"]["code"].startswith('print("one \\"quoted\\" word")\nprint(')
    assert good["arguments"]["code"].endswith("more characters]")
    assert good["output"]["status"] == "ok"
    assert good["output"]["outputs"].startswith('one "quoted" word\n')
    assert bad["arguments"] == {"code": '{"a": 1'}
    assert "SyntaxError" in bad["output"]["error"]
    assert found["provenance"][0]["aiTurnId"] == reply["turnId"]
    assert '\\"outputs\\"' not in model.requests[-1].last_output
