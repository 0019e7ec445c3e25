"""The effort of reasoning: from the settings' layers to the request, for models that take it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from jupyter_datalayer_agent.models import loader
from jupyter_datalayer_agent.models.capabilities import capabilities, of_entry, taken_effort
from jupyter_datalayer_agent.models.catalogue import models_reply
from tests.models.calls import APIS
from tests.support.jupyter import RunningServer
from tests.support.model_server import Say, ScriptedModelServer
from tests.support.price_list import shipped_price_list

REASONS = "openai/o3-mini"


@pytest.fixture(params=APIS, scope="module")
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(
    api: str, tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModelServer
) -> Iterator[RunningServer]:
    environment = {
        "DATALAYER_AGENT_MODEL_API": api,
        "DATALAYER_AGENT_MODEL": REASONS,
        "DATALAYER_AGENT_REASONING_EFFORT": "low",
    }
    folder = tmp_path_factory.mktemp(api)
    with RunningServer(folder, api_base=shared_model.base_url, environment=environment) as server:
        yield server


def sent(model: ScriptedModelServer, api: str) -> Any:
    body = model.requests[-1].body
    return (
        body.get("reasoning_effort")
        if api == "chat"
        else (body.get("reasoning") or {}).get("effort")
    )


def test_a_later_layer_wins_and_only_what_the_model_takes_is_sent(
    server: RunningServer, model: ScriptedModelServer, api: str
) -> None:
    model.set_default(Say("Yes."))

    def ask(**more: Any) -> Any:
        reply = server.post("chat", {"message": "Well?", **more})
        assert reply["status"] == "completed", reply
        return sent(model, api)

    assert ask() == "low"
    session = server.post("sessions", {"settings": {"reasoningEffort": "high"}})["id"]
    assert ask(sessionId=session) == "high"
    assert ask(sessionId=session, overrides={"reasoningEffort": "medium"}) == "medium"
    server.request("PATCH", f"sessions/{session}", json={"settings": {"reasoningEffort": None}})
    # It has no such effort, and the next one does not reason at all.
    assert ask(overrides={"reasoningEffort": "max"}) is None
    assert ask(model="openai/gpt-4o") is None
    assert ask(model="openai/nobody-knows") is None


def test_an_unknown_effort_is_refused_with_those_that_there_are(server: RunningServer) -> None:
    body = {"message": "Well?", "overrides": {"reasoningEffort": "extreme"}}
    response = server.request("POST", "chat", json=body)
    assert response.status_code == 400
    assert "xhigh" in response.text


def test_the_list_of_models_says_what_each_can_do(server: RunningServer) -> None:
    models = {each["id"]: each for each in server.get("models")["models"]}
    sonnet = models["anthropic/claude-sonnet-5-5"]
    assert sonnet["reasoningEfforts"] == ["low", "medium", "high", "xhigh", "max"]
    assert (sonnet["inputPrice"], sonnet["outputPrice"]) == (2, 10)
    assert (sonnet["vision"], sonnet["contextWindow"]) == (True, 1_000_000)
    assert "reasoningEfforts" not in models["mistral/mistral-large-latest"]
    # Of the configured model, what litellm's list has, now that it is loaded.
    assert models[REASONS]["reasoningEfforts"] == ["low", "medium", "high"]
    assert models[REASONS]["inputPrice"] == 1.1
    [asked, *_] = server.get("models", model="openai/nobody-knows")["models"]
    assert "reasoningEfforts" not in asked
    assert "inputPrice" not in asked


async def test_prices_and_efforts_agree_with_litellms_price_list() -> None:
    prices = shipped_price_list(await loader.litellm())
    compared = 0
    for info in models_reply(environ={}).models:
        name = info.id if info.id in prices else info.id.partition("/")[2]
        entry = prices.get(name)
        if entry is not None and info.provider != "OpenRouter":
            compared += 1
            assert of_entry(entry) == capabilities(info.id), info.id
    assert compared >= 10


@pytest.mark.parametrize(
    ("name", "effort", "taken"),
    [
        ("anthropic/claude-sonnet-5-5", "xhigh", "xhigh"),
        ("anthropic/claude-haiku-4-5", "xhigh", None),
        ("mistral/mistral-medium-latest", "low", None),
        ("mistral/mistral-medium-latest", "none", "none"),
        ("ollama_chat/qwen3", "high", None),
        ("anthropic/claude-sonnet-5-5", None, None),
    ],
)
def test_what_a_model_does_not_take_is_left_out(
    name: str, effort: str | None, taken: str | None
) -> None:
    assert taken_effort(name, effort) == taken
