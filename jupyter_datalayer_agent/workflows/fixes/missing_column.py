"""KeyError on a DataFrame: a column of nearly that name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...notebook.words import words
from ...protocol.workflows import FixInfo
from .. import editing
from ..fix import CellFailure, Fix, FixProbe
from ..nearness import Near, near_names
from ..side_effects import may_run_again
from ..tracebacks import plain, where

# Methods that take names of columns.
_COLUMN_METHODS = words(
    "agg aggregate boxplot corrwith drop drop_duplicates dropna duplicated explode fillna groupby "
    "hist insert join melt merge nlargest nsmallest pivot pivot_table pop set_index sort_values "
    "unstack value_counts"
)
_COLUMN_KEYWORDS = words(
    "by column columns hue id_vars keys left_on on right_on size style subset value_vars values x y"
)
_COLUMNS = """
print(__import__('json').dumps((lambda frame: [each for each in frame.columns
    if isinstance(each, str)][:5000] if type(frame).__name__ in ('DataFrame', 'GeoDataFrame')
    and hasattr(frame, 'columns') else None)({name})))
"""


async def find(failure: CellFailure, probe: FixProbe) -> list[FixInfo]:
    """What to do about a column that is not there."""
    assert failure.error is not None
    if "pandas" not in plain(failure.error.traceback):
        return []  # a dict's key, or another library's
    line = where(failure.error.traceback).line
    fixes: list[FixInfo] = []
    for key in _keys(plain([failure.error.evalue])):
        for frame, uses in _frames(failure, key, line).items():
            columns = await probe.compute(_COLUMNS.format(name=frame))
            if not isinstance(columns, list) or key in columns:
                continue
            for near in near_names(key, columns):
                fix = _fix(failure, key, near, uses, line)
                if fix is not None:
                    fixes.append(fix)
    return fixes if len({each.id for each in fixes}) == len(fixes) else fixes[:1]


def _keys(said: str) -> list[str]:
    """The missing names: ``'a'``, ``"['a', 'b'] not in index"``, ``"None of [Index(['a'], …"``."""
    try:
        value = ast.literal_eval(said)
    except (SyntaxError, ValueError):
        return []
    if not isinstance(value, str):
        return []
    match = re.search(r"\[('[^\]]*')\]", value)
    if match is None or not re.search(r"not in index|not found in axis|None of", value):
        return [value]
    try:
        listed = ast.literal_eval(f"[{match[1]}]")
    except (SyntaxError, ValueError):
        return []
    return [each for each in listed if isinstance(each, str)]


def _frames(failure: CellFailure, key: str, line: int | None) -> dict[str, list[ast.Constant]]:
    """The DataFrames that the key is looked up in by the failing statement, each with the
    literals of the cell that name a column of it."""
    tree = editing.tree_of(failure.cell.source)
    if tree is None:
        return {}
    found: dict[str, list[ast.Constant]] = {}
    failing: set[str] = set()
    for statement in tree.body:
        for frame, literal in _lookups(statement, key):
            found.setdefault(frame, []).append(literal)
            if line is None or statement.lineno <= line <= (statement.end_lineno or line):
                failing.add(frame)
    return {frame: uses for frame, uses in found.items() if frame in failing}


def _lookups(tree: ast.AST, key: str) -> Iterator[tuple[str, ast.Constant]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            for literal in _in_subscript(node):
                if literal.value == key and (frame := _frame(node.value)) is not None:
                    yield frame, literal
        elif isinstance(node, ast.Call):
            for literal in _in_call(node):
                if literal.value == key and (frame := _frame_of_call(node)) is not None:
                    yield frame, literal


def _in_subscript(node: ast.Subscript) -> Iterator[ast.Constant]:
    """Column names of ``df['a']``, ``df[['a', 'b']]``, ``df.loc[rows, 'a']``."""
    index = node.slice
    if isinstance(node.value, ast.Attribute) and node.value.attr in ("loc", "at"):
        if isinstance(index, ast.Tuple) and len(index.elts) == 2:
            yield from _strings(index.elts[1])
    elif not (isinstance(node.value, ast.Attribute) and node.value.attr in ("iloc", "iat")):
        yield from _strings(index)


def _in_call(node: ast.Call) -> Iterator[ast.Constant]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    for value in node.args:
        if name in _COLUMN_METHODS:
            yield from _strings(value)
    for keyword in node.keywords:
        if keyword.arg in _COLUMN_KEYWORDS:
            yield from _strings(keyword.value)


def _strings(node: ast.expr) -> Iterator[ast.Constant]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    elif isinstance(node, ast.List | ast.Tuple):
        for each in node.elts:
            yield from _strings(each)


def _frame(node: ast.expr) -> str | None:
    """The variable (or attribute of one) that is looked up in: ``df`` of ``df.loc``; of a chain of
    calls the one that it starts with, where that keeps the columns."""
    while True:
        if isinstance(node, ast.Attribute) and node.attr in ("loc", "at"):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr not in _KEEPS_COLUMNS:
                return None
            node = node.func.value
        else:
            break
    return ast.unparse(node) if _is_plain(node) else None


_KEEPS_COLUMNS = words(
    "copy dropna fillna groupby head query sample sort_index sort_values tail drop_duplicates "
    "nlargest nsmallest"
)


def _is_plain(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _frame_of_call(node: ast.Call) -> str | None:
    """``df`` of ``df.groupby('a')`` and of ``sns.histplot(data=df, x='a')``."""
    for keyword in node.keywords:
        if keyword.arg == "data":
            return _frame(keyword.value)
    if isinstance(node.func, ast.Attribute) and node.func.attr in _COLUMN_METHODS:
        return _frame(node.func.value)
    return None


def _fix(
    failure: CellFailure, key: str, near: Near, uses: list[ast.Constant], line: int | None
) -> FixInfo | None:
    spans = [editing.string_span(failure.cell.source, each, near.name) for each in uses]
    exact = [span for span in spans if span is not None]
    if len(exact) < len(spans):
        return None
    return FixInfo(
        id=f"column-{key}-{near.name}",
        title=f"Use the column {near.name!r} instead of {key!r}",
        explanation=f"The table has no column {key!r}; it has {near.name!r}.",
        safe=near.clear and may_run_again(failure.cell.source, line),
        calls=[
            editing.update(failure.path, failure.cell, editing.replaced(failure.cell.source, exact))
        ],
    )


FIX = Fix("missing-column", ("KeyError",), find)
