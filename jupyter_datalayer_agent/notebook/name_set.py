"""Sets of names, written as one string."""

from __future__ import annotations


def name_set(names: str) -> frozenset[str]:
    """The names in a string, separated by white space."""
    return frozenset(names.split())
