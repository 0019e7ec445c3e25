"""Sets of words that read as prose."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text, set apart by white space."""
    return frozenset(text.split())
