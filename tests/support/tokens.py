"""Counting with o200k_base, whose vocabulary litellm ships: nothing is fetched."""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from pathlib import Path

import tiktoken


@cache
def encoding() -> tiktoken.Encoding:
    """The o200k_base encoding."""
    spec = importlib.util.find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        return tiktoken.get_encoding("o200k_base")
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


def count(text: str) -> int:
    """Tokens of a text."""
    return len(encoding().encode(text, disallowed_special=()))
