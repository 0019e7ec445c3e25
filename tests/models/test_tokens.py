"""Counting tokens with and without litellm, and reading what providers report."""

from __future__ import annotations

from types import SimpleNamespace

from jupyter_datalayer_agent.models import count_tokens, estimate_tokens, loader
from jupyter_datalayer_agent.models.tokens import usage_of

CODE = "import pandas as pd\ndf = pd.read_csv('cars.csv')\nprint(df.horsepower.mean())\n" * 20


def test_an_estimate_is_a_quarter_of_the_bytes() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("abcd" * 10) == 10
    assert estimate_tokens("é" * 10) == 5
    assert estimate_tokens([{"type": "message"}]) > 0


async def test_the_estimate_is_near_a_real_tokenizer() -> None:
    await loader.litellm()
    counted = count_tokens(CODE)
    assert 0.6 < estimate_tokens(CODE) / counted < 1.6


def test_usage_is_read_from_both_apis_as_object_or_mapping() -> None:
    responses = SimpleNamespace(
        input_tokens=10,
        output_tokens=3,
        total_tokens=13,
        input_tokens_details=SimpleNamespace(cached_tokens=8),
    )
    chat = {
        "prompt_tokens": 10,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 8, "audio_tokens": None},
    }
    for reported in (responses, chat):
        usage = usage_of(reported)
        assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (10, 3, 8)
        assert usage.total_tokens == 13


def test_a_provider_that_reports_nothing_gives_zeros() -> None:
    assert usage_of(None).total_tokens == 0
    assert usage_of({"prompt_tokens": None}).input_tokens == 0
