"""How often a model is asked in one turn: as often as its answers are certainly incomplete."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.models.test_odd_streams import ENDED, TEXT, USAGE, WHOLE_TEXTS, chunk, stream
from tests.support.jupyter import RunningServer
from tests.support.model_server import (
    BreakAfter,
    Call,
    Calls,
    NoFinish,
    Raw,
    Say,
    ScriptedModelServer,
    Status,
    Step,
    StreamError,
)
from tests.support.planning import of_type, submit


@pytest.fixture(scope="module")
def server(server_of_api: RunningServer) -> RunningServer:
    return server_of_api


def ask(server: RunningServer) -> list[dict[str, Any]]:
    return list(server.stream("chat/stream", {"message": "go", "mode": "agent"}))


@pytest.mark.parametrize("name", WHOLE_TEXTS)
def test_a_whole_answer_in_an_odd_form_is_asked_for_once(
    server: RunningServer, model: ScriptedModelServer, api: str, name: str
) -> None:
    if api != "chat":
        pytest.skip("forms of chat completions")
    model.script(WHOLE_TEXTS[name])
    events = ask(server)
    [final] = of_type(events, "final_reply")
    assert TEXT.startswith(final["text"])
    assert events[-1]["type"] == "turn_completed"
    assert len(model.requests) == 1


def test_an_answer_whose_connection_is_lost_after_its_end_is_asked_for_once(
    server: RunningServer, model: ScriptedModelServer, api: str
) -> None:
    if api != "chat":
        pytest.skip("a form of chat completions")
    lost = b'data: {"error": {"message": "gone", "code": 502}}\n\n'
    model.script(Raw([stream(ENDED, done=False) + lost]))
    [final] = of_type(ask(server), "final_reply")
    assert final["text"] == TEXT
    assert len(model.requests) == 1


REFUSED: dict[str, Step] = {
    **{str(status): Status(status) for status in (400, 401, 402, 403, 404, 410, 451)},
    "402 within the stream": StreamError("No credit.", Say("It is"), code="402", after=1),
    "401 within the stream": StreamError("No key.", Say("It is"), code="401"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_server_refuses_is_not_asked_for_again(
    server: RunningServer, model: ScriptedModelServer, api: str, name: str
) -> None:
    if api == "responses" and "stream" in name:
        pytest.skip("litellm does not pass on what such an error of the Responses API says")
    model.script(*[REFUSED[name]] * 2)
    events = ask(server)
    [error] = of_type(events, "error")
    assert events[-1]["type"] == "turn_aborted"
    assert len(model.requests) == 1
    assert ("asks for payment" in error["message"]) == name.startswith("402")


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_what_may_pass_is_asked_for_again(
    server: RunningServer, model: ScriptedModelServer, status: int
) -> None:
    model.script(Status(status, headers={"Retry-After": "0"}), Say("Here."))
    [final] = of_type(ask(server), "final_reply")
    assert final["text"] == "Here."
    assert len(model.requests) == 2


LOADING = Status(503, body={"error": {"code": 503, "message": "Loading model"}})


def test_a_server_that_loads_its_model_is_waited_for_and_the_status_says_so(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(LOADING, Say("Here."))
    began = time.monotonic()
    events = ask(server)
    assert of_type(events, "final_reply")[0]["text"] == "Here."
    assert len(model.requests) == 2
    assert time.monotonic() - began > 1.7
    [shown] = [each["message"] for each in of_type(events, "status") if "503" in each["message"]]
    assert shown == "The model server is not ready (503). Next try in 2 s"


def test_the_wait_for_a_server_that_loads_can_be_stopped(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(*[LOADING] * 6)
    session = server.post("sessions", {})["id"]
    go = {"message": "go", "mode": "agent"}
    submit(server, session, {"type": "user_message", "request": go})
    events = iter(server.stream(f"sessions/{session}/events?after=0"))
    next(each for each in events if each["type"] == "status" and "503" in each["message"])
    submit(server, session, {"type": "interrupt"})
    next(each for each in events if each["type"] == "turn_aborted")
    assert len(model.requests) == 1


def test_a_text_that_was_cut_off_is_asked_for_again_once(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    model.script(BreakAfter(1, Say("Half an answer")), Say("Whole."))
    [final] = of_type(ask(server), "final_reply")
    assert final["text"] == "Whole."
    assert len(model.requests) == 2


def test_calls_that_are_whole_are_not_asked_for_again(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    calls = [Call("listKernels", {}, "call_a"), Call("listKernels", {"path": "a"}, "call_b")]
    model.script(NoFinish(Calls(calls, text="Looking."), done=False), Say("Done."))
    [final] = of_type(ask(server), "final_reply")
    assert final["text"] == "Done."
    assert len(model.requests) == 2
    assert list(model.requests[1].tool_outputs) == ["call_a", "call_b"]


def test_a_chunk_that_is_cut_in_a_character_and_a_call_without_an_index(
    server: RunningServer, model: ScriptedModelServer, api: str
) -> None:
    if api != "chat":
        pytest.skip("forms of chat completions")
    function = {"name": "listKernels", "arguments": "{}"}
    call = {"id": "call_a", "type": "function", "function": function}
    ends = [chunk({}, finish_reason="tool_calls"), {**chunk({}), "choices": [], "usage": USAGE}]
    text = stream([chunk({"content": "答え"}), chunk({}, finish_reason="stop")])
    at = text.index("答".encode()) + 1
    model.script(
        Raw([stream([chunk({"tool_calls": [call]}), *ends], newline="\r\n")]),
        Raw([text[:at], text[at:]], delay_ms=50),
    )
    events = ask(server)
    [final] = of_type(events, "final_reply")
    assert final["text"] == "答え"
    assert [each["status"] for each in of_type(events, "tool_call_output")] == ["ok"]
    assert len(model.requests) == 2
