"""How often a model is asked in one turn: as often as its answers are certainly incomplete."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.models.test_odd_streams import ENDED, TEXT, USAGE, WHOLE_TEXTS, chunk, stream
from tests.support.jupyter import RunningServer
from tests.support.model_request import RecordedRequest
from tests.support.model_server import (
    Answer,
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
from tests.support.model_wire import ResponsesWire, error_frame
from tests.support.planning import of_type, submit


@pytest.fixture(scope="module")
def server(server_of_api: RunningServer) -> RunningServer:
    return server_of_api


def ask(server: RunningServer, model: str | None = None, **more: Any) -> list[dict[str, Any]]:
    body = {"message": "go", "mode": "agent", "model": model and f"openai/{model}", **more}
    return list(server.stream("chat/stream", body))


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
    "a key within the stream": StreamError("No such key.", Say("It is"), code="invalid_api_key"),
    "400 within the stream": StreamError("Not so.", Say("It is"), code="invalid_prompt", after=1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_server_refuses_is_not_asked_for_again(
    server: RunningServer, model: ScriptedModelServer, api: str, name: str
) -> None:
    step = REFUSED[name]
    model.script(*[step] * 2)
    events = ask(server)
    [error] = of_type(events, "error")
    assert events[-1]["type"] == "turn_aborted"
    assert len(model.requests) == 1
    assert ("asks for payment" in error["message"]) == name.startswith("402")
    if isinstance(step, StreamError):
        assert error["message"].endswith(f"It reported: {step.message}")


@pytest.mark.parametrize("kind", ["error", "response.failed"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_error_event_of_any_form_ends_with_its_own_words(
    server: RunningServer, model: ScriptedModelServer, api: str, kind: str, newline: str
) -> None:
    if api != "responses":
        pytest.skip("events of the Responses API")
    # Longer than what arrives at once, and quoting such an event.
    error = {"code": "invalid_prompt", "message": 'No {"type": "error"} please.'}
    reported: dict[str, Any] = {"error": {**error, "type": "invalid_request_error"}}
    if kind == "response.failed":
        reported = {"response": {"id": "r", "instructions": "x" * 100_000, "error": error}}
    data = json.dumps({"type": kind, **reported})
    event = f"event: {kind}{newline}data: {data}{newline * 2}".encode()
    half = len(event) // 2
    model.script(Raw([event[:half], event[half:]], delay_ms=20))
    [shown] = of_type(ask(server), "error")
    assert shown["message"].endswith('It reported: No {"type": "error"} please.')
    assert len(model.requests) == 1


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


def test_a_server_that_ends_its_answers_without_a_word_is_asked_twice_then_once(
    server: RunningServer, model: ScriptedModelServer, api: str
) -> None:
    if api != "chat":
        pytest.skip("forms of chat completions")
    silent = NoFinish(Say(TEXT), done=False)
    model.set_default(silent)
    for name, asked in (("silent", 2), ("silent", 1), ("other", 2)):
        model.requests.clear()
        [final] = of_type(ask(server, name), "final_reply")
        assert (final["text"], final.get("incomplete")) == (TEXT, None)
        assert len(model.requests) == asked


def test_an_end_without_a_word_of_a_server_that_says_its_ends_is_marked(
    server: RunningServer, model: ScriptedModelServer, api: str
) -> None:
    if api != "chat":
        pytest.skip("forms of chat completions")
    model.script(Say("Well."), *[NoFinish(Say(TEXT), done=False)] * 2)
    ask(server, "speaking")
    events = ask(server, "speaking")
    [final] = of_type(events, "final_reply")
    assert (final["text"], final["incomplete"]["reason"]) == (TEXT, "connection_lost")
    [warning] = of_type(events, "warning")
    assert warning["message"] == final["incomplete"]["message"]
    assert len(model.requests) == 3


AFTER_A_MESSAGE = ("the body ends", "the connection is lost", "an error that may pass")


def after_a_message(how: str) -> Step:
    """A message that is whole, and then this, before the event that ends an answer."""

    def step(request: RecordedRequest) -> Raw:
        frames = list(ResponsesWire(request, Answer([Say(TEXT)])).stream(finish=False))
        if how == "an error that may pass":
            frames.append(error_frame("Overloaded.", "server_error", request))
        sent = b"".join(frame.encode() for frame in frames)
        return Raw([sent], cut=how == "the connection is lost")

    return step


@pytest.mark.parametrize("how", AFTER_A_MESSAGE)
def test_a_message_that_was_seen_whole_is_not_asked_for_again(
    server: RunningServer, model: ScriptedModelServer, api: str, how: str
) -> None:
    if api != "responses":
        pytest.skip("chunks of chat completions do not say that a message is whole")
    session = server.post("sessions", {})["id"]
    model.script(after_a_message(how))
    events = ask(server, sessionId=session)
    [final] = of_type(events, "final_reply")
    assert (final["text"], final["incomplete"]["reason"]) == (TEXT, "connection_lost")
    assert len(model.requests) == 1
    # The next message follows on it.
    model.script(Say("More."))
    ask(server, sessionId=session)
    assert TEXT in model.requests[1].text


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
