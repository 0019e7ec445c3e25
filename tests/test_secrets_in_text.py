"""What looks like a key in a text."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.secrets_in_text import kinds_of_secrets, redact
from jupyter_datalayer_agent.settings.startup_layers import masked

ISSUED = {
    "AKIA" + "Z7Q2M4N8P1R3T5V9": "an AWS access key",
    "ASIA" + "Z7Q2M4N8P1R3T5V9": "an AWS access key",
    "ghs_" + "a1B2" * 9: "a GitHub token",
    "github_pat_" + "a1B2_" * 12: "a GitHub token",
    "AIza" + "a1B2_" * 7: "a Google API key",
    "hf_" + "aBcDe" * 6: "a Hugging Face token",
    "xoxb-" + "12345-abcde": "a Slack token",
    "sk_live_" + "a1B2" * 5: "a Stripe key",
    "sk-proj-" + "a1B2_" * 5: "an API key",
    "gsk_" + "a1B2" * 13: "an API key",
    "xai-" + "a1B2" * 20: "an API key",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl": "a token (JWT)",
}


@pytest.mark.parametrize("key", ISSUED)
def test_a_key_that_the_report_names_is_masked_wherever_texts_are(key: str) -> None:
    text = f"the key {key} was refused"
    assert list(kinds_of_secrets(text)) == [ISSUED[key]]
    assert redact(text, {}) == "the key [key] was refused"
    assert masked(text) == "the key *** was refused"


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abcdefghij123456.",
        "the key sk-abc***ef-ghi is not valid",
        "key=AIzaSyA1234567890abcdefghijklmnop is not valid",
        "header Authorization: Bearer abc.def-ghi_123",
        "the secret hunter2hunter2 was refused",
    ],
)
def test_what_looks_like_a_key_is_redacted(text: str) -> None:
    shown = redact(text, {"MY_API_TOKEN": "hunter2hunter2", "HOME": "/root"})
    assert "[key]" in shown
    for secret in ("abcdefghij123456", "AIzaSyA", "def-ghi", "hunter2"):
        assert secret not in shown


def test_ordinary_words_are_not_redacted() -> None:
    text = (
        "key-value pairs and risk-averse tasks: the keyboard, /root and a task-based plan. "
        "Basic statistics of key_columns, sorted(rows, key=itemgetter(1)), bearer authentication"
    )
    assert redact(text, {"HOME": "/root", "SHORT_KEY": "a"}) == text


@pytest.mark.parametrize("key", ["EMPTY", "none", "ollama", "lm-studio", "not-needed", "x"])
def test_a_key_that_reads_like_a_word_takes_no_word_out_of_a_text(key: str) -> None:
    text = f"df.EMPTY is none: {key} rows, and {key.lower()} of ollama or lm-studio, not-needed"
    assert redact(text, {"OPENAI_API_KEY": key}) == text


@pytest.mark.parametrize("key", ["hunter2", "a1b2c3", "correcthorsebattery", "tok-12-34-56"])
def test_a_short_key_that_no_word_is_like_is_redacted(key: str) -> None:
    assert redact(f"it was {key}.", {"GATEWAY_TOKEN": key}) == "it was [key]."
