"""Answers that end otherwise than whole, over both APIs: what the model and the user hear of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.jupyter import RunningServer
from tests.support.model_server import (
    Answer,
    Call,
    Deltas,
    Empty,
    Reasoning,
    Refuse,
    Say,
    ScriptedModelServer,
    Step,
    TokenCounts,
)
from tests.support.planning import of_type
from tests.support.sessions import new_notebook, sources

CUT = '{"content": "print(6 * 7)\\nprint('
THOUGHT = "Let me think: 答え."


@pytest.fixture(scope="module")
def server(server_of_api: RunningServer) -> RunningServer:
    return server_of_api


@pytest.fixture(autouse=True)
def notebook(server: RunningServer) -> Path:
    path = server.root / "a.ipynb"
    new_notebook(path, "x = 1")
    return path


def ask(server: RunningServer, **more: Any) -> dict[str, Any]:
    request = {
        "message": "Add a cell",
        "mode": "agent",
        "attachments": [{"kind": "notebook", "path": "a.ipynb"}],
        "activeNotebook": "a.ipynb",
    }
    reply: dict[str, Any] = server.post("chat", {**request, **more})
    return reply


def events_of(server: RunningServer, reply: dict[str, Any]) -> list[dict[str, Any]]:
    session = reply["sessionId"]
    [*_, turn] = server.get(f"sessions/{session}/turns", include="events")["turns"]
    return list(turn["events"])


def cut(*parts: Any, output: int = 20) -> Answer:
    return Answer(parts, finish="length", usage=TokenCounts(100, output))


def test_a_call_that_was_cut_off_is_not_made_and_the_model_hears_of_the_limit(
    server: RunningServer, model: ScriptedModelServer, notebook: Path
) -> None:
    whole = Call("addNotebookCell", {"content": "y = 2"}, "call_a")
    model.script(
        cut(Say("Adding."), whole, Call("addNotebookCell", CUT, "call_b")),
        Call("addNotebookCell", {"content": "z = 3"}, "call_c"),
        Say("Done."),
    )
    reply = ask(server, overrides={"maxOutputTokens": 50})
    assert reply["status"] == "completed"
    assert [call["status"] for call in reply["toolCalls"]] == ["ok", "error", "ok"]
    # What was whole is done, what was cut is not: neither whole nor as far as it came.
    assert sources(notebook) == ["x = 1", "y = 2", "z = 3"]
    assert len(model.requests) == 3
    heard = model.requests[1].tool_outputs["call_b"]
    assert "at the limit of 50 output tokens" in heard
    assert "in parts" in heard
    assert reply["toolCalls"][1]["output"]["error"]["code"] == "cut_off"
    # The answer after it is whole.
    assert reply.get("incomplete") is None
    assert of_type(events_of(server, reply), "warning") == []


def test_a_call_without_arguments_so_far_is_cut_off_too(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(cut(Call("getNotebookCells", "", "call_a")), Say("Done."))
    reply = ask(server)
    assert reply["toolCalls"][0]["output"]["error"]["code"] == "cut_off"
    assert "after 20 output tokens" in model.requests[1].tool_outputs["call_a"]


def test_a_call_that_is_whole_is_made_although_the_answer_reached_the_limit(
    server: RunningServer, model: ScriptedModelServer, notebook: Path
) -> None:
    model.script(cut(Call("addNotebookCell", {"content": "y = 2"})), Say("Done."))
    assert [call["status"] for call in ask(server)["toolCalls"]] == ["ok"]
    assert sources(notebook) == ["x = 1", "y = 2"]


def test_calls_that_are_cut_off_again_and_again_end_the_turn(
    server: RunningServer, model: ScriptedModelServer, notebook: Path
) -> None:
    model.script(*(cut(Call("addNotebookCell", CUT[: 30 - n])) for n in range(3)))
    reply = ask(server)
    assert reply["status"] == "aborted"
    assert len(model.requests) == 3
    assert "cut off after 20 output tokens" in reply["reply"]
    assert sources(notebook) == ["x = 1"]


def test_a_call_that_the_filter_cut_off_is_not_made(
    server: RunningServer, model: ScriptedModelServer, notebook: Path
) -> None:
    model.script(
        Answer([Call("addNotebookCell", CUT, "call_a")], finish="content_filter"), Say("Done.")
    )
    assert [call["status"] for call in ask(server)["toolCalls"]] == ["error"]
    assert "content filter" in model.requests[1].tool_outputs["call_a"]
    assert sources(notebook) == ["x = 1"]


INCOMPLETE: dict[str, tuple[Step, str, str]] = {
    "max_output_tokens": (cut(Say("Once upon")), "Once upon", "after 20 output tokens"),
    "content_filter": (
        Answer([Say("It is")], finish="content_filter"),
        "It is",
        "content filter ended the answer",
    ),
    "refusal": (Refuse("I can't help with that."), "I can't help with that.", "refused"),
}


@pytest.mark.parametrize("reason", INCOMPLETE)
def test_a_text_that_is_not_whole_says_why(
    server: RunningServer, model: ScriptedModelServer, reason: str
) -> None:
    step, text, message = INCOMPLETE[reason]
    model.script(step)
    reply = ask(server)
    assert (reply["status"], reply["reply"]) == ("completed", text)
    assert reply["incomplete"]["reason"] == reason
    assert message in reply["incomplete"]["message"]
    assert len(model.requests) == 1, "it is not asked for again"
    events = events_of(server, reply)
    [warning] = of_type(events, "warning")
    assert (warning["code"], warning["message"]) == (reason, reply["incomplete"]["message"])
    [final] = of_type(events, "final_reply")
    assert final["incomplete"] == reply["incomplete"]


def test_a_whole_answer_has_no_such_remark(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(Say("Done."))
    reply = ask(server)
    assert reply.get("incomplete") is None
    assert of_type(events_of(server, reply), "warning") == []


def failed(server: RunningServer) -> tuple[str, str]:
    """The error of a turn, and the reasoning that is shown above it."""
    events = list(server.stream("chat/stream", {"message": "go", "mode": "ask"}))
    [error] = of_type(events, "error")
    return error["message"], "".join(e["delta"] for e in of_type(events, "reasoning_delta"))


NO_ANSWER: dict[str, tuple[Step, str]] = {
    "reasoning": (Reasoning(THOUGHT), "reasoned, but did not answer"),
    "reasoning to the limit": (cut(Reasoning(THOUGHT)), "cut off after 20 output tokens"),
    "in the text": (Say(f"<think>{THOUGHT}"), "reasoned, but did not answer"),
    "in the text to the limit": (cut(Say(f"<think>{THOUGHT}")), "cut off after 20 output tokens"),
    "hidden to the limit": (cut(), "reasoning counts, too"),
    "filtered": (Answer([], finish="content_filter"), "content filter ended the answer"),
    "repeated": (Reasoning("So it is, again. " * 400), "repeated itself in its reasoning"),
    "nothing": (Empty(), "empty answer"),
}


@pytest.mark.parametrize("name", NO_ANSWER)
def test_an_answer_without_text_says_why_and_what_to_do(
    server: RunningServer, model: ScriptedModelServer, name: str
) -> None:
    step, message = NO_ANSWER[name]
    model.script(step)
    error, reasoned = failed(server)
    assert message in error
    assert ("empty answer" in error) == (name == "nothing")
    assert len(model.requests) == 1, "it is not asked for again"
    assert (THOUGHT in reasoned) == (name.startswith(("reasoning", "in the text")))


def test_reasoning_in_either_field_is_shown(
    server: RunningServer, model: ScriptedModelServer, api: str
) -> None:
    if api != "chat":
        pytest.skip("fields of chat completions")
    for field in ("reasoning_content", "reasoning"):
        model.script(Deltas([{field: "Let me "}, {field: "think."}]))
        error, reasoned = failed(server)
        assert "reasoned, but did not answer" in error
        assert reasoned == "Let me think."
