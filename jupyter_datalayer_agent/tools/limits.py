"""How much of a tool's output the model is sent: cut once, stored whole."""

from __future__ import annotations

from typing import Any

from pydantic import AfterValidator

# Bounds of arguments, checked when a tool is called and not part of its schema: each token of a
# schema is sent with every request, and no model needs to read that a limit is positive.


def at_least(least: int) -> AfterValidator:
    """A number below ``least`` is refused, saying so; None (not given) stays."""

    def check(value: Any) -> Any:
        if value is not None and value < least:
            raise ValueError(f"must be {least} or more")
        return value

    return AfterValidator(check)


def no_longer_than(most: int) -> AfterValidator:
    """A text of more than ``most`` characters is refused, saying so."""

    def check(value: str) -> str:
        if len(value) > most:
            raise ValueError(f"may have at most {most} characters")
        return value

    return AfterValidator(check)


def clamped(least: int, most: int) -> AfterValidator:
    """A number out of bounds counts as the bound: of too much, a model gets the most there is."""

    def clamp(value: int) -> int:
        return min(max(value, least), most)

    return AfterValidator(clamp)


def above_zero(most: float) -> AfterValidator:
    """Zero and less are refused, as they mean nothing; what is more than ``most`` counts as it."""

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
    """How many characters are left of the beginning and of the end of a text that is cut."""
    limit = max_tokens * CHARACTERS_PER_TOKEN
    head = int(limit * HEAD_SHARE)
    return head, limit - head
