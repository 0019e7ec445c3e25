"""KeyError on a DataFrame: columns of nearly those names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...notebook.paths import name_set
from ...protocol.workflows import FixInfo
from ...tools.mime_text import plain
from ...tools.tracebacks import where
from .. import editing
from ..fix import CellFailure, Fix, FixProbe
from ..nearness import Near, near_names
from ..side_effects import may_run_again

# Methods and functions of pandas that take names of columns.
_COLUMN_METHODS = name_set(
    "agg aggregate astype boxplot corrwith drop drop_duplicates dropna duplicated explode fillna "
    "get_dummies groupby hist insert join melt merge nlargest nsmallest pivot pivot_table plot pop "
    "rename set_index sort_values unstack value_counts"
)
_COLUMN_KEYWORDS = name_set(
    "by column columns hue id_vars index keys labels left_on on right_on size style subset "
    "value_vars values x y"
)
# Methods in a chain of calls that keep the columns of the table that it starts with.
_KEEPS_COLUMNS = name_set(
    "astype copy drop_duplicates dropna fillna groupby head nlargest nsmallest query reset_index "
    "round sample sort_index sort_values tail"
)
# Their arguments are rows unless they are known to be columns.
_OF_ROWS = name_set("drop rename")
_ACCESSORS = name_set("at loc plot")

_COLUMNS = """
print(__import__('json').dumps((lambda frame: [each for each in frame.columns
    if isinstance(each, str)][:5000] if type(frame).__name__ in ('DataFrame', 'GeoDataFrame')
    and hasattr(frame, 'columns') else None)(
    {name}.obj if type({name}).__name__ == 'DataFrameGroupBy' else {name})))
"""

Tables = tuple[str, ...]
"""Variables with DataFrames, all of which must have a column."""
Candidates = tuple[str | None, ...]
"""Candidates for ``Tables``; None for expressions that are no variables."""


@dataclass(frozen=True)
class _Lookup:
    """A literal of the cell that names a column.

    It is one of the ``side`` of the first of ``candidates`` that are DataFrames; ``beside`` are the
    literals of the list that it is in, itself among them.
    """

    literal: ast.Constant
    candidates: Sequence[Candidates]
    side: slice
    beside: Sequence[ast.Constant]

    @property
    def name(self) -> str:
        """The column's name."""
        return str(self.literal.value)


class _Columns:
    """The columns of the kernel's DataFrames, each requested once."""

    def __init__(self, probe: FixProbe) -> None:
        self._probe = probe
        self._known: dict[str, list[str] | None] = {}

    async def of(self, lookup: _Lookup) -> tuple[Tables, list[str]] | None:
        """The column's tables, and the columns that all of them have."""
        for tables in lookup.candidates:
            known = {table: await self._of(table) for table in tables if table is not None}
            own = tuple(table for table in tables[lookup.side] if table is not None)
            if own and None not in known.values():
                first, *others = [known[table] or [] for table in own]
                return own, [each for each in first if all(each in other for other in others)]
        return None

    async def _of(self, table: str) -> list[str] | None:
        if table not in self._known:
            found = await self._probe.compute(_COLUMNS.format(name=table))
            self._known[table] = found if isinstance(found, list) else None
        return self._known[table]


async def find(failure: CellFailure, probe: FixProbe) -> list[FixInfo]:
    """Fixes for missing columns.

    One fix replaces all missing columns of the tables in the failing statement; if one of them has
    no near name, there is no fix.
    """
    assert failure.error is not None
    tree = editing.tree_of(failure.cell.source)
    if tree is None or "pandas" not in "\n".join(failure.error.traceback):
        return []  # no Python, a dict's key, or another library's
    message, line = plain(failure.error.evalue), where(failure.error.traceback).line
    known = _Columns(probe)
    fixes: list[FixInfo] = []
    for tables, missing in (await _missing(tree, line, message, known)).items():
        uses = await _uses(tree, tables, missing, known)
        fixes += _fixes(failure, missing, uses, line)
    return fixes if len({each.id for each in fixes}) == len(fixes) else fixes[:1]


@dataclass(frozen=True)
class _Missing:
    """Missing columns: near names for each, and their neighbours in lists."""

    near: dict[str, list[Near]]
    beside: set[str]


async def _missing(
    tree: ast.Module, line: int | None, message: str, known: _Columns
) -> dict[Tables, _Missing]:
    """The missing columns of the failing statement by tables: the one that the error names, and
    those in one list with it (pandas usually names the first)."""
    found: dict[Tables, _Missing] = {}
    for statement in tree.body:
        if line is not None and not statement.lineno <= line <= (statement.end_lineno or line):
            continue
        for lookup in _lookups(statement):
            of = await known.of(lookup) if _is_named(lookup.name, message) else None
            if of is None or lookup.name in of[1]:
                continue
            tables, columns = of
            missing = found.setdefault(tables, _Missing({}, set()))
            for name in [lookup.name, *(str(each.value) for each in lookup.beside)]:
                if name in columns:
                    missing.beside.add(name)
                else:
                    missing.near.setdefault(name, near_names(name, columns))
    return found


def _is_named(name: str, message: str) -> bool:
    """Whether the error is about this name. pandas words it, and lists and indexes of it,
    differently in each method, and does not always quote like Python."""
    try:
        value = ast.literal_eval(message)
    except (SyntaxError, ValueError):
        value = message
    text = value if isinstance(value, str) else message
    quoted = (repr(name), f"'{name}'", f'"{name}"')
    return text == name or text.endswith(f": {name}") or any(each in text for each in quoted)


async def _uses(
    tree: ast.Module, tables: Tables, missing: _Missing, known: _Columns
) -> dict[str, list[ast.Constant]]:
    """All literals of the cell that name these columns of these tables."""
    uses: dict[str, list[ast.Constant]] = {}
    for lookup in _lookups(tree):
        if lookup.name in missing.near:
            of = await known.of(lookup)
            if of is not None and lookup.name not in of[1] and set(of[0]) & set(tables):
                uses.setdefault(lookup.name, []).append(lookup.literal)
    return uses


def _fixes(
    failure: CellFailure,
    missing: _Missing,
    uses: dict[str, list[ast.Constant]],
    line: int | None,
) -> list[FixInfo]:
    """The nearest names for all; then, for each, the alternatives."""
    if not all(missing.near.values()):
        return []
    nearest = {name: near[0] for name, near in missing.near.items()}
    choices = [nearest]
    for name, near in missing.near.items():
        choices += [{**nearest, name: other} for other in near[1:]]
    made = [_fix(failure, choice, missing.beside, uses, line) for choice in choices]
    return [fix for fix in made if fix is not None]


def _fix(
    failure: CellFailure,
    choice: dict[str, Near],
    beside: set[str],
    uses: dict[str, list[ast.Constant]],
    line: int | None,
) -> FixInfo | None:
    source = failure.cell.source
    spans = [
        editing.string_span(source, literal, near.name)
        for name, near in choice.items()
        for literal in uses[name]
    ]
    exact = [span for span in spans if span is not None]
    if len(exact) < len(spans):
        return None
    wrong = list(choice)
    right = [near.name for near in choice.values()]
    # The same column twice is hardly intended.
    is_clear = all(near.clear for near in choice.values())
    is_once = len({*right, *beside}) == len(right) + len(beside)
    column = "column" if len(wrong) == 1 else "columns"
    return FixInfo(
        id="column-" + "-".join(f"{name}-{near.name}" for name, near in choice.items()),
        title=f"Use the {column} {_listed(right)} instead of {_listed(wrong)}",
        explanation=f"The table has no {column} {_listed(wrong)}; it has {_listed(right)}.",
        safe=is_clear and is_once and may_run_again(source, line),
        calls=[editing.update(failure.path, failure.cell, editing.replaced(source, exact))],
    )


def _listed(names: Sequence[str]) -> str:
    *most, last = map(repr, names)
    return f"{', '.join(most)} and {last}" if most else last


_BOTH = slice(None)
_SIDES: dict[str | None, slice] = {"left_on": slice(0, 1), "right_on": slice(1, 2)}


def _lookups(tree: ast.AST) -> Iterator[_Lookup]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            frame = _frame(node.value)
            for named in _in_subscript(node) if frame is not None else ():
                literals = list(_strings(named))
                for each in literals:
                    # A list that is assigned to may create columns.
                    beside = [each] if isinstance(node.ctx, ast.Store) else literals
                    yield _Lookup(each, [(frame,)], _BOTH, beside)
        elif isinstance(node, ast.Call):
            candidates = _tables_of_call(node)
            for keyword, named in _in_call(node):
                literals = list(_strings(named))
                for each in literals:
                    yield _Lookup(each, candidates, _SIDES.get(keyword, _BOTH), literals)


def _in_subscript(node: ast.Subscript) -> Iterator[ast.expr]:
    """The expressions that name columns in ``df['a']``, ``df[['a', 'b']]``, ``df.loc[rows,
    'a']``."""
    index = node.slice
    if isinstance(node.value, ast.Attribute) and node.value.attr in ("loc", "at"):
        if isinstance(index, ast.Tuple) and len(index.elts) == 2:
            yield index.elts[1]
    elif not (isinstance(node.value, ast.Attribute) and node.value.attr in ("iloc", "iat")):
        yield index


def _in_call(node: ast.Call) -> Iterator[tuple[str | None, ast.expr]]:
    """The expressions that name columns in a call, with their keyword."""
    name = _called(node)
    of_rows = name in _OF_ROWS and not _is_along_columns(node)
    for value in node.args if name in _COLUMN_METHODS and not of_rows else ():
        yield None, value
    for keyword in node.keywords:
        if keyword.arg in ("index", "labels") and name in _OF_ROWS:
            if keyword.arg == "labels" and not of_rows:
                yield keyword.arg, keyword.value
        elif keyword.arg in _COLUMN_KEYWORDS:
            yield keyword.arg, keyword.value
        elif name in ("agg", "aggregate") and isinstance(keyword.value, ast.Tuple):
            # ``agg(mean=("a", "mean"))``
            yield from ((keyword.arg, each) for each in keyword.value.elts[:1])


def _is_along_columns(node: ast.Call) -> bool:
    axis = [*node.args[1:2], *(each.value for each in node.keywords if each.arg == "axis")]
    return any(isinstance(each, ast.Constant) and each.value in (1, "columns") for each in axis)


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _strings(node: ast.expr) -> Iterator[ast.Constant]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        for each in node.elts:
            yield from _strings(each)
    elif isinstance(node, ast.Dict):
        for key in node.keys:
            if key is not None:
                yield from _strings(key)


def _frame(node: ast.expr) -> str | None:
    """The variable (or its attribute) that has the columns: ``df`` of ``df.loc``; of a chain of
    calls that keeps the columns the one that it starts with."""
    while True:
        if isinstance(node, ast.Attribute) and node.attr in _ACCESSORS:
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr not in _KEEPS_COLUMNS:
                return None
            node = node.func.value
        else:
            break
    return ast.unparse(node) if _is_plain(node) else None


def _is_plain(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _tables_of_call(node: ast.Call) -> list[Candidates]:
    """``df`` of ``df.groupby('a')``, of ``pd.melt(df, ['a'])`` and of ``sns.histplot(data=df,
    x='a')``; both tables of a merge. The kernel tells whether ``pd`` is one."""
    given = {each.arg: _frame(each.value) for each in node.keywords}
    if data := given.get("data"):
        return [(data,)]
    func, name = node.func, _called(node)
    owner = func.value if isinstance(func, ast.Attribute) else None
    is_plot = isinstance(owner, ast.Attribute) and owner.attr == "plot"
    if name not in _COLUMN_METHODS and not is_plot:
        return []
    first, second, *_ = *map(_frame, node.args[:2]), None, None
    left, right = given.get("left"), given.get("right")
    method: Candidates = ()
    function: Candidates = (first or given.get("frame"),)
    if owner is not None:
        method = (_frame(owner),)
    if name == "merge":
        method = (*method, first or right)
        function = (first or left, second or right)
    if owner is None:
        return [function]
    # Only a plain name before a method may be a module.
    return [method, function] if isinstance(owner, ast.Name) else [method]


FIX = Fix("missing-column", ("KeyError",), find)
