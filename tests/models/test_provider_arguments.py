"""Where a request goes, and what of it is sent."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_datalayer_agent.models import Item, ModelRequest
from jupyter_datalayer_agent.models.chat_messages import input_items
from jupyter_datalayer_agent.models.provider_arguments import ModelRoute, route

OWN = "http://localhost:8000/v1"


def routed(model: str, environ: dict[str, str] | None = None, **fields: Any) -> ModelRoute:
    return route(ModelRequest(model, "", [], **fields), environ or {})


@pytest.mark.parametrize(
    ("model", "api_base", "responses"),
    [
        ("openai/gpt-6.1-sol", None, True),
        ("gpt-6.1-sol", None, True),
        ("openai/gpt-6.1-sol", "https://api.openai.com/v1", True),
        ("openai/gpt-6.1-sol", OWN, False),
        ("azure/my-deployment", "https://me.openai.azure.com", True),
        ("anthropic/claude-sonnet-5-5", None, False),
        ("ollama_chat/qwen3", None, False),
        ("somebody/unheard-of", None, False),
    ],
)
def test_auto_uses_responses_only_where_the_provider_really_has_it(
    model: str, api_base: str | None, responses: bool
) -> None:
    assert routed(model, api_base=api_base).responses is responses


def test_the_setting_wins_over_auto() -> None:
    assert routed("openai/x", api_base=OWN, model_api="responses").responses
    assert not routed("openai/gpt-6.1-sol", model_api="chat").responses


def test_a_base_url_in_the_environment_counts_as_a_server_of_ones_own() -> None:
    where = routed("openai/x", {"OPENAI_BASE_URL": OWN})
    assert where.api_base == OWN
    assert not where.responses


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("Qwen/Qwen3-8B", "openai/Qwen/Qwen3-8B"),
        ("qwen3", "openai/qwen3"),
        ("openai/qwen3", "openai/qwen3"),
        ("hosted_vllm/qwen3", "hosted_vllm/qwen3"),
        ("anthropic/claude-sonnet-5-5", "anthropic/claude-sonnet-5-5"),
    ],
)
def test_a_bare_name_on_a_server_of_ones_own_speaks_openais_api(model: str, sent: str) -> None:
    assert routed(model, api_base=OWN).model == sent


def test_without_a_base_url_names_are_left_to_litellm() -> None:
    assert routed("Qwen/Qwen3-8B").model == "Qwen/Qwen3-8B"


def test_ids_and_reasoning_that_no_server_keeps_are_left_out() -> None:
    items: list[Item] = [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "x"},
        {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
         "content": [{"type": "output_text", "text": "Hi."}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"},
    ]  # fmt: skip
    sent = input_items(items)
    assert [item.get("id") for item in sent] == ["rs_2", None, None]
    assert all("status" not in item for item in sent)
    assert items[2]["id"] == "msg_1", "what is stored is not changed"
