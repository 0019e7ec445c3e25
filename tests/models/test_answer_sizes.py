"""Streams that are longer than what is read of an answer, whatever they say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_datalayer_agent.models import TextChunk, stream_bytes
from jupyter_datalayer_agent.models.stream_bytes import with_joined_text
from jupyter_datalayer_agent.models.types import SIZE_LIMIT
from tests.models.calls import APIS, answer, model, request
from tests.support.model_server import Say, ScriptedModelServer

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


async def test_small_pieces_that_arrive_together_are_read_together() -> None:
    text = "".join(f"{number:06} \U0001f600" for number in range(4_000))
    with ScriptedModelServer(Say(text, chunk=4)) as server:
        answered = await answer(request(server, "chat"), model())
    assert answered.text == text
    # litellm would take half a millisecond for each.
    assert len(answered.of(TextChunk)) < len(text) / 4 / 4


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
