"""What Anthropic's API receives for its prompt cache, and what is counted of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from jupyter_datalayer_agent.models.chat_messages import chat_messages
from jupyter_datalayer_agent.models.provider_arguments import marked, takes_cache_marks
from tests.models.calls import HELLO, KEY, answer, model, request
from tests.support.model_server import Answer, Call, Say, ScriptedModelServer, TokenCounts

CLAUDE = "anthropic/claude-haiku-4-5"
MARK = {"type": "ephemeral"}


@pytest.fixture
def scripted() -> Iterator[ScriptedModelServer]:
    with ScriptedModelServer() as server:
        yield server


def marks(value: Any, path: str = "") -> Iterator[str]:
    """Where in a request marks are."""
    if isinstance(value, dict):
        if value.get("cache_control") == MARK:
            yield path
        for name, each in value.items():
            yield from marks(each, f"{path}/{name}")
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from marks(each, f"{path}/{place}")


def asked(scripted: ScriptedModelServer, **changes: Any) -> Any:
    fields = {"model": CLAUDE, "api_base": scripted.base_url.removesuffix("/v1"), **changes}
    return request(scripted, "auto", **fields)


async def test_system_prompt_and_last_message_are_marked_and_the_cache_is_counted(
    scripted: ScriptedModelServer,
) -> None:
    by = model(environ={"ANTHROPIC_API_KEY": KEY})
    counts = TokenCounts(input=2000, output=100, cached=1200, written=500)
    scripted.script(Answer([Say("Adding."), Call("add", {"x": 1}, "call_1")], usage=counts))
    first = await answer(asked(scripted), by)
    [received] = scripted.requests
    assert received.api == "anthropic"
    assert received.stream
    assert sorted(marks(received.body)) == ["/messages/0/content/0", "/system/0"]
    usage = first.done.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (2000, 1200, 100)
    # 300 plain at 1 dollar a million, 1200 read at 0.1, 500 written at 1.25; 100 out at 5.
    assert usage.cost == pytest.approx((300 + 120 + 625 + 500) / 1e6)

    # The next request begins with the same bytes, and its mark moves on to the new end.
    output = {"type": "function_call_output", "call_id": "call_1", "output": "2"}
    scripted.script(Say("Two."))
    await answer(asked(scripted, input=[*HELLO, *first.done.items, output]), by)
    body = scripted.requests[1].body
    assert body["system"] == received.body["system"]
    assert body["tools"] == received.body["tools"]
    assert sorted(marks(body)) == ["/messages/2/content/0", "/system/0"]
    [result] = body["messages"][2]["content"]
    assert (result["type"], result["tool_use_id"]) == ("tool_result", "call_1")


async def test_an_answer_that_is_not_streamed_is_counted_alike(
    scripted: ScriptedModelServer,
) -> None:
    by = model(environ={"ANTHROPIC_API_KEY": KEY})
    scripted.script(Answer([Say("Hi.")], usage=TokenCounts(1000, 10, cached=900)))
    done = (await answer(asked(scripted, stream=False), by)).done
    assert (done.usage.input_tokens, done.usage.cached_tokens) == (1000, 900)
    assert not scripted.requests[0].stream


@pytest.mark.parametrize("api", ["responses", "chat"])
async def test_other_servers_receive_no_marks(scripted: ScriptedModelServer, api: str) -> None:
    scripted.script(Say("Hi."))
    await answer(request(scripted, api, model="openai/claude-haiku-4-5"))
    assert list(marks(scripted.requests[0].body)) == []
    assert "cache_control" not in str(scripted.requests[0].body)


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        ("anthropic/claude-sonnet-5-5", True),
        ("claude-sonnet-5-5", True),
        ("bedrock/global.anthropic.claude-sonnet-5-5", True),
        ("openrouter/anthropic/claude-sonnet-5.5", True),
        ("vertex_ai/claude-sonnet-5-5", True),
        ("openrouter/openai/gpt-6.1-sol", False),
        ("bedrock/meta.llama3-8b-instruct-v1:0", False),
        ("openai/claude-sonnet-5-5", False),
        ("openai/gpt-6.1-sol", False),
        ("gemini/gemini-3.8-flash", False),
        ("deepseek/deepseek-v4-pro", False),
        ("groq/openai/gpt-oss-120b", False),
        ("ollama_chat/qwen3", False),
    ],
)
def test_only_claude_where_marks_are_passed_on_is_marked(name: str, takes: bool) -> None:
    assert takes_cache_marks(name) is takes


def test_marking_leaves_the_messages_as_they_are() -> None:
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}
    items = [{"role": "user", "content": [{"type": "input_text", "text": "See"}, picture]}]
    messages = chat_messages("Be brief.", items, thinking=True)
    before = repr(messages)
    [system, user] = marked(messages)
    assert repr(messages) == before
    assert system["content"] == [{"type": "text", "text": "Be brief.", "cache_control": MARK}]
    assert [part.get("cache_control") for part in user["content"]] == [None, MARK]
    assert marked([]) == []
    assert marked([{"role": "user", "content": ""}]) == [{"role": "user", "content": ""}]
