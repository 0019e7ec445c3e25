"""Rules about Python code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...notebook.dataflow.ipython_source import NotPython, parse_cell
from ...notebook.dataflow.names import analyse
from .notebook import AnalysedNotebook
from .types import Finding, QualityRule

MOST_PRINTS = 3
_PRINT = re.compile(r"(?<![\w.])print\(")
_WILDCARD = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+\*", re.MULTILINE)


def _syntax(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.code:
        if cell.source.lstrip().startswith("%%"):
            continue  # an unknown magic
        try:
            parse_cell(cell.source)
        except NotPython:
            continue
        except SyntaxError as error:
            yield Finding(f"Invalid Python: {error.msg}.", cell)


def _wildcards(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.code:
        tree = cell.tree
        if tree is None:
            modules = _WILDCARD.findall(cell.source) if "%%" not in cell.source[:2] else []
        else:
            modules = [
                node.module or "."
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom)
                and any(alias.name == "*" for alias in node.names)
                and node.module != "__magic__"
            ]
        for module in modules:
            yield Finding(f"“from {module} import *” hides where names come from.", cell)


def _prints(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.code:
        count = len(_PRINT.findall(cell.source))
        if count > MOST_PRINTS:
            yield Finding(f"The cell calls print {count} times.", cell)


def _undefined(notebook: AnalysedNotebook) -> Iterator[Finding]:
    graph = notebook.graph
    for place, cell in enumerate(notebook.code):
        for name in sorted(graph.undefined[place]):
            below = next(
                (
                    other
                    for other in notebook.code[place + 1 :]
                    if name in analyse(other.source).defines
                ),
                None,
            )
            if below is not None:
                yield Finding(
                    f"{name} is used here and defined only in cell {below.index + 1}, below.", cell
                )
            else:
                yield Finding(f"{name} is used here and not defined in any cell.", cell)


RULES = [
    QualityRule("syntax-error", "error", 10, 30, "a cell with invalid Python",
         "Fix the cells with invalid Python.", _syntax, python=True),
    QualityRule("used-before-defined", "error", 10, 30,
         "a name that is used before, or without, its definition",
         "Define names in a cell above those that use them.", _undefined, python=True),
    QualityRule("wildcard-import", "warning", 5, None, "a wildcard import",
         "Import the names that are used, instead of *.", _wildcards, python=True),
    QualityRule("many-prints", "info", 3, None, "more than three print( in a cell",
         "Show tables and charts, or one summary, instead of many prints.", _prints, python=True),
]  # fmt: skip
