"""How much of a tool's output the model is sent: cut once, stored whole."""

from __future__ import annotations

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
