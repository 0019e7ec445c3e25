"""Every regular expression of the package, with the methods that are used of it.

A pattern is found where it is kept (globals of modules, their containers and classes) and where it
is written (`re.` calls in functions, by the syntax tree). What a call puts into a pattern from a
variable stands as a word.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeGuard

import jupyter_datalayer_agent

METHODS = ("search", "match", "fullmatch", "finditer", "sub", "split")
_UNKNOWN = ("finditer", "fullmatch")
_SAME = {"findall": "finditer", "subn": "sub"}
_CALLS = {*METHODS, *_SAME, "compile"}
_WORD = "word"
_APART = "jupyter_datalayer_agent.benchmark"
"""It is run by developers on tasks of their own, and takes seconds to import."""


@dataclass(frozen=True)
class Used:
    """A pattern, the module that has it, and the methods by which it meets a text."""

    module: str
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]

    @property
    def place(self) -> str:
        """The module within the package."""
        return self.module.removeprefix("jupyter_datalayer_agent.")


def patterns(package: ModuleType = jupyter_datalayer_agent) -> list[Used]:
    """Those of the package's modules that can be imported here."""
    found: dict[tuple[str, re.Pattern[Any]], set[str]] = {}
    fields: dict[re.Pattern[Any], str] = {}
    trees: list[tuple[ModuleType, ast.Module]] = []
    for module in _modules(package):
        tree = ast.parse(_source(module))
        trees.append((module, tree))
        for name, pattern in _kept(module):
            found.setdefault((module.__name__, pattern), set())
            fields[pattern] = name
        for pattern, method in _written(module, tree):
            found.setdefault((module.__name__, pattern), set()).update(method)
    calls: dict[Any, set[str]] = {}
    for module, tree in trees:
        for of, method in _methods(module, tree):
            calls.setdefault(of, set()).add(method)
    return [
        Used(
            module,
            pattern,
            tuple(
                sorted(
                    methods | calls.get(pattern, set())
                    or calls.get((module, fields.get(pattern)))
                    or calls.get(module)
                    or _UNKNOWN
                )
            ),
        )
        for (module, pattern), methods in found.items()
    ]


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    yield package
    for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if each.name.endswith("__main__") or each.name.startswith(_APART):
            continue
        try:
            yield importlib.import_module(each.name)
        except ImportError:
            # It needs a program that is not installed here: it is read without being run.
            spec = importlib.util.find_spec(each.name)
            assert spec is not None
            assert spec.origin is not None
            module = ModuleType(each.name)
            module.__file__ = spec.origin
            vars(module)["re"] = re
            yield module


def _source(module: ModuleType) -> str:
    assert module.__file__ is not None
    with open(module.__file__, encoding="utf-8") as file:
        return file.read()


def _kept(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The patterns in the module's globals, with the names of the fields that they are in."""
    seen: set[int] = set()

    def walk(value: Any, depth: int = 0, field: str = "") -> Iterator[tuple[str, re.Pattern[Any]]]:
        if id(value) in seen or depth > 6:
            return
        seen.add(id(value))
        if isinstance(value, re.Pattern):
            yield field, value
        elif isinstance(value, Mapping):
            for key, each in value.items():
                yield from walk(key, depth + 1)
                yield from walk(each, depth + 1, str(key))
        elif isinstance(value, (list, tuple, set, frozenset)):
            for each in value:
                yield from walk(each, depth + 1)
        elif isinstance(value, functools.partial):
            yield from walk((value.func, *value.args, value.keywords), depth + 1)
        elif isinstance(getattr(value, "__self__", None), re.Pattern):
            yield field, value.__self__
        elif callable(value) and getattr(value, "__module__", None) == module.__name__:
            yield from walk(
                (
                    getattr(value, "__defaults__", None),
                    getattr(value, "__kwdefaults__", None),
                    getattr(value, "__wrapped__", None),
                    dict(vars(value)) if isinstance(value, type) else None,
                ),
                depth + 1,
            )
        elif type(value).__module__.startswith("jupyter_datalayer_agent") and hasattr(
            value, "__dict__"
        ):
            yield from walk(dict(vars(value)), depth + 1)

    for value in list(vars(module).values()):
        yield from walk(value)


def _written(module: ModuleType, tree: ast.Module) -> Iterator[tuple[re.Pattern[Any], set[str]]]:
    """The patterns of calls of `re` within functions."""
    then = {
        node.value: node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and _is_call_of_re(node.value)
        and node.attr in (*METHODS, *_SAME)
    }
    for node in ast.walk(tree):
        if not _is_call_of_re(node):
            continue
        text = _value(module, node.args[0])
        if text is None or isinstance(text, re.Pattern):
            continue
        flags = 0
        place = {"compile": 1, "search": 2, "match": 2, "fullmatch": 2, "findall": 2}
        given = [each.value for each in node.keywords if each.arg == "flags"]
        at = place.get(node.func.attr, 2 if node.func.attr == "finditer" else 99)
        given += node.args[at : at + 1]
        if given:
            flags = eval(compile(ast.Expression(given[0]), "flags", "eval"), vars(module))
        method = then.get(node, node.func.attr)
        yield re.compile(text, flags), {_SAME.get(method, method)} - {"compile"}


def _is_call_of_re(node: ast.AST) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in _CALLS
        and bool(node.args)
    )


def _value(module: ModuleType, node: ast.expr) -> Any:
    """What the expression is, a word in place of each part that only a call knows."""
    try:
        return eval(compile(ast.Expression(node), "pattern", "eval"), dict(vars(module)))
    except (NameError, AttributeError, TypeError, KeyError, IndexError):
        pass  # a part of it is known in the call alone
    if isinstance(node, ast.JoinedStr):
        parts = [
            each.value if isinstance(each, ast.Constant) else _value(module, each.value)  # type: ignore[attr-defined]
            for each in node.values
        ]
        return "".join(str(_WORD if part is None else part) for part in parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _value(module, node.left), _value(module, node.right)
        return (_WORD if left is None else left) + (_WORD if right is None else right)
    return None


def _methods(module: ModuleType, tree: ast.Module) -> Iterator[tuple[Any, str]]:
    """The methods that the module uses: of its named patterns, of those in fields (by the module's
    and the field's name), and of others (by the module's name), as a loop over a list does."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Attribute) and node.attr in (*METHODS, *_SAME)):
            continue
        value = node.value
        if _is_call_of_re(value):
            continue  # `re.compile(…).match(…)`: see `_written`
        if isinstance(value, ast.Name) and isinstance(
            pattern := vars(module).get(value.id), re.Pattern
        ):
            yield pattern, _SAME.get(node.attr, node.attr)
        elif node.attr != "split" and not (isinstance(value, ast.Name) and value.id == "re"):
            yield module.__name__, _SAME.get(node.attr, node.attr)
            if isinstance(value, ast.Attribute):
                yield (module.__name__, value.attr), _SAME.get(node.attr, node.attr)
