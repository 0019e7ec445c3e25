"""Which names belong to a function's own scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import cast

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
