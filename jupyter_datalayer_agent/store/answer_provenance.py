"""Of what kind an answer is, and whose model gave it: the parts of a provenance key.

A model's name gives its provider in litellm's form, ``provider/name``. For names without one, what
litellm takes them for is guessed from how they begin: litellm itself takes seconds to import.
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
    """The provider's name in litellm's form; ``openai`` for a bare name that nothing is known of,
    as litellm has it."""
    if not model:
        return NO_MODEL
    provider, slash, _ = model.partition("/")
    if slash and provider:
        return provider.lower()
    name = model.lower()
    return next((known for start, known in _BEGINNINGS if name.startswith(start)), "openai")


def answer_type(kind: str | None, mode: str, location: str, reply: str) -> ResponseType:
    """The type of a turn's answer. ``kind`` is that of the session, None for a chat.

    Edit mode and the inline chat propose by code blocks that name their target (DESIGN 5).
    """
    if kind == "strategist":
        return "synthesis"
    if (mode == "edit" or location == "inline") and any(
        _PROPOSAL.search(each.info) for each in fences(reply)
    ):
        return "proposal"
    return "batch"
