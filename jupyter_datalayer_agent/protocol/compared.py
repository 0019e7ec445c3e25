"""How far code looks into what somebody wrote in sentences."""

from __future__ import annotations

MOST_CHARACTERS = 2_000
"""What is longer is a text or a task, which a model reads: words that are looked for are in any
of these. And no text, however odd, may keep the server from answering others meanwhile."""


def compared(text: str) -> str:
    """The part of a text in which words are looked for: its beginning."""
    return text[:MOST_CHARACTERS]
