"""Answers that come whole, over both APIs, streamed and not: real HTTP, real litellm."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from jupyter_datalayer_agent.models import (
    FunctionCallStarted,
    ItemDone,
    StreamStarted,
    TextChunk,
    provider_arguments,
)
from jupyter_datalayer_agent.models.chat_messages import ItemMapper
from tests.models.calls import APIS, HELLO, TOOL, answer, model, request
from tests.support.model_server import (
    Answer,
    Call,
    Calls,
    Empty,
    Gate,
    Reasoning,
    Say,
    ScriptedModelServer,
    Status,
    TokenCounts,
)

both_apis = pytest.mark.parametrize("api", APIS)
streamed_or_not = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@both_apis
@streamed_or_not
async def test_text_arrives_with_its_item_and_its_usage(api: str, stream: bool) -> None:
    usage = TokenCounts(input=100, output=20, cached=64)
    with ScriptedModelServer(Answer([Say("The mean is 104.5.")], usage=usage)) as server:
        answered = await answer(request(server, api, stream=stream))
        assert server.requests[0].stream is stream
    assert answered.text == "The mean is 104.5."
    assert isinstance(answered.events[0], StreamStarted)
    (item,) = answered.done.items
    assert item["role"] == "assistant"
    assert item["content"][0]["text"] == "The mean is 104.5."
    used = answered.done.usage
    assert (used.input_tokens, used.output_tokens, used.cached_tokens) == (100, 20, 64)
    assert used.total_tokens == 120
    assert answered.done.finish_reason == "stop"


@both_apis
@streamed_or_not
async def test_parallel_calls_keep_their_order_ids_and_arguments(api: str, stream: bool) -> None:
    calls = [Call("add", {"x": 1}, "call_a"), Call("add", {"x": 2}, "call_b")]
    with ScriptedModelServer(Calls(calls, text="Adding.")) as server:
        answered = await answer(request(server, api, stream=stream))
    found = [item for item in answered.done.items if item["type"] == "function_call"]
    assert [(call["call_id"], call["arguments"]) for call in found] == [
        ("call_a", '{"x": 1}'),
        ("call_b", '{"x": 2}'),
    ]
    assert {call["name"] for call in found} == {"add"}
    assert answered.text == "Adding."
    if stream:
        started = answered.of(FunctionCallStarted)
        assert [event.call_id for event in started] == ["call_a", "call_b"]
        assert {event.name for event in started} == {"add"}


@both_apis
async def test_broken_arguments_of_a_whole_answer_are_passed_on_as_they_are(api: str) -> None:
    with ScriptedModelServer(Call("add", '{"x": 1,', "call_a")) as server:
        answered = await answer(request(server, api))
    (call,) = answered.done.items
    assert call["arguments"] == '{"x": 1,'


@both_apis
@streamed_or_not
async def test_an_empty_answer_is_complete_and_has_no_items(api: str, stream: bool) -> None:
    with ScriptedModelServer(Empty()) as server:
        answered = await answer(request(server, api, stream=stream))
    assert answered.done.items == ()
    assert not answered.of(ItemDone)


@both_apis
@streamed_or_not
async def test_an_answer_cut_by_its_limit_says_so(api: str, stream: bool) -> None:
    with ScriptedModelServer(Answer([Say("Once upon")], finish="length")) as server:
        answered = await answer(request(server, api, stream=stream))
    assert answered.done.finish_reason == "max_output_tokens"
    assert answered.text == "Once upon"


@both_apis
@streamed_or_not
async def test_reasoning_is_an_item_of_its_own(api: str, stream: bool) -> None:
    step = Answer([Reasoning("Let me see."), Say("Yes.")])
    with ScriptedModelServer(step) as server:
        answered = await answer(request(server, api, stream=stream))
    reasoning, message = answered.done.items
    assert reasoning["type"] == "reasoning"
    assert reasoning["summary"] == [{"type": "summary_text", "text": "Let me see."}]
    assert "content" not in reasoning
    assert message["type"] == "message"
    assert answered.text == "Yes."
    if stream:
        assert answered.reasoning == "Let me see."


@pytest.fixture(params=["OpenAI's own", "a server like it"])
def _own(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the scripted server in OpenAI's place, and as one at an address of its own."""
    if request.param == "OpenAI's own":
        monkeypatch.setattr(provider_arguments, "_OPENAI_HOST", "http://127.0.0.1")


@pytest.mark.usefixtures("_own")
async def test_encrypted_reasoning_is_requested_and_sent_back_whole() -> None:
    step = Answer([Reasoning("Hm.", encrypted="opaque"), Call("add", {"x": 1}, "call_a")])
    with ScriptedModelServer(step, Say("Done.")) as server:
        asked = request(server, "responses", model="openai/gpt-5.3-codex")
        first = await answer(asked)
        output = {"type": "function_call_output", "call_id": "call_a", "output": "1"}
        await answer(
            request(
                server,
                "responses",
                model="openai/gpt-5.3-codex",
                input=[*HELLO, *first.done.items, output],
                tools=[TOOL],
                tool_choice="auto",
                mapper=ItemMapper(),
            )
        )
        assert server.requests[1].body["tools"][0]["name"] == "add"
        assert server.requests[1].body["tool_choice"] == "auto"
        assert server.requests[0].body["include"] == ["reasoning.encrypted_content"]
        assert server.requests[0].body["store"] is False
        _, reasoning, call, result = server.requests[1].items
    assert reasoning["encrypted_content"] == "opaque"
    assert reasoning["id"] == first.done.items[0]["id"]
    assert "id" not in call
    assert (call["call_id"], result["call_id"]) == ("call_a", "call_a")


@pytest.mark.usefixtures("_own")
async def test_reasoning_that_the_model_cannot_read_is_left_out_in_a_second_try() -> None:
    refusal = {"error": {"message": "The encrypted content could not be verified."}}
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "other"}
    with ScriptedModelServer(Status(400, body=refusal), Say("Fine.")) as server:
        answered = await answer(request(server, "responses", input=[reasoning, *HELLO]))
        assert [len(received.items) for received in server.requests] == [2, 1]
    assert answered.text == "Fine."


@both_apis
async def test_items_of_one_api_can_be_sent_over_the_other(api: str) -> None:
    other = APIS[1 - APIS.index(api)]
    calls = Calls(
        [Call("add", {"x": 1}, "call_a"), Call("add", {"x": 2}, "call_b")], text="Adding."
    )
    with ScriptedModelServer(Answer([Reasoning("Hm."), *calls.parts]), Say("3")) as server:
        first = await answer(request(server, api))
        outputs = [
            {"type": "function_call_output", "call_id": call_id, "output": text}
            for call_id, text in (("call_a", "1"), ("call_b", "2"))
        ]
        second = await answer(request(server, other, input=[*HELLO, *first.done.items, *outputs]))
        received = server.requests[1]
    assert second.text == "3"
    assert received.tool_outputs == {"call_a": "1", "call_b": "2"}
    assert "Adding." in received.text


@both_apis
async def test_a_model_that_no_price_list_knows_streams_natively(api: str) -> None:
    with ScriptedModelServer(Gate(Say("first second", chunk=5), after=1)) as server:
        asked = request(server, api, model="openai/never-heard-of-it")
        async with contextlib.aclosing(model().stream(asked)) as events:
            async for event in events:
                if isinstance(event, TextChunk):
                    assert event.delta == "first"
                    break
            assert server.requests[0].outcome is None, "the server was still in mid-answer"
            server.release()
            rest = [event.delta async for event in events if isinstance(event, TextChunk)]
        assert server.requests[0].stream is True
    assert "".join(rest) == " second"


@both_apis
async def test_closing_the_stream_disconnects_at_once(api: str) -> None:
    with ScriptedModelServer(Gate(Say("first second", chunk=5), after=1)) as server:
        async with contextlib.aclosing(model().stream(request(server, api))) as events:
            async for event in events:
                if isinstance(event, TextChunk):
                    break
        await server.wait_until(server.answered(0, "disconnected"), timeout=2)


@both_apis
async def test_cancelling_the_consumer_disconnects_at_once(api: str) -> None:
    seen = asyncio.Event()
    with ScriptedModelServer(Gate(Say("first second", chunk=5), after=1)) as server:

        async def consume() -> None:
            async for event in model().stream(request(server, api)):
                if isinstance(event, TextChunk):
                    seen.set()

        task = asyncio.create_task(consume())
        await asyncio.wait_for(seen.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.wait_until(server.answered(0, "disconnected"), timeout=2)


@both_apis
async def test_cancelling_before_the_answer_begins_disconnects_too(api: str) -> None:
    with ScriptedModelServer(Gate(Say("late"), after=0)) as server:
        task = asyncio.create_task(answer(request(server, api)))
        await server.wait_until(server.at_gate, timeout=30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.wait_until(server.answered(0, "disconnected"), timeout=2)


@both_apis
async def test_settings_reach_the_server_and_unset_ones_do_not(api: str) -> None:
    with ScriptedModelServer(Say("a"), Say("b")) as server:
        await answer(
            request(
                server,
                api,
                temperature=0.1,
                top_p=0.9,
                max_output_tokens=77,
                parallel_tool_calls=False,
                tool_choice="required",
            )
        )
        await answer(request(server, api))
        full, bare = (received.body for received in server.requests)
    limit = "max_tokens" if api == "chat" else "max_output_tokens"
    assert (full["temperature"], full["top_p"], full[limit]) == (0.1, 0.9, 77)
    assert (full["parallel_tool_calls"], full["tool_choice"]) == (False, "required")
    assert not {"temperature", "top_p", limit, "parallel_tool_calls", "tool_choice"} & set(bare)


@both_apis
async def test_instructions_come_first_and_tools_keep_their_schema(api: str) -> None:
    with ScriptedModelServer(Say("a")) as server:
        await answer(request(server, api))
        received = server.requests[0]
    assert received.tool_names == ["add"]
    assert received.text.startswith("Be brief.")
    assert received.text.endswith("Hello")
