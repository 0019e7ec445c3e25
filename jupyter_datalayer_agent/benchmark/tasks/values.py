"""Values of a kernel: what an expression gives there, as JSON, and whether it is what is right."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import Any

RELATIVE = 1e-6
"""How far a number may be off: the order of a sum is free."""


class NoValue(Exception):
    """The expression has no value there; the message says why."""


def plain(value: Any) -> Any:
    """The value as JSON has it: series as objects by index, arrays as lists, times as text.

    Runs in the task's kernel too, so it uses nothing but builtins.
    """
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, int | float):
        return int(value) if isinstance(value, int) else float(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, dict):
        return {str(plain(key)): plain(each) for key, each in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(plain(each) for each in value)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return str(value)


def code_of(expression: str, file: Path) -> str:
    """Code that writes the expression's value, or why it has none, to the file. It leaves no name
    behind in the kernel."""
    writing = (
        f"{inspect.getsource(plain)}\n"
        "import json\n"
        "try:\n"
        "    found = {'value': plain(value())}\n"
        "except Exception as error:\n"
        "    found = {'problem': f'{type(error).__name__}: {error}'}\n"
        "with open(path, 'w', encoding='utf-8') as opened:\n"
        "    json.dump(found, opened)\n"
    )
    # The future import of this module: annotations are not looked up.
    given = f"{{'Any': object, 'path': {str(file)!r}, 'value': lambda: ({expression})}}"
    return f"exec({writing!r}, {given})"


def same(found: Any, right: Any) -> bool:
    """Whether two plain values are equal: numbers nearly, objects without regard to order."""
    if isinstance(found, bool) or isinstance(right, bool):
        return found is right
    if isinstance(found, int | float) and isinstance(right, int | float):
        both_nan = math.isnan(found) and math.isnan(right)
        return both_nan or math.isclose(found, right, rel_tol=RELATIVE, abs_tol=1e-9)
    if isinstance(found, dict) and isinstance(right, dict):
        return found.keys() == right.keys() and all(same(found[key], right[key]) for key in right)
    if isinstance(found, list) and isinstance(right, list):
        return len(found) == len(right) and all(map(same, found, right))
    return type(found) is type(right) and bool(found == right)
