"""Tables, columns and groups: read from a learner's values, and compared with what is right."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .formatting import counted, kind_of, listed
from .looking import CheckFailed, Inspection, close

Slip = tuple[Callable[[], Any], str]
"""A known mistake: what it gives, and what to say of it."""


def read_data(name: str, **options: Any) -> Any:
    """The tutorial's data as it is beside the notebook."""
    import pandas as pd

    if not os.path.exists(name):
        raise CheckFailed(
            f"The file {name} is not beside the notebook any more. Start the tutorial again: it "
            "puts its data back and keeps your notebook."
        )
    return pd.read_csv(name, **options)


def frame(look: Inspection, name: str) -> Any:
    """A DataFrame that the task asks for."""
    value = look.value(name)
    kind = type(value).__name__
    if kind == "DataFrame":
        return value
    if kind == "Series" and str(value.dtype) in ("bool", "boolean"):
        raise CheckFailed(
            f"`{name}` is the condition itself, True or False for each row. Put it in the table's "
            "brackets to take those rows: `table[condition]`."
        )
    if kind == "Series":
        raise CheckFailed(
            f"`{name}` is one column (Series). For a table, give a list of names: two pairs of "
            "brackets."
        )
    if "GroupBy" in kind:
        raise CheckFailed(_only_groups(name))
    if isinstance(value, str) and value.endswith(".csv"):
        raise CheckFailed(f"`{name}` is only the file's name. Read the file with pd.read_csv(...).")
    raise CheckFailed(f"`{name}` should be a table (DataFrame); it is {kind_of(value)}.")


def by_key(look: Inspection, name: str, column: str | None = None) -> dict[Any, Any]:
    """A result with one value for each key as a dict: from a Series, from a table with the keys as
    index or as a column, or from a dict. ``column`` is the wanted one of several."""
    value = look.value(name)
    kind = type(value).__name__
    if "GroupBy" in kind:
        raise CheckFailed(_only_groups(name))
    if isinstance(value, Mapping):
        return dict(value)
    if kind == "Series":
        return dict(value.items())
    if kind != "DataFrame":
        raise CheckFailed(f"`{name}` should have one value for each group; it is {kind_of(value)}.")
    columns = list(value.columns)
    if column is not None and column not in columns:
        raise CheckFailed(f"`{name}` has no column `{column}`; it has {listed(columns)}.")
    chosen = column if column is not None else columns[-1]
    rest = [each for each in columns if each != chosen]
    plain = value.index.name is None and type(value.index).__name__ == "RangeIndex"
    keys = value[rest[0]] if plain and rest else value.index
    return dict(zip(keys, value[chosen]))  # noqa: B905 - kernels may be older than `strict`


def _only_groups(name: str) -> str:
    return (
        f"`{name}` is only the groups: say what to compute of them, for example "
        '`["body_mass_g"].mean()`.'
    )


def same_keys(found: Mapping[Any, Any], wanted: Mapping[Any, Any]) -> bool:
    """Whether two results by key are equal, but for order and rounding."""
    if {str(key) for key in found} != {str(key) for key in wanted}:
        return False
    texts = {str(key): value for key, value in found.items()}
    return all(_same(texts[str(key)], value) for key, value in wanted.items())


def check_keys(
    name: str,
    found: Mapping[Any, Any],
    wanted: Any,
    slips: Sequence[Slip] = (),
) -> None:
    """Raise ``CheckFailed`` unless the result by key is the wanted one, a Series."""
    right = dict(wanted.items())
    if same_keys(found, right):
        return
    for made, message in slips:
        if same_keys(found, dict(made().items())):
            raise CheckFailed(f"`{name}`: {message}")
    if {str(key) for key in found} != {str(key) for key in right}:
        shown = list(right)[:4]
        raise CheckFailed(f"`{name}` should have one value for each of {listed(shown)}.")
    key = next(each for each in right if not _same(_get(found, each), right[each]))
    raise CheckFailed(
        f"`{name}` is {_short(_get(found, key))} for {key}; it should be {_short(right[key])}."
    )


def _get(found: Mapping[Any, Any], key: Any) -> Any:
    return next(value for each, value in found.items() if str(each) == str(key))


def same_rows(found: Any, wanted: Any) -> bool:
    """Whether two tables have the same columns and rows, in any order, whatever their index."""
    if len(found) != len(wanted) or set(found.columns) != set(wanted.columns):
        return False
    columns = list(wanted.columns)
    return _rows(found, columns) == _rows(wanted, columns)


def check_rows(
    name: str,
    found: Any,
    wanted: Any,
    slips: Sequence[Slip] = (),
) -> None:
    """Raise ``CheckFailed`` unless the table is the wanted one."""
    if same_rows(found, wanted):
        return
    size = f"`{name}` has {counted(len(found), 'row')}"
    for made, message in slips:
        slip = made()
        if same_rows(found, slip) or _same_but_columns(found, slip, wanted):
            raise CheckFailed(f"{size}: {message}")
    lacking = [each for each in wanted.columns if each not in set(found.columns)]
    extra = [each for each in found.columns if each not in set(wanted.columns)]
    if lacking:
        raise CheckFailed(f"`{name}` has no column {listed(lacking)}.")
    if extra:
        raise CheckFailed(f"`{name}` has more columns than asked for: {listed(extra)}.")
    if len(found) != len(wanted):
        raise CheckFailed(f"{size}; it should have {len(wanted)}.")
    raise CheckFailed(f"`{name}` has the right size, but other values than the task asks for.")


def _same_but_columns(found: Any, slip: Any, wanted: Any) -> bool:
    """Whether it is the slip's rows with the wanted columns among its own."""
    columns = [each for each in wanted.columns if each in set(found.columns)]
    if not columns or len(found) != len(slip) or len(slip) == len(wanted):
        return False
    if not set(columns) <= set(slip.columns):
        return False
    return _rows(found, columns) == _rows(slip, columns)


def _rows(table: Any, columns: Sequence[Any]) -> list[tuple[str, ...]]:
    return sorted(
        tuple(_text(value) for value in row)
        for row in table[list(columns)].itertuples(index=False, name=None)
    )


def _text(value: Any) -> str:
    if value is None or value != value or str(value) == "<NA>":
        return ""
    return f"{value:.6g}" if isinstance(value, (int, float)) else str(value)


def _same(found: Any, wanted: Any) -> bool:
    try:
        return close(float(found), float(wanted))
    except (TypeError, ValueError):
        return str(found) == str(wanted)


def _short(value: Any) -> str:
    try:
        return f"{float(value):.6g}"
    except (TypeError, ValueError):
        return str(value)[:40]
