"""Answers in forms that servers really send, and openai's client does not expect: one request
each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.models.calls import answer, model, request
from tests.support.model_server import (
    Call,
    Calls,
    Deltas,
    NoFinish,
    Raw,
    Say,
    ScriptedModelServer,
    Step,
)

TEXT = "The answer is 42: déjà vu, 答え."


def chunk(delta: dict[str, Any], **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": None, **more}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [choice]}  # fmt: skip


def stream(chunks: list[dict[str, Any]], newline: str = "\n", done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(each, ensure_ascii=False)}" for each in chunks]
    lines += ["data: [DONE]"] if done else []
    return "".join(f"{line}{newline}{newline}" for line in lines).encode()


TEXT_CHUNKS = [chunk({"role": "assistant", "content": ""}), *(chunk({"content": c}) for c in TEXT)]
ENDED = [*TEXT_CHUNKS, chunk({}, finish_reason="stop")]
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def with_comments() -> bytes:
    parts = stream(ENDED).split(b"\n\n")
    return b": keep-alive\n\n" + b"\n\n: OPENROUTER PROCESSING\n\n\n".join(parts)


WHOLE_TEXTS: dict[str, Step] = {
    "DONE without a reason": NoFinish(Say(TEXT)),
    "an empty reason": Raw([stream([*TEXT_CHUNKS, chunk({}, finish_reason="")])]),
    "no DONE after the reason": Raw([stream(ENDED, done=False)]),
    "one JSON body": Raw(
        [
            json.dumps(
                {
                    "id": "c",
                    "object": "chat.completion",
                    "created": 1,
                    "model": "m",
                    "choices": [
                        {
                            "index": 0,
                            "message": {"role": "assistant", "content": TEXT},
                            "finish_reason": "stop",
                        }
                    ],
                    "usage": USAGE,
                }
            ).encode()
        ],
        content_type="application/json",
    ),
    "CR LF": Raw([stream(ENDED, newline="\r\n")]),
    "comments and blank lines": Raw([with_comments()]),
    "bytes one by one": Raw([bytes([each]) for each in stream(ENDED[:4] + ENDED[-1:])]),
    "plain text as its type": Raw([stream(ENDED)], content_type="text/plain"),
    "usage in every chunk": Raw([stream([{**each, "usage": USAGE} for each in ENDED])]),
    "usage twice": Raw([stream([*ENDED, {**chunk({}), "choices": [], "usage": USAGE}] * 1
                               + [{**chunk({}), "choices": [], "usage": USAGE}])]),
    "usage that is null": Raw([stream([{**each, "usage": None} for each in ENDED])]),
    "choices that are missing": Raw([stream([{**ENDED[0], "choices": []}, *ENDED])]),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE_TEXTS)
async def test_an_answer_in_an_odd_form_is_whole(name: str) -> None:
    with ScriptedModelServer(WHOLE_TEXTS[name]) as server:
        answered = await answer(request(server, "chat"))
        assert len(server.requests) == 1
    expected = TEXT[:3] if name == "bytes one by one" else TEXT
    assert answered.error is None, answered.error
    assert answered.text == expected
    assert answered.done.usage.total_tokens > 0
    if "usage" in name and "null" not in name:
        assert answered.done.usage.output_tokens == 7


async def test_equal_pieces_are_no_error() -> None:
    """litellm takes a hundred for a model in a loop, and for a server's fault."""
    rule = "-----" * 200
    with ScriptedModelServer(Say(rule, chunk=5)) as server:
        answered = await answer(request(server, "chat"))
        assert len(server.requests) == 1
    assert answered.text == rule


@pytest.mark.parametrize("done", [True, False])
async def test_a_call_that_is_cut_off_is_not_whole_although_the_stream_is_done(done: bool) -> None:
    step = NoFinish(
        Calls([Call("add", {"x": 1}, "call_a"), Call("add", '{"x": 2', "call_b")]), done
    )
    with ScriptedModelServer(step) as server:
        answered = await answer(request(server, "chat"))
    assert answered.failure.code == "broken_stream"


async def test_a_whole_call_counts_where_the_stream_is_only_done() -> None:
    with ScriptedModelServer(NoFinish(Call("add", {"x": 1}, "call_a"))) as server:
        answered = await answer(request(server, "chat"))
    assert [item["arguments"] for item in answered.done.items] == ['{"x": 1}']


async def test_a_text_that_quotes_the_end_is_not_ended() -> None:
    step = NoFinish(Say('It sends\n\ndata: [DONE]\n\nat the end, and "data: [DONE]"'), done=False)
    with ScriptedModelServer(step) as server:
        answered = await answer(request(server, "chat"))
    assert answered.failure.code == "broken_stream"


PAGES = {
    "HTML": b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>",
    "HTML after blank lines": b"\n\n  <html><body>Sign in</body></html>",
}


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("page", PAGES)
async def test_a_web_page_is_said_to_be_one(page: str, streamed: bool) -> None:
    with ScriptedModelServer(Raw([PAGES[page]], content_type="text/html")) as server:
        answered = await answer(request(server, "chat", stream=streamed))
        assert len(server.requests) == 1
    assert answered.failure.code == "bad_request"
    assert not answered.failure.retryable
    assert "answers with a web page" in answered.failure.message


async def test_an_error_in_a_json_body_instead_of_a_stream_is_reported() -> None:
    body = json.dumps({"error": {"message": "No such model.", "code": 404}}).encode()
    with ScriptedModelServer(Raw([body], content_type="application/json")) as server:
        answered = await answer(request(server, "chat"))
    assert "No such model." in answered.failure.message


async def test_comments_keep_a_stream_alive() -> None:
    pieces = [b": keep-alive\n\n"] * 6 + [stream(ENDED)]
    with ScriptedModelServer(Raw(pieces, delay_ms=250)) as server:
        answered = await answer(request(server, "chat"), model(idle_timeout=1))
    assert answered.text == TEXT


def pieces(ids: Iterator[str], *, name_again: bool, index: int | None) -> list[dict[str, Any]]:
    """One call in three chunks."""
    found = []
    for place, written in enumerate(['{"x"', ": 4", "2}"]):
        function = {"arguments": written}
        if place == 0 or name_again:
            function["name"] = "add"
        call: dict[str, Any] = {"id": next(ids), "type": "function", "function": function}
        if index is not None:
            call["index"] = index
        found.append({"tool_calls": [call]})
    return found


@pytest.mark.parametrize("name_again", [True, False])
@pytest.mark.parametrize("index", [0, None])
async def test_a_call_with_a_new_id_in_each_chunk_is_one_call(
    name_again: bool, index: int | None
) -> None:
    deltas = pieces(iter(["call_1", "call_2", "call_3"]), name_again=name_again, index=index)
    with ScriptedModelServer(Deltas(deltas)) as server:
        answered = await answer(request(server, "chat"))
    calls = [(item["name"], item["arguments"]) for item in answered.done.items]
    assert calls == [("add", '{"x": 42}')]


async def test_comments_alone_are_waited_for_as_long_as_the_user_says() -> None:
    # Each is a sign of life, so silence is not what ends it.
    pieces = [b": keep-alive\n\n"] * 40
    with ScriptedModelServer(Raw(pieces, delay_ms=100)) as server:
        asked = request(server, "chat", answer_timeout=1)
        answered = await answer(asked, model(idle_timeout=20))
        assert len(server.requests) == 1
    assert "answer_timeout_seconds" in answered.failure.message
    assert not answered.failure.retryable


async def test_the_time_for_an_answer_begins_anew_with_each_part_of_it() -> None:
    parts = [f"data: {json.dumps(each)}\n\n".encode() for each in ENDED[:12]]
    pieces = [b": keep-alive\n\n" + part for part in parts] + [stream([ENDED[-1]])]
    with ScriptedModelServer(Raw(pieces, delay_ms=200)) as server:
        answered = await answer(request(server, "chat", answer_timeout=1.5))
    assert answered.text == TEXT[:11]


@pytest.mark.parametrize("reason", ["stop", "length"])
async def test_a_connection_that_is_lost_after_the_end_lost_nothing(reason: str) -> None:
    whole = stream([*TEXT_CHUNKS, chunk({}, finish_reason=reason)], done=False)
    error = b'data: {"error": {"message": "gone", "code": 502}}\n\n'
    with ScriptedModelServer(Raw([whole + error])) as server:
        answered = await answer(request(server, "chat"))
    assert answered.error is None, answered.error
    assert answered.text == TEXT
    expected = {"stop": "stop", "length": "max_output_tokens"}[reason]
    assert answered.done.finish_reason == expected


def response_body(output: list[dict[str, Any]], **more: Any) -> Raw:
    """An answer of the Responses API in one piece."""
    body = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m",
            "status": "completed", "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
            "usage": {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}}  # fmt: skip
    return Raw(
        [json.dumps({**body, "output": output, **more}).encode()],
        content_type="application/json",
    )


def said(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
            "content": list(parts)}  # fmt: skip


SPOKEN = said({"type": "output_text", "text": TEXT, "annotations": []})
CALLED = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "add",
          "arguments": '{"x": 42}', "status": "completed"}  # fmt: skip
THOUGHT = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}


async def test_one_json_body_of_the_responses_api_is_an_answer() -> None:
    with ScriptedModelServer(response_body([THOUGHT, SPOKEN, CALLED])) as server:
        answered = await answer(request(server, "responses"))
        assert len(server.requests) == 1
    assert answered.error is None, answered.error
    assert answered.text == TEXT
    items = answered.done.items
    assert [item["type"] for item in items] == ["reasoning", "message", "function_call"]
    assert (items[2]["call_id"], items[2]["arguments"]) == ("call_1", '{"x": 42}')
    assert (answered.done.finish_reason, answered.done.usage.output_tokens) == ("stop", 7)


async def test_a_refusal_in_one_json_body_is_shown() -> None:
    refusal = {"type": "refusal", "refusal": "I can't help with that."}
    with ScriptedModelServer(response_body([said(refusal)])) as server:
        answered = await answer(request(server, "responses"))
    assert answered.text == "I can't help with that."


async def test_one_json_body_that_was_cut_at_the_limit_says_so() -> None:
    cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    with ScriptedModelServer(response_body([SPOKEN], **cut)) as server:
        answered = await answer(request(server, "responses"))
        assert len(server.requests) == 1
    assert (answered.text, answered.done.finish_reason) == (TEXT, "max_output_tokens")


@pytest.mark.parametrize("is_alone", [True, False])
async def test_an_error_in_one_json_body_of_the_responses_api_is_reported(is_alone: bool) -> None:
    error = {"error": {"message": "No such model.", "code": "model_not_found"}}
    alone = Raw([json.dumps(error).encode()], content_type="application/json")
    step = alone if is_alone else response_body([], status="failed", **error)
    with ScriptedModelServer(step) as server:
        answered = await answer(request(server, "responses"))
        assert len(server.requests) == 1
    assert "No such model." in answered.failure.message
    assert not answered.failure.retryable
