"""Streams that break: never a complete answer, and what was whole is kept."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from openai.types.responses import ResponseError

from jupyter_datalayer_agent.models import ItemDone, TextChunk
from jupyter_datalayer_agent.models.errors import _STATUSES
from jupyter_datalayer_agent.models.litellm_model import idle_timeout
from jupyter_datalayer_agent.models.provider_arguments import ModelRoute
from jupyter_datalayer_agent.models.types import CONNECTION_LOST
from tests.models.calls import APIS, answer, model, request
from tests.support.model_request import RecordedRequest
from tests.support.model_script import Part, Step
from tests.support.model_server import (
    Answer,
    BreakAfter,
    Call,
    Calls,
    DropConnection,
    Gate,
    Hang,
    InvalidJson,
    NoFinish,
    Raw,
    Reasoning,
    Say,
    ScriptedModelServer,
    StreamError,
)
from tests.support.model_wire import Frame, ResponsesWire

both_apis = pytest.mark.parametrize("api", APIS)
TWO_CALLS = [Call("add", {"x": 1}, "call_a"), Call("add", {"x": 2}, "call_b")]


@both_apis
async def test_a_connection_cut_in_mid_text_is_a_broken_stream(api: str) -> None:
    with ScriptedModelServer(BreakAfter(2, Say("one two three", chunk=4))) as server:
        answered = await answer(request(server, api))
    assert answered.failure.code == "broken_stream"
    assert answered.failure.retryable
    assert answered.text == "one two "
    shown = answered.of(TextChunk)[0].item_id
    assert answered.failure.broken.partial_item_ids == (shown,)
    assert answered.failure.broken.items == ()
    assert not answered.of(ItemDone)


async def test_a_stream_without_an_end_is_not_a_whole_answer() -> None:
    with ScriptedModelServer(NoFinish(Say("Half an ans"), done=False)) as server:
        answered = await answer(request(server, "chat"))
    assert answered.failure.code == "broken_stream"
    assert answered.failure.retryable


def frames_of(*parts: Part, phase: str | None = None, then: str | None = None) -> Step:
    """The events of these items over the Responses API without the one that ends an answer;
    ``then`` an item of this type is begun."""

    def step(asked: RecordedRequest) -> Raw:
        frames = list(ResponsesWire(asked, Answer(parts)).stream(finish=False))
        for frame in frames:
            assert isinstance(frame.data, dict)
            if phase is not None and "item" in frame.data:
                frame.data["item"]["phase"] = phase
        if then is not None:
            item = {"id": "x", "type": then, "name": "add", "call_id": "c", "arguments": ""}
            added = {"type": "response.output_item.added", "output_index": 9, "item": item}
            frames.append(Frame(added, event="response.output_item.added"))
        return Raw([b"".join(frame.encode() for frame in frames)])

    return step


@pytest.mark.parametrize(
    ("step", "is_kept"),
    [
        (frames_of(Say("All of it.")), True),
        (frames_of(Reasoning("Hm."), Say("All of it.")), True),
        (frames_of(Say("<think>Hm.</think>All of it.")), True),
        (frames_of(Say("All of it."), phase="final_answer"), True),
        (frames_of(Say("I look."), phase="commentary"), False),
        (frames_of(Say("I look."), then="function_call"), False),
        (frames_of(Say("I look."), then="message"), False),
        (frames_of(Say("I look."), Reasoning("Hm.")), False),
        (frames_of(Say("I look."), Call("add", {"x": 1})), False),
        (frames_of(Reasoning("Hm.")), False),
        (frames_of(Say("<think>Hm.")), False),
        (frames_of(), False),
    ],
)
async def test_a_message_that_was_shown_whole_is_kept_where_nothing_was_begun_after_it(
    step: Step, is_kept: bool
) -> None:
    with ScriptedModelServer(step) as server:
        answered = await answer(request(server, "responses"))
    if is_kept:
        assert (answered.text, answered.done.finish_reason) == ("All of it.", CONNECTION_LOST)
    else:
        assert answered.failure.code == "broken_stream"


@both_apis
async def test_a_cut_after_a_whole_call_keeps_text_and_call(api: str) -> None:
    # Pieces: the text, the first call (one over Responses, name and arguments over chat), and the
    # beginning of the second.
    pieces = {"responses": 3, "chat": 5}[api]
    step = Calls([TWO_CALLS[0], Call("add", {"x": 22222222222}, "call_b")], text="Adding.")
    with ScriptedModelServer(BreakAfter(pieces, step)) as server:
        answered = await answer(request(server, api))
    assert answered.failure.code == "broken_stream"
    message, call = answered.failure.broken.items
    assert message["content"][0]["text"] == "Adding."
    assert (call["call_id"], call["arguments"]) == ("call_a", '{"x": 1}')
    assert len(answered.failure.broken.partial_item_ids) == 1


@both_apis
async def test_a_call_with_half_its_arguments_does_not_count(api: str) -> None:
    pieces = {"responses": 1, "chat": 2}[api]
    with ScriptedModelServer(BreakAfter(pieces, Call("add", {"x": 123456789012345}))) as server:
        answered = await answer(request(server, api))
    assert answered.failure.broken.items == ()
    assert len(answered.failure.broken.partial_item_ids) == 1


@both_apis
async def test_a_call_without_a_finish_does_not_count_unless_it_is_valid(api: str) -> None:
    step = Calls([TWO_CALLS[0], Call("add", '{"x": 2', "call_b")])
    with ScriptedModelServer(NoFinish(step)) as server:
        answered = await answer(request(server, api))
    whole = [item["call_id"] for item in answered.failure.broken.items]
    assert whole == (["call_a"] if api == "chat" else ["call_a", "call_b"])


@both_apis
async def test_an_error_in_mid_stream_is_a_broken_stream(api: str) -> None:
    with ScriptedModelServer(StreamError("overloaded", Say("one two"), after=1)) as server:
        answered = await answer(request(server, api))
    assert answered.failure.code == "broken_stream"
    assert answered.failure.retryable


@both_apis
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("402", "payment"),
        ("401", "authentication"),
        ("invalid_api_key", "authentication"),
        ("billing_not_active", "payment"),
        ("invalid_prompt", "bad_request"),
        ("insufficient_quota", "payment"),
        ("rate_limit_exceeded", "rate_limit"),
        ("server_error", "broken_stream"),
        ("of_no_document", "broken_stream"),
    ],
)
async def test_an_error_in_mid_stream_keeps_its_code_and_its_words(
    api: str, code: str, expected: str
) -> None:
    step = StreamError("Not today.", Say("one two"), code=code, after=1)
    with ScriptedModelServer(step) as server:
        answered = await answer(request(server, api))
    assert answered.failure.code == expected
    assert "Not today." in answered.failure.message
    may_pass = code in ("rate_limit_exceeded", "server_error", "of_no_document")
    assert answered.failure.retryable == may_pass


async def test_a_response_that_failed_is_an_error_where_it_is_not_streamed() -> None:
    failed = {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "status": "failed",
        "model": "m",
        "output": [],
        "error": {"code": "invalid_prompt", "message": "Not today."},
        "parallel_tool_calls": True,
        "tools": [],
        "tool_choice": "auto",
    }
    body = Raw([json.dumps(failed).encode()], content_type="application/json")
    with ScriptedModelServer(body) as server:
        answered = await answer(request(server, "responses", stream=False))
    assert answered.failure.code == "bad_request"
    assert answered.failure.message.endswith("It reported: Not today.")


def test_each_code_that_a_response_can_fail_with_is_known() -> None:
    documented = set(get_args(ResponseError.model_fields["code"].annotation))
    assert documented - set(_STATUSES) <= {"server_error", "vector_store_timeout"}


@both_apis
async def test_what_is_not_json_is_a_broken_stream(api: str) -> None:
    with ScriptedModelServer(InvalidJson()) as server:
        answered = await answer(request(server, api))
    assert answered.failure.code == "broken_stream"


@both_apis
async def test_a_stream_that_falls_silent_counts_as_broken(api: str) -> None:
    with ScriptedModelServer(Gate(Say("one two", chunk=3), after=1)) as server:
        answered = await answer(request(server, api), model(idle_timeout=0.5))
        await server.wait_until(server.answered(0, "disconnected"), timeout=2)
    assert answered.text == "one"
    assert answered.failure.code == "broken_stream"
    assert answered.failure.retryable
    assert answered.failure.broken.partial_item_ids


@both_apis
async def test_a_server_that_never_answers_is_given_up(api: str) -> None:
    with ScriptedModelServer(Hang(60)) as server:
        answered = await answer(request(server, api), model(idle_timeout=0.5))
        await server.wait_until(server.answered(0, "disconnected"), timeout=2)
    assert answered.failure.retryable
    assert "0.5 seconds" in answered.failure.message


@pytest.mark.parametrize(
    ("name", "api_base", "seconds"),
    [
        ("openai/m", None, 300),
        ("openai/m", "https://127.example.com/v1", 300),
        ("openai/m", "http://192.168.0.7:8000/v1", 300),
        ("openai/m", "http://127.0.0.1:8000/v1", 3600),
        ("openai/m", "http://localhost:1234/v1", 3600),
        ("openai/m", "http://[::1]:1234/v1", 3600),
        ("ollama_chat/m", None, 3600),
        ("ollama_chat/m", "https://ollama.example.com", 300),
    ],
)
def test_a_model_on_this_computer_may_read_for_longer(
    name: str, api_base: str | None, seconds: float
) -> None:
    assert idle_timeout(ModelRoute(name, None, api_base, responses=False)) == seconds


@both_apis
async def test_a_dropped_connection_can_be_retried(api: str) -> None:
    with ScriptedModelServer(DropConnection(), Say("Here.")) as server:
        failed = await answer(request(server, api))
        assert len(server.requests) == 1, "nobody but the turn loop retries"
        again = await answer(request(server, api))
    assert failed.failure.code == "connection"
    assert failed.failure.retryable
    assert again.text == "Here."
