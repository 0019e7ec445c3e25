"""Chat completions as servers really send them, over real HTTP and litellm."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_datalayer_agent.models import FunctionCallStarted, Item
from tests.models.calls import APIS, HELLO, KEY, answer, model, request
from tests.support.model_server import (
    Answer,
    Call,
    Calls,
    Deltas,
    Reasoning,
    Refuse,
    Say,
    ScriptedModelServer,
)


def piece(index: int | None = 0, call_id: str | None = None, **function: str) -> dict[str, Any]:
    call: dict[str, Any] = {"function": function, "type": "function"}
    if index is not None:
        call["index"] = index
    if call_id is not None:
        call["id"] = call_id
    return {"tool_calls": [call]}


async def calls_of(*deltas: dict[str, Any], **more: Any) -> list[tuple[str, str, str]]:
    """Id, name and arguments of the calls that these deltas make."""
    with ScriptedModelServer(Deltas(deltas)) as server:
        answered = await answer(request(server, "chat", **more))
    started = answered.of(FunctionCallStarted)
    items = answered.done.items
    assert [event.call_id for event in started] == [item["call_id"] for item in items]
    return [(item["call_id"], item["name"], item["arguments"]) for item in items]


async def test_calls_are_put_together_by_their_index() -> None:
    found = await calls_of(
        piece(0, "a", name="f", arguments=""),
        piece(1, "b", name="g", arguments=""),
        piece(0, arguments='{"x":'),
        piece(1, arguments="{}"),
        piece(0, arguments=" 1}"),
    )
    assert found == [("a", "f", '{"x": 1}'), ("b", "g", "{}")]


async def test_a_name_that_is_repeated_in_every_piece_is_one_name() -> None:
    found = await calls_of(
        piece(0, "a", name="f", arguments='{"x":'), piece(0, "a", name="f", arguments=" 1}")
    )
    assert found == [("a", "f", '{"x": 1}')]


async def test_calls_that_all_have_the_index_0_are_distinguished_by_their_ids() -> None:
    found = await calls_of(
        piece(0, "a", name="f", arguments="{}"), piece(0, "b", name="f", arguments="{}")
    )
    assert found == [("a", "f", "{}"), ("b", "f", "{}")]


async def test_calls_without_ids_get_ids_of_their_own() -> None:
    first, second = await calls_of(
        piece(None, name="f", arguments='{"x": 1}'), piece(None, name="f", arguments='{"x": 2}')
    )
    assert first[0] != second[0]
    assert (first[2], second[2]) == ('{"x": 1}', '{"x": 2}')


async def test_an_id_that_an_earlier_call_has_is_not_used_again() -> None:
    earlier: list[Item] = [
        {"type": "function_call", "call_id": "call_0", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_0", "output": "1"},
    ]
    ((call_id, _, _),) = await calls_of(
        piece(0, "call_0", name="f", arguments="{}"), input=[*HELLO, *earlier]
    )
    assert call_id != "call_0"


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [True, False])
async def test_a_refusal_is_shown_and_kept(api: str, stream: bool) -> None:
    with ScriptedModelServer(Refuse("I will not.")) as server:
        answered = await answer(request(server, api, stream=stream))
    (item,) = answered.done.items
    assert item["content"] == [{"type": "refusal", "refusal": "I will not."}]
    assert answered.text == "I will not."


async def test_text_in_small_pieces_after_a_call_is_whole() -> None:
    found = [piece(0, "a", name="f", arguments="{}"), {"content": "And "}, {"content": "text."}]
    with ScriptedModelServer(Deltas(found)) as server:
        answered = await answer(request(server, "chat"))
    assert [item["type"] for item in answered.done.items] == ["function_call", "message"]
    assert answered.text == "And text."


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_usage_that_a_provider_does_not_count_is_estimated(api: str, stream: bool) -> None:
    long = "The quick brown fox jumps over the lazy dog. " * 200
    with ScriptedModelServer(Answer([Say("Yes.")], counted=False)) as server:
        asked = request(server, api, input=[{"role": "user", "content": long}], stream=stream)
        answered = await answer(asked)
    assert answered.done.usage.estimated or api == "responses", "there litellm counts itself"
    assert answered.done.usage.input_tokens > 1_500, "of all that was sent"


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_why_an_answer_ended_early_is_reported(api: str, finish: str) -> None:
    with ScriptedModelServer(Answer([Say("Once")], finish=finish)) as server:
        answered = await answer(request(server, api))
    expected = {"length": "max_output_tokens", "content_filter": "content_filter"}[finish]
    assert answered.done.finish_reason == expected


async def test_the_items_that_are_kept_are_the_same_over_both_apis() -> None:
    calls = [Call("add", {"x": 1}, "call_a"), Call("add", {"x": 2}, "call_b")]
    parts = [Reasoning("Hm.", encrypted=None), *Calls(calls, text="Adding.").parts]
    kept = []
    for api in APIS:
        with ScriptedModelServer(Answer(parts)) as server:
            answered = await answer(request(server, api))
        kept.append([without_ids(item) for item in answered.done.items])
    assert kept[0] == kept[1]


def without_ids(item: Item) -> Item:
    """The item without what each answer has of its own, and without empty lists."""
    if "content" in item:
        parts = [{k: v for k, v in part.items() if v != []} for part in item["content"]]
        item = {**item, "content": parts}
    return {name: value for name, value in item.items() if name != "id"}


async def test_signed_thinking_is_not_sent_to_the_responses_api() -> None:
    blocks = '[{"type":"thinking","thinking":"Hm.","signature":"s"}]'
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": blocks}
    with ScriptedModelServer(Say("Yes.")) as server:
        await answer(request(server, "responses", input=[reasoning, *HELLO]))
        assert [item.get("type") for item in server.requests[0].items] == [None]


async def test_a_provider_without_a_responses_api_is_asked_over_chat() -> None:
    with ScriptedModelServer(Say("Yes.")) as server:
        asked = request(server, "responses", model="deepseek/deepseek-v4-pro")
        answered = await answer(asked, model(environ={"DEEPSEEK_API_KEY": KEY}))
        assert server.requests[0].api == "chat"
    assert answered.text == "Yes."


async def test_a_forced_tool_is_forced_over_both_apis() -> None:
    for api in APIS:
        with ScriptedModelServer(Call("add", {"x": 1})) as server:
            choice = {"type": "function", "name": "add"}
            await answer(request(server, api, tool_choice=choice))
            sent = server.requests[0].body["tool_choice"]
        assert sent == (
            choice if api == "responses" else {"type": "function", "function": {"name": "add"}}
        )


async def test_the_schema_of_an_answer_is_sent_over_both_apis() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    for api in APIS:
        with ScriptedModelServer(Say('{"x": 1}')) as server:
            await answer(request(server, api, output_schema=schema))
            body = server.requests[0].body
        sent = body["text"]["format"] if api == "responses" else body["response_format"]
        assert sent["type"] == "json_schema"
        assert sent.get("json_schema", sent)["schema"] == schema


@pytest.mark.parametrize("prefix", ["deepseek", "hosted_vllm", "lm_studio", "groq", "xai"])
async def test_other_providers_get_the_same_conversation(prefix: str) -> None:
    items: list[Item] = [
        *HELLO,
        {"type": "function_call", "call_id": "a", "name": "add", "arguments": '{"x": 1}'},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
    ]
    with ScriptedModelServer(Call("add", {"x": 2}, "b")) as server:
        asked = request(server, "auto", model=f"{prefix}/scripted", input=items)
        keys = {f"{prefix.upper()}_API_KEY": KEY}
        answered = await answer(asked, model(environ=keys))
        received = server.requests[0]
    assert received.stream
    assert received.tool_names == ["add"]
    assert received.tool_outputs == {"a": "1"}
    assert [item["call_id"] for item in answered.done.items] == ["b"]
