"""What a check sees: the learner's names, the cell's source, and what the cell made and showed."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

from .formatting import kind_of, nearest


class CheckFailed(Exception):
    """The answer is not right; the message says what is wrong and what to do about it."""


class Inspection:
    """The learner's work after the cell has run. Nothing of it may be changed.

    ``names`` is the kernel's namespace, ``shown`` the value of the cell's last expression (None
    without one), ``figures`` what the cell drew.
    """

    def __init__(self, names: dict[str, Any], source: str, shown: Any) -> None:
        self.names = names
        self.source = source
        self.shown = shown
        self.figures: list[Any] = []

    @property
    def tree(self) -> ast.Module:
        """The cell as a syntax tree; an empty one where it cannot be read as Python."""
        shell = self.names.get("get_ipython")
        source = re.sub(r"^%%(time|capture|prun)\b.*", "", self.source.lstrip())
        try:
            # What IPython makes of it: magics are calls then.
            return ast.parse(shell().transform_cell(source) if shell else source)
        except (SyntaxError, ValueError):
            return ast.Module(body=[], type_ignores=[])

    def assigns(self) -> set[str] | None:
        """The names that the cell gives a value to; None where that is unknown."""
        nodes = list(ast.walk(self.tree))
        if self.calls("exec", "globals"):
            return None
        names = {
            node.id for node in nodes if isinstance(node, ast.Name) and type(node.ctx) is ast.Store
        }
        for node in nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names |= {each.asname or each.name.split(".")[0] for each in node.names}
        return names

    def calls(self, *functions: str) -> list[ast.Call]:
        """The calls of functions or methods of these names."""
        return [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call) and _name_of(node.func) in functions
        ]

    def assigned(self, name: str) -> ast.expr | None:
        """What the cell last assigns to the name, as it is written."""
        found = None
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id == name for target in node.targets
            ):
                found = node.value
        return found

    def value(self, name: str) -> Any:
        """The value of a name that the task asks for."""
        assigned = self.assigns()
        # A value of the same name may be left from an earlier run of the cell, or from another one.
        if name not in self.names or (assigned is not None and name not in assigned):
            raise CheckFailed(self._missing(name, assigned))
        value = self.names[name]
        if value is ...:
            raise CheckFailed(f"`{name}` is still `...`. Put your answer in its place.")
        if value is None:
            raise CheckFailed(
                f"`{name}` is None: the expression right of the = returns nothing. print() does "
                "that, and methods with inplace=True."
            )
        if inspect.ismethod(value) or inspect.isbuiltin(value):
            raise CheckFailed(
                f"`{name}` is the method {value.__name__} itself, not its result. Add () after it."
            )
        if isinstance(value, str) and self._names_code(value):
            raise CheckFailed(
                f"`{name}` is a text that looks like code. Take the quotes away, so that Python "
                "computes it."
            )
        return value

    def earlier(self, name: str, lesson: int) -> Any:
        """The value of a name that an earlier lesson has made."""
        value = self.names.get(name)
        if value is None or value is ...:
            raise CheckFailed(
                f"`{name}` is not there yet. It comes from lesson {lesson}: do that first."
            )
        return value

    def number(self, name: str) -> float:
        """A number; what is one in pandas' and NumPy's eyes counts."""
        value = self.value(name)
        if getattr(value, "ndim", None) == 0 or hasattr(value, "dtype"):
            value = value.item() if getattr(value, "size", 0) == 1 else value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise CheckFailed(f"`{name}` should be a number; it is {kind_of(value)}.")
        return value

    def _missing(self, name: str, assigned: set[str] | None) -> str:
        skipped = {"In", "Out", "exit", "quit", "get_ipython", "open"}
        own = [
            each
            for each in (self.names if assigned is None else assigned)
            if not each.startswith("_") and each not in skipped
        ]
        near = nearest(name, own)
        if near is not None and near.lower().replace("_", "") == name.lower().replace("_", ""):
            return f"There is a `{near}`, but the task asks for `{name}`. Names must match exactly."
        if self.shown is not None and self.shown is not ...:
            return (
                f"There is no `{name}`. The cell shows {kind_of(self.shown)} but does not keep it: "
                f"write `{name} = ` in front of it."
            )
        if near is not None:
            return f"There is no `{name}`. Is it what you called `{near}`?"
        return f"There is no `{name}` yet. The cell has to assign it: `{name} = ...`"

    def _names_code(self, value: str) -> bool:
        start = value.split(".")[0].split("[")[0].strip()
        return start in self.names and ("." in value or "[" in value) and not value.endswith(".csv")


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def close(found: float, wanted: float, tolerance: float = 5e-4) -> bool:
    """Equal but for rounding: ``tolerance`` is relative, absolute below 1."""
    return bool(abs(found - wanted) <= tolerance * max(1.0, abs(wanted)))
