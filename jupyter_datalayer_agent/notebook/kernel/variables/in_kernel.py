"""Runs in a user's kernel: what its variables are, without changing or computing anything.

A value's own ``repr`` may be slow or query a server, so in a list of variables it is called only
for types that are known to be fast; for an attached variable, for any.
"""

from __future__ import annotations

import itertools
import reprlib
import types
from typing import Any

MOST = 300
MOST_COLUMNS = 100
SHORT = 80
ROWS = 5
DETAIL = 4_000
# Packages whose arrays and tables know their shape.
SHAPED = {"numpy", "pandas", "polars", "geopandas", "pyarrow", "torch", "xarray", "scipy", "cudf"}
PLAIN = (bool, int, float, complex, str, bytes, type(None))
CONTAINERS = (list, tuple, set, frozenset, dict)


def listing(space: dict[str, Any], hidden: Any, names: list[str] | None) -> dict[str, Any]:
    """All variables of the user, or those of ``names`` with their contents in ``detail``."""
    found = {name: value for name, value in list(space.items()) if own(name, value, hidden)}
    if names is not None:
        there = [name for name in names if name in space and not name.startswith("_")]
        return {"variables": [{**one(n, space[n]), **detail(space[n])} for n in there]}
    # The newest last, as Python keeps them: the user means those first.
    newest = list(reversed(found.items()))
    return {
        "variables": [one(name, value) for name, value in newest[:MOST]],
        "left_out": max(0, len(newest) - MOST),
    }


def own(name: str, value: Any, hidden: Any) -> bool:
    return not (
        name.startswith("_")
        or isinstance(value, types.ModuleType)
        or (name in hidden and hidden[name] is value)
    )


def one(name: str, value: Any) -> dict[str, Any]:
    described: dict[str, Any] = {"name": name, "type": type_of(value), "short": ""}
    try:
        dimensions = shape(value)
        if dimensions is not None:
            described["shape"] = dimensions
        names = columns(value)
        if names is not None:
            described["columns"] = names
        if dimensions is None or not dimensions:
            described["short"] = short(value)
    except Exception as error:  # noqa: BLE001  of the user's own objects anything may come
        described["short"] = f"({type(error).__name__})"
    return described


def type_of(value: Any) -> str:
    kind = type(value)
    package = root(value)
    return kind.__name__ if package in ("builtins", "__main__") else f"{package}.{kind.__name__}"


def root(value: Any) -> str:
    return str(getattr(type(value), "__module__", "")).partition(".")[0]


def shape(value: Any) -> list[int] | None:
    if isinstance(value, CONTAINERS):
        return [len(value)]
    if root(value) not in SHAPED:
        return None
    sizes = getattr(value, "shape", None)
    if not isinstance(sizes, tuple) or not all(isinstance(size, int) for size in sizes):
        return None
    return [int(size) for size in sizes]


def columns(value: Any) -> list[str] | None:
    if root(value) not in SHAPED or not hasattr(value, "columns"):
        return None
    names = getattr(value, "column_names", None) or list(value.columns)  # pyarrow has its own
    kinds = getattr(value, "dtypes", None)
    if kinds is None:
        kinds = value.schema.types
    pairs = map("{}: {}".format, names, list(kinds))
    return list(itertools.islice(pairs, MOST_COLUMNS))


def short(value: Any) -> str:
    """The value in a line, where that is known to take no time."""
    if isinstance(value, (types.FunctionType, type)):
        import inspect

        try:
            return f"{value.__name__}{inspect.signature(value)}"[:SHORT]
        except (ValueError, TypeError):
            return ""
    known = isinstance(value, PLAIN) or root(value) in ("numpy", "datetime", "decimal", "pathlib")
    return cut(Short().repr(value), SHORT) if known or isinstance(value, CONTAINERS) else ""


class Short(reprlib.Repr):
    """Short forms that ask no object of an unknown type for its own."""

    def __init__(self, most: int = 6, characters: int = 60) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = most
        self.maxdict = most
        self.maxstring = self.maxother = self.maxlong = characters
        self.maxlevel = 3

    def repr_instance(self, x: Any, level: int) -> str:
        if isinstance(x, PLAIN) or root(x) in ("numpy", "datetime", "decimal", "pathlib"):
            return super().repr_instance(x, level)
        return f"<{type_of(x)}>"


def detail(value: Any) -> dict[str, Any]:
    """The contents of a variable that was attached; ``rows``: whether they are data."""
    try:
        if isinstance(value, CONTAINERS):
            return {"detail": cut(Short(30, 300).repr(value), DETAIL), "rows": True}
        if isinstance(value, str):
            return {"detail": cut(repr(value[: DETAIL + 1]), DETAIL), "rows": False}
        if isinstance(value, (types.FunctionType, type)):
            return {"detail": short(value), "rows": False, "open": True}
        if shape(value):
            return {"detail": cut(head(value), DETAIL), "rows": True}
        return {"detail": cut(repr(value), DETAIL), "rows": False}
    except Exception as error:  # noqa: BLE001  of the user's own objects anything may come
        return {"detail": f"(its repr failed: {type(error).__name__})", "rows": False, "open": True}


def head(value: Any) -> str:
    """The first rows of a table, or the value's own form, which is short for arrays."""
    if hasattr(value, "head") and root(value) in ("pandas", "polars", "geopandas", "cudf"):
        first = value.head(ROWS)
        if hasattr(first, "to_string"):
            return str(first.to_string())
        return str(first)
    if root(value) == "pyarrow":
        return str(value.slice(0, ROWS))
    return repr(value)


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
