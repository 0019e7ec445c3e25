"""Windows and prices, from litellm's list and the catalogue."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.models import loader, prices
from jupyter_datalayer_agent.protocol.requests import Usage


async def test_litellms_list_is_read_where_it_is_loaded_and_the_catalogue_before_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usage = Usage(input_tokens=1000, output_tokens=100, cached_tokens=400)
    with monkeypatch.context() as patch:
        patch.setattr(loader, "is_loaded", lambda: False)
        assert prices.context_window("anthropic/claude-haiku-4-5") == 200_000
        assert prices.context_window("openai/gpt-4o") is None
        assert prices.cost_of("openai/gpt-4o", usage) is None
    await loader.litellm()
    assert prices.context_window("openai/gpt-4o") == 128_000
    assert prices.context_window("groq/openai/gpt-oss-120b") == 131_072
    assert prices.context_window("openai/nobody-knows") is None
    paid = 600 * 2.5e-6 + 400 * 1.25e-6 + 100 * 1e-5
    assert prices.cost_of("openai/gpt-4o", usage) == pytest.approx(paid)
    assert prices.cost_of("openai/nobody-knows", usage) is None


async def test_a_name_that_is_registered_so_that_it_streams_has_no_price() -> None:
    litellm = await loader.litellm()
    entry = {"litellm_provider": "openai", "mode": "chat", "supports_native_streaming": True}
    litellm.register_model({"openai/registered": entry})
    assert prices.cost_of("openai/registered", Usage(input_tokens=5)) is None


async def test_the_cheapest_model_of_those_with_a_price_is_chosen() -> None:
    await loader.litellm()
    models = ["openai/gpt-4o", "openai/gpt-4o-mini", "openai/nobody-knows"]
    assert prices.cheapest(models) == "openai/gpt-4o-mini"
    # Where the turn's own model has no price, nothing says that another one is cheaper.
    assert prices.cheapest(["openai/nobody-knows", "openai/gpt-4o-mini"]) == "openai/nobody-knows"
    assert prices.cheapest(["openai/gpt-4o-mini", "openai/gpt-4o"]) == "openai/gpt-4o-mini"
