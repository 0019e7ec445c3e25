"""Which names a code cell defines, uses and changes in place, from its source alone.

The rules follow the language reference's section on naming and binding
(https://docs.python.org/3/reference/executionmodel.html); what only a run could show errs on the
side of an extra dependency.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from keyword import iskeyword

from .cell_names import Call, CellNames, Later
from .ipython_source import NotPython, parse_cell
from .mutation import changes_its_object, changes_library, changes_receiver, root_name
from .scope_tracker import Frame, ScopeTracker
from .scopes import FunctionNode, arguments, bound_in, globals_of, is_main, type_parameters

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
