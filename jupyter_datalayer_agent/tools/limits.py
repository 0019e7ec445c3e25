"""Limits how much of a tool's output the model is sent: it is cut once, and stored whole."""

from __future__ import annotations

from typing import Any

from pydantic import AfterValidator

# Bounds of arguments are checked when a tool is called and left out of its schema, each token of
# which is sent with every request: no model needs to read that a limit is positive.


def at_least(least: int) -> AfterValidator:
    """Refuse a number below ``least``; None (not given) stays."""

    def check(value: Any) -> Any:
        if value is not None and value < least:
            raise ValueError(f"must be {least} or more")
        return value

    return AfterValidator(check)


def no_longer_than(most: int) -> AfterValidator:
    """Refuse a text of more than ``most`` characters."""

    def check(value: str) -> str:
        if len(value) > most:
            raise ValueError(f"may have at most {most} characters")
        return value

    return AfterValidator(check)


def clamped(least: int, most: int) -> AfterValidator:
    """Clamp a number to its bounds: a model that asks for too much gets the most there is."""

    def clamp(value: int) -> int:
        return min(max(value, least), most)

    return AfterValidator(clamp)


def above_zero(most: float) -> AfterValidator:
    """Refuse zero and less, which mean nothing; a number above ``most`` counts as ``most``."""

    def check(value: float | None) -> float | None:
        if value is not None and not value > 0:
            raise ValueError("must be more than 0")
        return value if value is None else min(value, most)

    return AfterValidator(check)


MAX_OUTPUT_TOKENS = 10_000
# A token of code or numbers is about four characters in the o200k vocabulary. Exact counting would
# need the vocabulary in memory.
CHARACTERS_PER_TOKEN = 4
HEAD_SHARE = 0.4


def cut(
    text: str, more: str | None = None, max_tokens: int = MAX_OUTPUT_TOKENS
) -> tuple[str, bool]:
    """The text, or its first 40 % and last 60 % of the limit with a marker between them.

    The marker contains ``more``, how to read the rest. The second value is whether it was cut.
    """
    head, tail = ends(max_tokens)
    if len(text) <= head + tail:
        return text, False
    left_out = len(text) - head - tail
    marker = f"\n[... {left_out} characters left out"
    marker += f"; {more}" if more else ""
    return f"{text[:head]}{marker} ...]\n{text[-tail:]}", True


def ends(max_tokens: int = MAX_OUTPUT_TOKENS) -> tuple[int, int]:
    """How many characters stay at the beginning and at the end of a text that is cut."""
    limit = max_tokens * CHARACTERS_PER_TOKEN
    head = int(limit * HEAD_SHARE)
    return head, limit - head
