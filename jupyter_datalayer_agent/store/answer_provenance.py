"""The type of an answer and its model's provider: parts of a provenance key.

A model's name in litellm's form, ``provider/name``, contains its provider. For a bare name, it is
guessed from the name's beginning as litellm would, since litellm takes seconds to import.
"""

from __future__ import annotations

import re

from ..protocol.fences import fences
from ..protocol.history import ResponseType

NO_MODEL = "workflow"
"""The provider of an answer that no model gave."""

_BEGINNINGS = (
    ("claude", "anthropic"),
    ("gemini", "vertex_ai"),
    ("command", "cohere"),
    ("deepseek", "deepseek"),
    ("grok", "xai"),
)
_PROPOSAL = re.compile(r"\b(?:cell|after|before|file)=")


def provider_of(model: str | None) -> str:
    """The provider as litellm calls it; ``openai`` for an unknown bare name, as in litellm."""
    if not model:
        return NO_MODEL
    provider, slash, _ = model.partition("/")
    if slash and provider:
        return provider.lower()
    name = model.lower()
    return next((owner for start, owner in _BEGINNINGS if name.startswith(start)), "openai")


def answer_type(kind: str | None, mode: str, location: str, reply: str) -> ResponseType:
    """The type of a turn's answer. ``kind`` is that of the session, None for a chat.

    Edit mode and the inline chat make proposals in code blocks that name their target.
    """
    if kind == "strategist":
        return "synthesis"
    if (mode == "edit" or location == "inline") and any(
        _PROPOSAL.search(each.info) for each in fences(reply)
    ):
        return "proposal"
    return "batch"
