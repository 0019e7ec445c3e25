"""Which names a code cell defines, uses and changes in place, from its source alone.

The rules follow the language reference's section on naming and binding
(https://docs.python.org/3/reference/executionmodel.html); what only a run could show errs on the
side of an extra dependency.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from keyword import iskeyword
from typing import Literal, cast

from ..paths import name_set
from .cell_names import Call, CellNames, Later
from .ipython_source import NotPython, parse_cell

# Which calls change their object, judged by their names.


# Called for their display, as the last line of a cell, or for a file that they write.
_READING = name_set(
    "all any boxplot copy corr count cov describe dtypes equals explain filter groupby head hist "
    "info isin isna isnull items keys max mean median memory_usage min mode nlargest notna "
    "notnull nsmallest nunique plot predict predict_proba print_schema print_summary prod "
    "quantile query sample score select show skew std sum summary tail to_csv to_dict to_excel "
    "to_feather to_html to_json to_latex to_list to_markdown to_numpy to_parquet to_pickle to_sql "
    "to_string tolist transform unique value_counts values var display "
    # Strings, which never change.
    "capitalize casefold center encode endswith find format index isalnum isalpha isdecimal "
    "isdigit islower isnumeric isspace istitle isupper join ljust lower lstrip partition "
    "removeprefix removesuffix rjust rpartition rsplit rstrip split splitlines startswith "
    "strip swapcase title "
    "upper zfill "
    # These return a new object; with ``inplace=True`` they change theirs.
    "agg aggregate apply applymap assign astype between bfill clip cumsum diff drop "
    "drop_duplicates dropna eval explode ffill fillna interpolate map mask melt merge "
    "pct_change pipe pivot pivot_table rank reindex rename rename_axis replace resample "
    "reset_index rolling round set_axis set_index shift sort_index sort_values stack transpose "
    "unstack where"
)
# These change their object wherever they are called.
_CHANGING = name_set(
    "add append appendleft clear discard extend extendleft fit fit_predict fit_transform insert "
    "partial_fit pop popitem popleft remove reverse setdefault sort update"
)
# These change their first argument.
_CHANGING_ARGUMENT = name_set("heapify heappop heappush heappushpop next setattr delattr shuffle")
# Calls on a library that affect later cells.
_SETTING = name_set(
    "default_rng filterwarnings manual_seed option_context register seed set set_context "
    "set_defaults set_option set_palette set_printoptions set_style set_theme simplefilter update "
    "use basicConfig chdir putenv"
)


def root_name(node: ast.expr) -> str | None:
    """``df`` of ``df.loc[x].b``; None if the chain does not start at a name."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _in_place(call: ast.Call) -> bool:
    return any(
        keyword.arg == "inplace"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for keyword in call.keywords
    )


def changes_receiver(call: ast.Call) -> bool:
    """Whether a method call as a statement changes its object."""
    if not isinstance(call.func, ast.Attribute):
        return False
    return _in_place(call) or call.func.attr not in _READING


def changes_library(call: ast.Call) -> bool:
    """Whether a module's function sets something that affects later cells (``np.random.seed``)."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in _SETTING


def changes_its_object(call: ast.Call) -> list[str]:
    """Names whose object a call changes wherever it is: ``x = items.pop()``."""
    function = call.func
    names = []
    if isinstance(function, ast.Attribute):
        changing = function.attr in _CHANGING or _in_place(call)
        if changing and (root := root_name(function)) is not None:
            names.append(root)
        last = function.attr
    else:
        last = function.id if isinstance(function, ast.Name) else ""
    if last in _CHANGING_ARGUMENT and call.args and (root := root_name(call.args[0])) is not None:
        names.append(root)
    return names


# Which names belong to a function's own scope.


FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and ast.unparse(test) == "__name__ == '__main__'"


def type_parameters(node: ast.AST) -> set[str]:
    """``T`` of ``def f[T]()`` (Python 3.12)."""
    return {each.name for each in getattr(node, "type_params", [])}


def arguments(node: FunctionNode) -> list[ast.arg]:
    given = node.args
    rest = [each for each in (given.vararg, given.kwarg) if each is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *rest]


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's own scope: of nested functions and classes only the name."""
    for child in ast.iter_child_nodes(node):
        yield child
        scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
        if not isinstance(child, scopes):
            yield from _own_nodes(child)


def bound_in(node: FunctionNode) -> set[str]:
    """Names that are local to a function since its body binds them somewhere."""
    if isinstance(node, ast.Lambda):
        return set()
    bound: set[str] = set()
    for child in (found for statement in node.body for found in [statement, *_inner(statement)]):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store | ast.Del):
            bound.add(child.id)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(child.name)
        elif isinstance(child, ast.alias):
            bound.add(child.asname or child.name.partition(".")[0])
        elif isinstance(child, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and child.name:
            bound.add(child.name)
        elif isinstance(child, ast.MatchMapping) and child.rest:
            bound.add(child.rest)
    return bound


def _inner(statement: ast.stmt) -> Iterator[ast.AST]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return iter(())
    return _own_nodes(statement)


def globals_of(node: FunctionNode) -> set[str]:
    if isinstance(node, ast.Lambda):
        return set()
    return {
        name
        for statement in node.body
        for child in [cast(ast.AST, statement), *_inner(statement)]
        if isinstance(child, ast.Global)
        for name in child.names
    }


# Tracks the names of a cell during a walk: used, bound, changed in place.


# Functions through which a cell may define any name.
_DYNAMIC = frozenset({"exec", "eval", "globals"})


class Frame:
    """The names of a scope within the cell. A class's are not seen by its methods."""

    def __init__(
        self, names: set[str], kind: Literal["function", "class", "comprehension"] = "function"
    ) -> None:
        self.names = names
        self.kind = kind
        self.declared_global: set[str] = set()


class ScopeTracker:
    """Tracks the scopes of a walk, and records in ``out`` what it does to names.

    ``later`` is set inside a function, whose body runs when it is called.
    """

    def __init__(self) -> None:
        self.out = CellNames()
        self.frames: list[Frame] = []
        self.bound: set[str] = set()
        self.later: Later | None = None
        self.parameters: dict[str, list[str | int]] = {}
        self.tick = 0

    def use(self, name: str) -> None:
        """A name is read."""
        if self._local(name):
            return
        if self.later is not None:
            self.later.uses.add(name)
            return
        self.tick += 1
        self.out.used_at.setdefault(name, self.tick)
        if name in _DYNAMIC:
            self.out.star = True
        if name not in self.bound:
            self.out.uses.add(name)
        later = self.out.later.get(name)
        if later is not None and name in self.bound | self.out.maybe:
            self._called(later, {name})

    def _called(self, later: Later, seen: set[str]) -> None:
        """A function that this cell defines is (or may be) called here."""
        for name in sorted(later.uses - seen):
            if name not in self.bound:
                self.out.uses.add(name)
            inner = self.out.later.get(name)
            if inner is not None:
                self._called(inner, seen | {name})
        for name in later.mutates:
            self._mutated(name)

    def bind(self, name: str) -> None:
        """A name gets a value."""
        frame = self._scope()
        if frame is not None and name not in frame.declared_global:
            frame.names.add(name)
            return
        if self.later is not None:
            self.later.mutates.add(name)
            return
        self.tick += 1
        self.bound.add(name)
        self.out.bound_at.setdefault(name, self.tick)
        self.out.later.pop(name, None)
        self.out.also.pop(name, None)
        self.out.imports.discard(name)
        self.out.classes.discard(name)

    def mutate(self, name: str) -> None:
        """The value of a name is changed in place."""
        if self._local(name):
            if self.later is not None:
                self.later.parameters.update(self.parameters.get(name, []))
            return
        self.use(name)
        if self.later is not None:
            self.later.mutates.add(name)
        else:
            self._mutated(name)

    def _mutated(self, name: str) -> None:
        if name not in self.bound:
            self.out.uses.add(name)
            self.out.mutates.add(name)

    def _local(self, name: str) -> bool:
        innermost = True
        for frame in reversed(self.frames):
            if name in frame.declared_global:
                return False
            if name in frame.names and (innermost or frame.kind != "class"):
                return True
            innermost = False
        return False

    def _scope(self) -> Frame | None:
        return self.frames[-1] if self.frames else None


_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


@lru_cache(maxsize=8192)
def analyse(source: str) -> CellNames:
    """The names of a code cell, cached by source, so that an edit costs the analysis of one
    cell."""
    try:
        tree = parse_cell(source)
    except NotPython:
        return CellNames()
    except SyntaxError:
        names = {word for word in _WORD.findall(source) if not iskeyword(word)}
        return CellNames(uses=set(names), mutates=names, opaque=True)
    try:
        return _Walker().cell(tree)
    except RecursionError:
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        return CellNames(uses=set(names), mutates=names, opaque=True)


class _Walker(ScopeTracker, ast.NodeVisitor):
    """Walks a cell in the order in which it runs."""

    def cell(self, tree: ast.Module) -> CellNames:
        out = self.out
        self.statements(tree.body)
        out.maybe -= self.bound
        out.defines = self.bound | out.maybe
        out.deletes -= self.bound
        return out

    # Statements

    def statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)

    def branch(self, body: list[ast.stmt]) -> set[str]:
        """Walk statements that may not run; returns the names that they certainly bind if they
        do."""
        before = set(self.bound)
        self.statements(body)
        new = self.bound - before
        self.bound = before
        if self.later is None and not self.frames:
            self.out.maybe |= new
        return new

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        if is_main(node.test):
            self.statements(node.body)
            return
        body, other = self.branch(node.body), self.branch(node.orelse)
        self.bound |= body & other

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self.visit(node.target)
        # A loop without iterations would bind nothing; that is ignored.
        self.statements(node.body)
        self.statements(node.orelse)

    visit_AsyncFor = visit_For

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self.statements(node.body)
        self.statements(node.orelse)

    def visit_Try(self, node: ast.Try) -> None:
        before = set(self.bound)
        self.statements(node.body)
        self.statements(node.orelse)
        sure = self.bound - before
        self.bound = before
        self.out.maybe |= sure if self.later is None and not self.frames else set()
        for handler in node.handlers:
            new = self._handler(handler)
            if not isinstance(handler.body[-1], ast.Raise):
                sure &= new
        self.bound |= sure
        self.statements(node.finalbody)

    visit_TryStar = visit_Try

    def _handler(self, node: ast.ExceptHandler) -> set[str]:
        if node.type is not None:
            self.visit(node.type)
        if node.name is None or self.frames:
            if node.name is not None:
                self.bind(node.name)
            return self.branch(node.body)
        # The name of the exception is deleted when its handler ends.
        known = node.name in self.bound, node.name in self.out.maybe
        self.bound.add(node.name)
        new = self.branch(node.body) - {node.name}
        if not known[0]:
            self.bound.discard(node.name)
        if not known[1]:
            self.out.maybe.discard(node.name)
        return new

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        for case in node.cases:
            before = set(self.bound)
            self.visit(case.pattern)
            if case.guard is not None:
                self.visit(case.guard)
            self.statements(case.body)
            if self.later is None and not self.frames:
                self.out.maybe |= self.bound - before
            self.bound = before

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.pattern is not None:
            self.visit(node.pattern)
        if node.name is not None:
            self.bind(node.name)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name is not None:
            self.bind(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.generic_visit(node)
        if node.rest is not None:
            self.bind(node.rest)

    def visit_Assign(self, node: ast.Assign) -> None:
        value = node.value
        single = node.targets[0] if len(node.targets) == 1 else None
        if isinstance(value, ast.Lambda) and isinstance(single, ast.Name):
            self._function(value, single.id)
            return
        self.visit(value)
        for target in node.targets:
            self.visit(target)
        if isinstance(single, ast.Name) and self.later is None and not self.frames:
            self._also(single.id, value)

    def _also(self, name: str, value: ast.expr) -> None:
        """``g = f`` and ``c = Class()``: the new name is an alias for calls."""
        if isinstance(value, ast.Name):
            self.out.also[name] = (value.id, False)
            if value.id in self.out.later:
                self.out.later[name] = self.out.later[value.id]
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            self.out.also[name] = (value.func.id, True)
            if value.func.id in self.out.classes:
                self.out.later[name] = self.out.later[value.func.id]

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.use(node.target.id)
        self.visit(node.target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.visit(target)

    def visit_Global(self, node: ast.Global) -> None:
        if self.frames:
            self.frames[-1].declared_global.update(node.names)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.out.star = True
                continue
            name = alias.asname or alias.name.partition(".")[0]
            self.bind(name)
            if self.later is None and not self.frames:
                self.out.imports.add(name)

    visit_ImportFrom = visit_Import

    def visit_Expr(self, node: ast.Expr) -> None:
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call) and changes_receiver(call):
            self._receiver(call)
        self.visit(node.value)

    def _receiver(self, call: ast.Call) -> None:
        root = root_name(call.func)
        if root is None or self._local(root):
            if root is not None:
                self.mutate(root)
            return
        if self.later is None and changes_library(call):
            self.out.library_mutates.add(root)
        # If another cell imports it, only the graph knows whether it is a library's function.
        if root not in self.out.imports:
            self.mutate(root)

    # Scopes

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._function(node, node.name)

    def visit_TypeAlias(self, node: ast.AST) -> None:
        self.visit(node.name)  # type: ignore[attr-defined]  # Python 3.12

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """A lambda that is passed on counts as called in place."""
        self._defaults(node)
        self.frames.append(Frame({argument.arg for argument in arguments(node)}))
        self.visit(node.body)
        self.frames.pop()

    def _defaults(self, node: FunctionNode) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        if not isinstance(node, ast.Lambda):
            self.frames.append(Frame(type_parameters(node), "comprehension"))
            for argument in arguments(node):
                if argument.annotation is not None:
                    self.visit(argument.annotation)
            if node.returns is not None:
                self.visit(node.returns)
            self.frames.pop()

    def _function(self, node: FunctionNode, name: str) -> None:
        """A function's body runs when it is called; its defaults now."""
        self._defaults(node)
        self.bind(name)
        outermost = self.later is None
        if self.later is None:
            self.later = Later()
            places = [argument.arg for argument in [*node.args.posonlyargs, *node.args.args]]
            self.parameters = {arg.arg: [arg.arg] for arg in arguments(node)}
            for place, argument in enumerate(places):
                self.parameters[argument].append(place)
        frame = Frame({argument.arg for argument in arguments(node)})
        frame.names |= bound_in(node) | type_parameters(node)
        frame.declared_global = globals_of(node)
        frame.names -= frame.declared_global
        self.frames.append(frame)
        if isinstance(node, ast.Lambda):
            self.visit(node.body)
        else:
            self.statements(node.body)
        self.frames.pop()
        if not outermost:
            return
        later, self.later, self.parameters = self.later, None, {}
        if not self.frames:
            self.out.later[name] = later
        elif (frame := self.frames[-1]).kind == "class":
            self._class_later.uses |= later.uses
            self._class_later.mutates |= later.mutates
        else:
            self._called(later, set())

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for each in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(each)
        outer = self.later is None and not self.frames
        if outer:
            self._class_later = Later()
        self.frames.append(Frame(type_parameters(node), "class"))
        self.statements(node.body)
        self.frames.pop()
        self.bind(node.name)
        if outer:
            self.out.later[node.name] = self._class_later
            self.out.classes.add(node.name)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> None:
        self.visit(node.generators[0].iter)
        self.frames.append(Frame(set(), "comprehension"))
        for place, generator in enumerate(node.generators):
            if place:
                self.visit(generator.iter)
            self.visit(generator.target)
            for condition in generator.ifs:
                self.visit(condition)
        if isinstance(node, ast.DictComp):
            self.visit(node.key)
            self.visit(node.value)
        else:
            self.visit(node.elt)
        self.frames.pop()

    visit_ListComp = visit_SetComp = _comprehension
    visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """A walrus binds outside of its comprehensions."""
        self.visit(node.value)
        inner = []
        while self.frames and self.frames[-1].kind == "comprehension":
            inner.append(self.frames.pop())
        self.visit(node.target)
        self.frames.extend(reversed(inner))

    # Expressions

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.use(node.id)
        elif isinstance(node.ctx, ast.Store):
            self.bind(node.id)
        else:
            self._delete(node.id)

    def _delete(self, name: str) -> None:
        self.use(name)
        if self.later is None and not self.frames:
            self.bound.discard(name)
            self.out.maybe.discard(name)
            self.out.deletes.add(name)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._stored(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._stored(node)

    def _stored(self, node: ast.Attribute | ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load) and (root := root_name(node)) is not None:
            self.mutate(root)
            if root in self.out.imports or not self.frames:
                self.out.library_mutates.add(root)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        for name in changes_its_object(node):
            self.mutate(name)
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Name):
            return
        given: dict[str | int, str] = {}
        for place, value in enumerate(node.args):
            if isinstance(value, ast.Name) and not self._local(value.id):
                given[place] = value.id
        for keyword in node.keywords:
            if keyword.arg and isinstance(keyword.value, ast.Name):
                given[keyword.arg] = keyword.value.id
        if not given or self.later is not None:
            return
        self.out.calls.append(Call(function.id, given))
        known = self.out.later.get(function.id)
        for key, name in given.items():
            if known is not None and key in known.parameters:
                self.mutate(name)
