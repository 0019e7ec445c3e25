"""What is offered, and whether it could be called."""

from __future__ import annotations

import json

import pytest

from jupyter_datalayer_agent.models import (
    default_model,
    find_model,
    loader,
    models_reply,
    readiness,
)
from jupyter_datalayer_agent.models.catalogue import PROVIDERS
from tests.support.price_list import shipped_price_list

SECRET = "sk-secret-0123456789"


def test_with_no_key_nothing_is_ready_and_the_ways_to_connect_are_shown() -> None:
    reply = models_reply(environ={})
    assert reply.default is None
    assert not reply.ready
    assert reply.message is not None
    assert "ANTHROPIC_API_KEY" in reply.message
    assert len(reply.connections) == 3
    assert not any(model.ready for model in reply.models)
    assert all(model.reason for model in reply.models)


def test_the_first_provider_with_a_key_gives_the_default() -> None:
    assert default_model({"GEMINI_API_KEY": SECRET}) == "gemini/gemini-3.8-flash"
    both = {"OPENAI_API_KEY": SECRET, "ANTHROPIC_API_KEY": SECRET}
    assert default_model(both) == "anthropic/claude-sonnet-5-5"
    assert default_model({"OPENAI_API_KEY": "  "}) is None


def test_credentials_that_many_machines_have_do_not_choose_a_model() -> None:
    assert default_model({"AWS_ACCESS_KEY_ID": "AKIA", "AWS_PROFILE": "work"}) is None


def test_a_reply_holds_no_secret() -> None:
    environ = {provider.keys[0]: SECRET for provider in PROVIDERS if provider.keys}
    reply = models_reply("openai/gpt-6.1-sol", environ=environ)
    assert reply.ready
    assert SECRET not in json.dumps(reply.to_wire())


def test_a_configured_model_that_is_not_listed_comes_first() -> None:
    reply = models_reply("hosted_vllm/mine", "http://localhost:8000/v1", {})
    assert reply.models[0].id == reply.default == "hosted_vllm/mine"
    assert reply.ready
    assert reply.connections == []


@pytest.mark.parametrize(
    ("model", "environ", "ready", "names"),
    [
        ("openai/gpt-6.1-sol", {}, False, "OPENAI_API_KEY"),
        ("openai/gpt-6.1-sol", {"OPENAI_API_KEY": ""}, False, "is empty"),
        ("openai/gpt-6.1-sol", {"OPENAI_API_KEY": SECRET}, True, ""),
        ("gemini/any", {"GOOGLE_API_KEY": SECRET}, True, ""),
        ("azure/mine", {"AZURE_API_KEY": SECRET}, False, "AZURE_API_BASE"),
        ("azure/mine", {"AZURE_API_KEY": SECRET, "AZURE_API_BASE": "https://a"}, True, ""),
        ("ollama_chat/qwen3", {}, True, ""),
        ("unheard_of/model", {}, True, ""),
        (None, {}, False, "No model is configured"),
    ],
)
def test_readiness_names_what_is_missing(
    model: str | None, environ: dict[str, str], ready: bool, names: str
) -> None:
    state = readiness(model, None, environ)
    assert state.ready is ready
    assert names in f"{state.reason} {state.what_to_do}"
    assert bool(state.reason) is bool(state.what_to_do) is not ready


def test_a_server_of_ones_own_needs_no_key_but_azure_does() -> None:
    assert readiness("openai/mine", "http://localhost:1/v1", {}).ready
    assert not readiness("azure/mine", "https://me.openai.azure.com", {}).ready
    assert readiness("azure/mine", "https://a", {"AZURE_API_KEY": SECRET}).ready


def test_models_are_found_by_the_names_that_are_listed() -> None:
    for info in models_reply(environ={}).models:
        found = find_model(info.id)
        assert found is not None, info.id
        assert found.context_window == info.context_window
    assert find_model("hosted_vllm/mine") is None


async def test_windows_and_vision_agree_with_litellms_price_list() -> None:
    prices = shipped_price_list(await loader.litellm())
    compared = 0
    for info in models_reply(environ={}).models:
        name = info.id if info.id in prices else info.id.partition("/")[2]
        known = prices.get(name)
        if known and info.provider != "OpenRouter":
            compared += 1
            assert known["max_input_tokens"] == info.context_window, info.id
            assert bool(known.get("supports_vision")) is info.vision, info.id
            assert known.get("supports_function_calling"), info.id
    assert compared >= 10


def test_openais_models_are_not_offered_where_they_would_go_to_another_server() -> None:
    environ = {"OPENAI_API_KEY": "sk-any"}
    own = models_reply("openai/mine", "http://127.0.0.1:9/v1", environ)
    offered = [info.id for info in own.models if info.id.startswith("openai/")]
    assert offered == ["openai/mine"]
    assert any(
        info.id.startswith("openai/gpt") for info in models_reply(None, None, environ).models
    )
