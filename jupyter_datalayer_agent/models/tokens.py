"""Counting tokens: what a provider reported, and estimates before it has."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

from jupyter_datalayer_agent.protocol.pictures import is_picture
from jupyter_datalayer_agent.protocol.requests import Usage

from ..protocol.tools import PRIVATE_NOTE
from . import loader
from .types import ModelRequest, is_thought

BYTES_PER_TOKEN = 4
IMAGE_TOKENS = 1_500
"""About what a picture costs; its base64 is not read as text."""
MAX_REMEMBERED = 20_000

_counted: OrderedDict[bytes, int] = OrderedDict()


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


def estimate_item(item: Mapping[str, Any]) -> int:
    """``estimate_tokens`` of an item of a request, with its pictures as pictures; 0 where it is not
    sent."""
    if is_thought(item):
        return 0
    if PRIVATE_NOTE in item:
        item = {name: value for name, value in item.items() if name != PRIVATE_NOTE}
    content = item.get("content")
    if not isinstance(content, list) or not any(is_picture(part) for part in content):
        return estimate_tokens(item)
    rest = [part for part in content if not is_picture(part)]
    pictures = len(content) - len(rest)
    return estimate_tokens({**item, "content": rest}) + IMAGE_TOKENS * pictures


def counted_usage(request: ModelRequest, answer: Iterable[Mapping[str, Any]]) -> Usage:
    """Usage by litellm's counter, for a provider that reports none.

    Takes a second for a long conversation that was not counted before: to be called in a thread.
    """
    tools = json.dumps(list(request.tools), ensure_ascii=False, default=str)
    fixed = {"content": f"{request.instructions}\n{tools}"}
    sent = (item for item in request.input if not is_thought(item))
    counted_in = sum(_count_item(item) for item in (fixed, *sent))
    counted_out = sum(_count_item(item) for item in answer)
    return Usage(
        input_tokens=counted_in,
        output_tokens=counted_out,
        total_tokens=counted_in + counted_out,
        estimated=True,
    )


def _count_item(item: Mapping[str, Any]) -> int:
    """Tokens of what a model reads of an item; remembered, since every call sends it again."""
    text = "\n".join(_texts(item))
    key = hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest()
    known = _counted.pop(key, None)
    _counted[key] = count_tokens(text) if known is None else known
    if len(_counted) > MAX_REMEMBERED:
        _counted.popitem(last=False)
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    return _counted[key] + IMAGE_TOKENS * sum(is_picture(part) for part in parts)


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        if not is_picture(value):
            for name, part in value.items():
                if name not in ("type", "id", "call_id", "status", "encrypted_content"):
                    yield from _texts(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _texts(part)


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


def cache_written_of(reported: Any) -> int:
    """The input tokens that a provider put into its prompt cache, where it bills that."""
    return _number(_get(reported, "cache_creation_input_tokens"))


def _get(holder: Any, *names: str) -> Any:
    """The first of ``names`` that ``holder`` has and that is not ``None``."""
    for name in names:
        value = holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
        if value is not None:
            return value
    return None


def _number(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) else 0
