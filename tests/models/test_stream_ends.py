"""Streams of chat completions that end without a word: neither a reason nor ``[DONE]``."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import socket
import struct
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from jupyter_datalayer_agent.models import LitellmModel
from tests.models.calls import HELLO, Answered, answer, model, request
from tests.models.test_odd_streams import TEXT_CHUNKS, stream
from tests.support.model_routes import READING_TIME
from tests.support.model_server import (
    Answer,
    BreakAfter,
    Call,
    Calls,
    Empty,
    NoFinish,
    Reasoning,
    Say,
    ScriptedModelServer,
    Step,
)

SILENT = NoFinish(Say("The answer."), done=False)
WITH_REASON = Say("The answer.")


async def ends_of(steps: list[Step], by: LitellmModel | None = None) -> list[str]:
    """How each of these answers of one server counts: its finish reason, or its error."""
    by = by or model()
    with ScriptedModelServer(*steps) as server:
        return [end_of(await answer(request(server, "chat"), by)) for _ in steps]


def end_of(answered: Answered) -> str:
    return answered.done.finish_reason if answered.error is None else answered.failure.code


@pytest.mark.parametrize(
    ("steps", "ends"),
    [
        # The second is the server's way, and so is each after it.
        ([SILENT] * 4, ["broken_stream", "stop", "stop", "stop"]),
        # A server that says its ends did not say this one: it counts, and is marked.
        (
            [WITH_REASON, SILENT, SILENT, SILENT],
            ["stop", "broken_stream", "connection_lost", "connection_lost"],
        ),
        ([SILENT, WITH_REASON] * 2, ["broken_stream", "stop"] * 2),
        (
            [SILENT, SILENT, WITH_REASON, SILENT, SILENT],
            ["broken_stream", "stop", "stop", "broken_stream", "connection_lost"],
        ),
        # One that broke off says nothing of how the server ends its answers.
        (
            [SILENT, BreakAfter(1, Say("The answer.")), SILENT],
            ["broken_stream", "broken_stream", "stop"],
        ),
    ],
)
async def test_what_an_end_without_a_word_means_is_learnt(
    steps: list[Step], ends: list[str]
) -> None:
    assert await ends_of(steps) == ends


async def test_each_model_of_a_server_has_its_own_way() -> None:
    by = model()
    with ScriptedModelServer(default=SILENT) as server:
        for name, end in (("a", "broken_stream"), ("b", "broken_stream"), ("a", "stop")):
            asked = request(server, "chat", model=f"openai/{name}")
            assert end_of(await answer(asked, by)) == end


INCOMPLETE: dict[str, Step] = {
    "a call without its arguments": Call("add", ""),
    "a call in its arguments": Call("add", '{"x": 4'),
    "a second call in its arguments": Calls([Call("add", {"x": 1}), Call("add", '{"x": ')]),
    "nothing": Empty(),
}


@pytest.mark.parametrize("name", INCOMPLETE)
async def test_what_is_certainly_incomplete_never_counts(name: str) -> None:
    steps: list[Step] = [SILENT, SILENT, NoFinish(INCOMPLETE[name], done=False), SILENT]  # type: ignore[arg-type]
    assert await ends_of(steps) == ["broken_stream", "stop", "broken_stream", "stop"]


async def test_calls_that_are_whole_count_as_an_answer() -> None:
    silent = NoFinish(Call("add", {"x": 1}, "call_a"), done=False)
    with ScriptedModelServer(SILENT, silent) as server:
        by = model()
        await answer(request(server, "chat"), by)
        answered = await answer(request(server, "chat"), by)
    assert [item["arguments"] for item in answered.done.items] == ['{"x": 1}']


@pytest.mark.parametrize("step", [Reasoning("So it"), Say("<think>So it")])
async def test_an_end_in_the_reasoning_is_an_answer_without_text(step: Any) -> None:
    with ScriptedModelServer(SILENT, NoFinish(step, done=False)) as server:
        by = model()
        await answer(request(server, "chat"), by)
        answered = await answer(request(server, "chat"), by)
    assert (answered.text, answered.reasoning) == ("", "So it")
    assert [item["type"] for item in answered.done.items] == ["reasoning"]


async def test_two_answers_at_once_are_asked_for_again_once_at_most() -> None:
    by = model()
    with ScriptedModelServer(default=SILENT) as server:
        asked = [answer(request(server, "chat"), by) for _ in range(2)]
        ends = sorted(map(end_of, await asyncio.gather(*asked)))
        assert ends == ["broken_stream", "stop"]
        assert end_of(await answer(request(server, "chat"), by)) == "stop"


async def test_a_limit_that_was_reached_is_a_reason() -> None:
    cut = Answer([Say("Once upon")], finish="length")
    assert await ends_of([cut, SILENT]) == ["max_output_tokens", "broken_stream"]


BODY = stream(TEXT_CHUNKS[:6], done=False)


def chunked(body: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    return b"transfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n%s" % (len(body), body, end)


def sized(body: bytes, missing: int = 0) -> bytes:
    return b"content-length: %d\r\n\r\n%s" % (len(body) + missing, body)


BODIES: dict[str, tuple[bytes, bool]] = {
    "chunked": (chunked(BODY), True),
    "chunked, without the last chunk": (chunked(BODY, b""), False),
    "chunked, cut in a chunk": (chunked(BODY)[:-40], False),
    "with its length": (sized(BODY), True),
    "shorter than its length": (sized(BODY, missing=10), False),
    # As HTTP/1.0 has it: its end is that of the connection.
    "until the connection closes": (b"connection: close\r\n\r\n" + BODY, True),
    "compressed": (b"content-encoding: gzip\r\n" + chunked(gzip.compress(BODY)), True),
    "compressed, without the last chunk": (
        b"content-encoding: gzip\r\n" + chunked(gzip.compress(BODY), b""),
        False,
    ),
    "reset": (chunked(BODY, b""), False),
}


@contextlib.asynccontextmanager
async def serving(body: bytes, *, reset: bool) -> AsyncIterator[Callable[[], str]]:
    """A server that answers each request with these bytes after the status, and ends the
    connection. Gives its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = next(it for it in head.lower().split(b"\r\n") if it.startswith(b"content-length"))
        await reader.readexactly(int(size.split(b":")[1]))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n" + body)
        await writer.drain()
        if reset:
            # Once it was read: a reset makes the other side forget what it has not read.
            await asyncio.sleep(READING_TIME)
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        yield lambda: f"http://127.0.0.1:{port}/v1"


@pytest.mark.parametrize("name", BODIES)
async def test_a_body_that_is_not_complete_never_counts(name: str) -> None:
    body, is_complete = BODIES[name]
    by = model()
    async with serving(body, reset=name == "reset") as address:
        with ScriptedModelServer() as unused:
            asked = request(unused, "chat", api_base=address(), input=HELLO)
        ends = [end_of(await answer(asked, by)) for _ in range(3)]
    assert ends == ["broken_stream", *["stop" if is_complete else "broken_stream"] * 2]
