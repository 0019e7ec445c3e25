"""Streams that are longer than what is read of an answer, whatever they say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_datalayer_agent.models import ReasoningChunk, TextChunk, stream_bytes
from jupyter_datalayer_agent.models.stream_bytes import StreamBytes, with_joined_text
from jupyter_datalayer_agent.models.types import SIZE_LIMIT
from tests.models.calls import APIS, answer, model, request
from tests.models.matrix.recorded import recordings
from tests.support.model_server import Answer, Call, Raw, Reasoning, Say, ScriptedModelServer

LOWERED = 200_000


@pytest.mark.parametrize("api", APIS)
async def test_an_answer_ends_where_its_bytes_pass_the_limit(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_bytes, "MAX_ANSWER_BYTES", LOWERED)
    text = "".join(f"{number:06} " for number in range(2_000))
    with ScriptedModelServer(Say(text, chunk=4), Say("The next one.")) as server:
        by = model()
        answered = await answer(request(server, api), by)
        after = await answer(request(server, api), by)
    assert answered.done.finish_reason == SIZE_LIMIT
    assert answered.text
    assert text.startswith(answered.text)
    assert len(answered.text) < len(text)
    assert after.text == "The next one."


@pytest.mark.parametrize("api", APIS)
async def test_small_pieces_that_arrive_together_are_read_together(api: str) -> None:
    text = "".join(f"{number:06} \U0001f600" for number in range(4_000))
    arguments = {"path": "a.txt", "content": text}
    parts = Reasoning(text, chunk=4), Say(text, chunk=4), Call("writeFile", arguments, chunk=4)
    with ScriptedModelServer(Answer(parts)) as server:
        answered = await answer(request(server, api), model())
    assert answered.text == text
    assert answered.reasoning == text
    assert [json.loads(call["arguments"]) for call in answered.done.items[2:]] == [arguments]
    # litellm would take up to half a millisecond for each.
    for kind in (TextChunk, ReasoningChunk):
        assert len(answered.of(kind)) < len(text) / 4 / 4


def ended(*ids: str) -> bytes:
    items = [{"id": each, "type": "message", "text": LONG} for each in ids]
    events = [{"type": "response.output_item.done", "item": item} for item in items]
    return b"".join(b"data: " + json.dumps(each).encode() + b"\r\n\r\n" for each in events)


def end(kind: str, *ids: str) -> bytes:
    items = [{"id": each, "type": "message", "text": LONG} for each in ids]
    response = {"usage": {"input_tokens": 1}, "output": items, "status": kind}
    of = {"type": f"response.{kind}", "response": response}
    return f"event: {of['type']}\r\ndata: {json.dumps(of)}\r\n\r\n".encode()


LONG = "a" * 64 * 1024
SAYS_IT = b'data: {"type": "response.output_text.delta", "delta": "response.output_item.done"}\n\n'


@pytest.mark.parametrize("kind", ["completed", "incomplete"])
def test_the_end_of_a_long_answer_leaves_out_the_items_that_were_sent(kind: str) -> None:
    seen = StreamBytes()
    assert seen.note(ended("1", "2")) == ended("1", "2")
    assert seen.note(end(kind, "1", "2")) == end(kind)


@pytest.mark.parametrize(
    ("before", "at_end"),
    [
        (ended("1") + SAYS_IT, end("incomplete", "1", "2")),
        (b"", end("completed", "1")),
        (ended("1"), end("completed", "1")[:-20] + b"\n\n"),
        (ended("1"), end("completed")),
        (
            ended("1"),
            b'data: {"type": "response.completed", "response": "' + LONG.encode() + b'"}\n',
        ),
        (ended("1"), b'data: {"type": "response.completed" ' + LONG.encode() + b"\n"),
    ],
)
def test_an_end_that_has_more_or_is_odd_stays_as_it_is(before: bytes, at_end: bytes) -> None:
    seen = StreamBytes()
    seen.note(before)
    assert seen.note(at_end) == at_end


def event(text: str | None, more: dict[str, Any] | None = None, **delta: Any) -> bytes:
    choice = {"index": 0, "delta": {"content": text, **delta}, "finish_reason": None}
    return b"data: " + json.dumps({"id": "c", "choices": [choice], **(more or {})}).encode()


def test_only_events_that_differ_in_nothing_but_their_text_are_joined() -> None:
    two = [{"index": index, "delta": {"content": "x"}} for index in range(2)]
    others = [
        event("x", role="assistant"),
        event(None, tool_calls=[{"index": 0, "function": {"arguments": "{"}}]),
        event("x", {"usage": {"total_tokens": 1}}),
        event("x", {"usage": {"total_tokens": 2}}),
        event("x", {"choices": two}),
        event("x", {"choices": two}),
        event("x", {"choices": []}),
        b": a comment",
        b"event: ping\n" + event("x"),
        b"data: [DONE]",
        b'data: {"content": 1} and more',
    ]
    half = [json.dumps("\U0001f600")[1:7], json.dumps("\U0001f600")[7:13]]
    halves = [event("?").replace(b"?", each.encode()) for each in half]
    begin, end = b'ces": []}', event("cut off")[:-9]
    parts = [begin, event("a"), event("b"), *others, event("c"), *halves, event("d"), end]
    assert with_joined_text(b"\n\n".join(parts)) == b"\n\n".join(
        [begin, event("ab"), *others, event("c\U0001f600d"), end]
    )
    few = b"\n\n".join([event("a"), event("b"), b""])
    assert with_joined_text(few) == few


def arguments(text: str, index: int = 0, **function: str) -> bytes:
    call = {"index": index, "function": {"arguments": text, **function}}
    return event(None, tool_calls=[call])


def delta(kind: str, text: str, number: int, **more: Any) -> bytes:
    of = {"type": f"response.{kind}.delta", "sequence_number": number, "delta": text, **more}
    return f"event: {of['type']}\ndata: {json.dumps(of)}".encode()


def block(delta: dict[str, Any], index: int = 0) -> bytes:
    """An event of Anthropic's."""
    of = {"type": "content_block_delta", "index": index, "delta": delta}
    return f"event: {of['type']}\ndata: {json.dumps(of)}".encode()


def test_reasoning_arguments_and_events_of_responses_are_joined_each_with_its_own() -> None:
    def parts(*texts: str) -> list[bytes]:
        return [
            *[event(None, reasoning_content=text) for text in texts],
            arguments("{}", name="a"),
            arguments("{}", name="a"),
            *[arguments(text) for text in texts],
            *[arguments(text, 1) for text in texts],
            *[delta("output_text", text, 1, item_id="m", obfuscation=text) for text in texts],
            *[delta("output_text", text, 1, item_id="n", obfuscation="a") for text in texts],
            *[delta("function_call_arguments", text, 1) for text in texts],
            *[block({"type": "text_delta", "text": text}) for text in texts],
            *[block({"type": "thinking_delta", "thinking": text}) for text in texts],
            *[block({"type": "input_json_delta", "partial_json": text}) for text in texts],
            *[block({"type": "input_json_delta", "partial_json": text}, 1) for text in texts],
            block({"type": "signature_delta", "signature": "x"}),
            block({"type": "signature_delta", "signature": "x"}),
            b"event: error\n" + event("x"),
            delta("output_text", "", 1),
        ]

    assert with_joined_text(b"\n\n".join(parts("a", "b", "c"))) == b"\n\n".join(
        [each.replace(b'obfuscation": "abc"', b'obfuscation": "a"') for each in parts("abc")]
    )
    numbered = [delta("reasoning_text", "a", number) for number in range(20)]
    assert with_joined_text(b"\n\n".join(numbered)) == delta("reasoning_text", "a" * 20, 0)


async def test_small_pieces_of_anthropics_api_are_read_together() -> None:
    recording = next(each for each in recordings() if each.title.startswith("Anthropic"))
    texts = [f"{number:04} " for number in range(4_000)]
    with ScriptedModelServer(Raw(recording.answer(texts), recording.content_type)) as server:
        base = server.base_url.removesuffix("/v1")
        asked = request(server, recording.api, model=recording.model, api_base=base)
        answered = await answer(asked, model(environ={recording.key: "sk-test-0123456789abcdef"}))
    assert answered.text == "".join(texts)
    assert len(answered.of(TextChunk)) < len(texts) / 4
