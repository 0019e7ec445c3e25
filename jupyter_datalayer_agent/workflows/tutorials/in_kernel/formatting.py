"""How values are named to a learner."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


def listed(names: Iterable[Any]) -> str:
    """``a``, ``b`` and ``c``."""
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def nearest(name: str, names: Iterable[Any]) -> str | None:
    """The name that was most likely meant; letters' case does not matter."""
    known = {str(each).lower(): str(each) for each in names}
    found = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    return known[found[0]] if found else None


def counted(number: int, thing: str) -> str:
    """``1 row``, ``10 rows``; plural by ``s``, or ``es`` after an ``x``."""
    if number == 1:
        return f"1 {thing}"
    if thing.endswith("axis"):
        return f"{number:,} {thing[:-2]}es"
    return f"{number:,} {thing}{'es' if thing.endswith('x') else 's'}"


def kind_of(value: Any) -> str:
    """A value's type in words for a learner."""
    name = type(value).__name__
    module = type(value).__module__
    if name == "DataFrame":
        return "a table (DataFrame)"
    if name == "Series":
        return "one column (Series)"
    if "GroupBy" in name:
        return "groups that nothing was computed of yet"
    if name == "ndarray":
        return "a NumPy array"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if name in ("str", "StringMethods"):
        return "a text"
    if name in ("int", "float", "bool", "list", "tuple", "dict", "set"):
        return {"int": "a whole number", "float": "a number", "bool": "True or False"}.get(
            name, f"a {name}"
        )
    if module.startswith("matplotlib"):
        return f"a matplotlib {name}"
    return f"of type {name}"
