"""What is known of a model that a user names, before it is called."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.models.connected_models import named_model

OWN = "http://localhost:1/v1"


@pytest.mark.parametrize(
    ("model", "api_base", "environ", "reason"),
    [
        ("anthropic/any", None, {}, "Anthropic has no key: ANTHROPIC_API_KEY is not set."),
        ("anthropic/any", OWN, {}, "Anthropic has no key"),
        ("anthropic/any", None, {"ANTHROPIC_API_KEY": "k"}, None),
        ("nope/none", None, {}, "There is no provider nope. Name it as provider/name"),
        ("nope/none", OWN, {}, None),
        ("none", None, {}, "The provider is missing."),
        ("hosted_vllm/mine", None, {}, None),
        ("cohere_chat/mine", None, {}, None),
        ("clarifai/mine", None, {}, None),
    ],
)
async def test_what_cannot_be_called_is_reported_and_what_only_a_provider_knows_passes(
    model: str, api_base: str | None, environ: dict[str, str], reason: str | None
) -> None:
    info = await named_model(model, api_base, environ)
    assert info.id == model
    assert info.ready is (reason is None)
    assert (info.reason or "").startswith(reason or "")
    assert bool(info.reason) is not info.ready
