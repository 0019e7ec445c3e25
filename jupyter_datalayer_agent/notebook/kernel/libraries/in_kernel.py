"""Runs in a user's kernel: which libraries the variables come from, and their versions."""

from __future__ import annotations

import itertools
import platform
import sys
import types
from typing import Any

MOST_VARIABLES = 2_000
MOST = 30
KERNEL = {"builtins", "__main__", "IPython", "ipykernel", "xpython", "site"}
VERSION_CHARACTERS = 40
SITE = ("site-packages", "dist-packages")


def libraries(space: dict[str, Any]) -> dict[str, str]:
    """Python's version, and that of each library that a variable is, comes from or belongs to."""
    names = set()
    for value in itertools.islice(list(space.values()), MOST_VARIABLES):
        names |= {root(each) for each in origins(value)}
    ours = names - set(getattr(sys, "stdlib_module_names", ())) - KERNEL
    found = {name: version(name) for name in sorted(ours) if name in sys.modules}
    known = {name: each for name, each in found.items() if each}
    return {"Python": platform.python_version(), **dict(itertools.islice(known.items(), MOST))}


def origins(value: Any) -> list[Any]:
    if isinstance(value, types.ModuleType):
        return [vars(value).get("__name__")]
    kind = type(value)
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return [getattr(value, "__module__", None)]
    return [getattr(kind, "__module__", None)]


def root(name: Any) -> str:
    return name.partition(".")[0] if isinstance(name, str) else ""


def version(name: str) -> str:
    module = vars(sys.modules[name])
    said = module.get("__version__")
    if isinstance(said, str):
        return " ".join(said[:VERSION_CHARACTERS].split())
    if any(site in str(module.get("__file__")) for site in SITE):
        from importlib import metadata

        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    return ""
