"""The syntax tree of a cell, and IPython's commands in it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from functools import lru_cache

from ...notebook.dataflow.ipython_source import Command, split_commands


@lru_cache(maxsize=128)
def parsed(source: str) -> tuple[ast.Module | None, Sequence[Command]]:
    """The tree (None if the cell cannot be parsed) and the commands. The tree is cached: do not
    change it."""
    tree = _parse(source)
    if tree is not None:
        return tree, ()
    python, commands = split_commands(source)
    return _parse(python), commands


def _parse(source: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in somebody's cell
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
