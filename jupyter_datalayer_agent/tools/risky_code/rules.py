"""Python's functions and methods that act beyond the kernel, by name: look-ups of ``lists``."""

from __future__ import annotations

from collections.abc import Iterable

from ...notebook.paths import name_set
from . import lists
from .lists import CallRule


def _by_name(rows: Iterable[tuple[CallRule, str]]) -> dict[str, CallRule]:
    return {name: rule for rule, names in rows for name in name_set(names)}


FUNCTIONS = _by_name(lists.FUNCTIONS)
METHODS = _by_name(lists.METHODS)
# No Python acts beyond the kernel without one of these names, as far as this package knows.
LAST_NAMES = (
    frozenset(name.rpartition(".")[2] for name in FUNCTIONS)
    | METHODS.keys()
    | lists.HTTP_VERBS
    | lists.INDIRECT
)
