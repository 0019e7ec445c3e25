"""Counting tokens: what a provider reported, and estimates before it has."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import Any

from jupyter_datalayer_agent.protocol.requests import Usage

from . import loader

BYTES_PER_TOKEN = 4


def estimate_tokens(value: Any) -> int:
    """About how many tokens a text, or anything else as JSON, will cost: its UTF-8 bytes / 4.

    Costs next to nothing and needs no tokenizer. Code and other languages than English come out
    within about a third of what OpenAI's tokenizers count."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return math.ceil(len(text.encode(errors="replace")) / BYTES_PER_TOKEN)


def count_tokens(text: str) -> int:
    """Tokens of ``text`` by the tokenizer that litellm ships (cl100k), or the estimate where
    litellm is not loaded. Never loads litellm, and never looks for a model's own tokenizer, which
    may be fetched from the network."""
    if not loader.is_loaded():
        return estimate_tokens(text)
    return int(sys.modules["litellm"].token_counter(model="gpt-4", text=text))


def usage_of(reported: Any) -> Usage:
    """Usage as either API reports it, as an object or as a mapping; zeros for what is missing."""
    details = _get(reported, "input_tokens_details", "prompt_tokens_details")
    counted_in = _number(_get(reported, "input_tokens", "prompt_tokens"))
    counted_out = _number(_get(reported, "output_tokens", "completion_tokens"))
    cached = _number(_get(details, "cached_tokens"))
    total = _number(_get(reported, "total_tokens")) or counted_in + counted_out
    return Usage(
        input_tokens=counted_in,
        output_tokens=counted_out,
        cached_tokens=cached,
        total_tokens=total,
    )


def _get(holder: Any, *names: str) -> Any:
    """The first of ``names`` that ``holder`` has and that is not ``None``."""
    for name in names:
        value = holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
        if value is not None:
            return value
    return None


def _number(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) else 0
