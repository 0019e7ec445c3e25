"""How far code looks into what somebody wrote in sentences."""

from __future__ import annotations

MOST_CHARACTERS = 2_000
"""What is longer is a text or a task, which a model reads: words that are looked for are in any
of these. And no text, however odd, may keep the server from answering others meanwhile."""


def compared(text: str) -> str:
    """The part of a text in which words are looked for: its beginning."""
    return text[:MOST_CHARACTERS]


def compared_ends(text: str) -> str:
    """Its beginning and its end, for what may be said at either."""
    if len(text) <= 2 * MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n{text[-MOST_CHARACTERS:]}"
