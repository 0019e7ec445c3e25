"""All rules of the quality report, in the order in which their findings are listed."""

from __future__ import annotations

import ast
import json
import logging
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from shutil import which
from typing import Any

from ...notebook.dataflow.ipython_source import NotPython, parse_cell
from ...notebook.dataflow.names import analyse
from ...secrets_in_text import kinds_of_secrets
from .notebook import AnalysedCell, AnalysedNotebook, Finding, QualityRule

# Rules about what should not be shared: secrets, and paths of one machine.
#
# A secret is never repeated in a message.


MOST_CHARACTERS = 100_000
"""Of a source or an output, as far as it is looked at."""

_ABSOLUTE = re.compile(
    r"""(['"])(?P<path>(?:/(?:home|Users|root|mnt|media|Volumes|data|content|tmp|var|opt|srv|workspace)
    /|[A-Za-z]:[\\/]{1,2}(?!/)|\\\\\\\\\w|~/)[^'"\n]*)\1""",
    re.VERBOSE,
)


def _texts(cell: AnalysedCell) -> Iterator[tuple[str, str]]:
    """The places and texts of a cell: the source, and its outputs as text."""
    yield "source", _as_text(cell.source)
    for output in cell.outputs:
        yield "output", _as_text(output.get("text"))
        yield "output", _as_text(output.get("traceback"))
        yield "output", _as_text(output.get("evalue"))
        for mime, value in (output.get("data") or {}).items():
            if not str(mime).startswith("image/"):
                yield "output", _as_text(value)


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        value = "\n".join(str(line) for line in value)
    return "" if value is None else str(value)[:MOST_CHARACTERS]


def _secrets(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.cells:
        seen = set()
        for place, text in _texts(cell):
            for kind in kinds_of_secrets(text):
                if (place, kind) not in seen:
                    seen.add((place, kind))
                    yield Finding(f"The {place} of the cell holds {kind}.", cell)


def _absolute_paths(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.code:
        seen = set()
        for match in _ABSOLUTE.finditer(_as_text(cell.source)):
            path = match["path"]
            if path not in seen:
                seen.add(path)
                yield Finding(f"The path {path[:80]!r} is specific to this machine.", cell)


SECRETS_RULES = [
    QualityRule("secret", "error", 25, 50, "a key, token or password in a source or an output",
         "Remove secrets from the notebook and revoke them. "
         "Read them from the environment.", _secrets),
    QualityRule("absolute-path", "warning", 5, 15, "an absolute path",
         "Use paths relative to the notebook.", _absolute_paths),
]  # fmt: skip


# Rules about runs: order, errors, and outputs that are older than their source.


def _errors(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.code:
        error = next((out for out in cell.outputs if out.get("output_type") == "error"), None)
        if error is not None:
            yield Finding(f"The cell ended with {error.get('ename') or 'an error'}.", cell)


def _out_of_order(notebook: AnalysedNotebook) -> Iterator[Finding]:
    highest = 0
    for cell in notebook.ran:
        count = cell.execution_count or 0
        if count < highest:
            yield Finding(
                f"The cell was run as number {count}, before a cell above it (number {highest}). "
                "The results may not be reproducible from top to bottom.",
                cell,
            )
            return
        highest = count


def _never_ran(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.code:
        if cell.execution_count is None and not cell.outputs:
            yield Finding("The cell has not been run.", cell)


def _older_outputs(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for place, cell in enumerate(notebook.code):
        if (why := _why_older(notebook, place, cell)) is not None:
            yield Finding(why, cell)


def _why_older(notebook: AnalysedNotebook, place: int, cell: AnalysedCell) -> str | None:
    if cell.id is not None and cell.id in notebook.stale:
        return "The cell, or one that it follows from, was changed since it ran."
    if not cell.outputs:
        return None
    if cell.execution_count is None:
        return "The output is of an earlier run: the cell itself has not been run."
    counts = {
        out.get("execution_count")
        for out in cell.outputs
        if out.get("output_type") == "execute_result"
    } - {None}
    if counts and cell.execution_count not in counts:
        return "The output is of another run than the cell's number."
    if not notebook.is_python:
        return None
    later = [
        above
        for above in (notebook.code[each] for each in notebook.graph.needs[place])
        if (above.execution_count or 0) > cell.execution_count
    ]
    if later:
        return f"Outdated: cell {later[0].index + 1} was re-run later."
    return None


RUNNING_RULES = [
    QualityRule("error-output", "error", 10, 30, "a cell whose output is an error",
         "Fix the cells that ended with an error, and rerun them.", _errors),
    QualityRule("out-of-order", "warning", 10, None, "cells were not run from top to bottom",
         "Restart the kernel and run all cells from top to bottom.", _out_of_order),
    QualityRule("older-output", "warning", 5, 20,
         "an output that is older than its source, or than what it follows from",
         "Rerun the cells whose outputs are outdated.", _older_outputs),
    QualityRule("never-ran", "info", 3, 15, "a code cell that never ran",
         "Run every cell, or delete those that are not needed.", _never_ran),
]  # fmt: skip


# Rules about Python code.


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


PYTHON_CODE_RULES = [
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


# Rules about how a notebook is laid out, in any language.


MARKDOWN_SHARE = 0.2
LONG_CELL = 500
_TITLE = re.compile(r"^ {0,3}#[ \t]+\S|^[^\n]+\n={3,}[ \t]*$|<h1\b", re.MULTILINE | re.IGNORECASE)


def _empty(notebook: AnalysedNotebook) -> Iterator[Finding]:
    if not any(cell.source.strip() for cell in notebook.cells):
        yield Finding("The notebook is empty.")


def _few_words(notebook: AnalysedNotebook) -> Iterator[Finding]:
    markdown = sum(cell.type == "markdown" for cell in notebook.cells)
    if notebook.cells and markdown / len(notebook.cells) < MARKDOWN_SHARE:
        share = 100 * markdown // len(notebook.cells)
        yield Finding(f"{markdown} of {len(notebook.cells)} cells are Markdown ({share}%).")


def _long_cells(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.code:
        if len(cell.source) > LONG_CELL:
            yield Finding(f"The cell has {len(cell.source)} characters.", cell)


def _no_title(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.cells:
        if cell.type == "markdown" and _TITLE.search(cell.source):
            return
        if cell.type == "code" and cell.source.strip():
            break
    if notebook.cells:
        yield Finding("No title before the first code cell.")


STRUCTURE_RULES = [
    QualityRule("empty", "error", 50, None, "the notebook is empty",
         "Write the first cells, or let a workflow make them.", _empty),
    QualityRule("little-markdown", "warning", 15, None, "fewer than 20% of the cells are Markdown",
         "Explain the steps in Markdown cells between the code.", _few_words),
    QualityRule("long-cell", "warning", 5, None, "a code cell of more than 500 characters",
         "Split long cells: one step a cell.", _long_cells),
    QualityRule("no-title", "warning", 5, None,
         "no level-one heading before the first code cell",
         "Start with a title and a sentence on the notebook's purpose.", _no_title),
]  # fmt: skip


# Rules of ruff: https://docs.astral.sh/ruff/rules/. It reads notebooks itself.


log = logging.getLogger(__name__)

SECONDS = 20.0
_UNUSED = "F401"
# Code that does something other than it seems to.
_BUGS = ("B006", "B015", "B018", "E722", "F502", "F601", "F632", "F702", "F811")
# An expression in the last line of a cell is shown by the notebook.
_SHOWN = ("B015", "B018")


@cache
def ruff() -> str | None:
    """The program, beside this Python or on the path; None if it is not installed."""
    folders = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    found = [which("ruff", path=folder) for folder in folders if folder]
    return next((each for each in found if each), which("ruff"))


def _diagnostics(notebook: AnalysedNotebook) -> list[dict[str, Any]]:
    """Ruff's findings, cached with the notebook, since two rules use them."""
    kept = notebook.__dict__.get("ruff")
    if kept is None:
        kept = notebook.__dict__["ruff"] = _run(notebook)
    return list(kept)


def _run(notebook: AnalysedNotebook) -> list[dict[str, Any]]:
    program = ruff()
    if program is None:
        return []
    arguments = ["check", "--isolated", "--no-cache", "--exit-zero", "--output-format", "json"]
    select = ["--select", ",".join((_UNUSED, *_BUGS))]
    try:
        done = subprocess.run(
            [program, *arguments, *select, "--stdin-filename", "notebook.ipynb", "-"],
            input=_notebook_of(notebook),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=True,
        )
        diagnostics = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, json.JSONDecodeError) as error:
        log.warning("ruff could not look at a notebook: %s", error)
        return []
    return [each for each in diagnostics if each.get("cell") and each.get("code")]


def _notebook_of(notebook: AnalysedNotebook) -> str:
    """The notebook for ruff: valid, in Python, without fields that ruff ignores."""
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"c{cell.index}",
            "metadata": {},
            "outputs": [],
            "source": cell.source if cell.type == "code" else "",
        }
        for cell in notebook.cells
    ]
    metadata = {"language_info": {"name": "python"}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def _unused(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for each in _diagnostics(notebook):
        if each["code"] == _UNUSED:
            yield Finding(_sentence(each["message"]), notebook.cells[each["cell"] - 1])


def _bugs(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for each in _diagnostics(notebook):
        cell = notebook.cells[each["cell"] - 1]
        last = each["end_location"]["row"] >= cell.source.rstrip().count("\n") + 1
        if each["code"] in _BUGS and not (each["code"] in _SHOWN and last):
            yield Finding(f"{_sentence(each['message'])} ({each['code']})", cell)


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:].rstrip('.')}."


def _absent(notebook: AnalysedNotebook) -> Iterator[Finding]:
    if ruff() is None:
        yield Finding(
            "ruff is not installed: unused imports and likely mistakes were not looked for."
        )


LINTER_RULES = [
    QualityRule("unused-import", "info", 2, 10, "an unused import (ruff)",
         "Remove unused imports.", _unused, python=True),
    QualityRule("likely-mistake", "warning", 3, 9,
         "code that ruff knows as a likely mistake: a bare except, a list as default value",
         "Look at the likely mistakes that ruff names.", _bugs, python=True),
    QualityRule("no-linter", "info", 0, None,
         "ruff is not installed, so its rules were not applied",
         "Install ruff to look for unused imports and likely mistakes.", _absent, python=True),
]  # fmt: skip


RULES: list[QualityRule] = [
    *SECRETS_RULES,
    *RUNNING_RULES,
    *PYTHON_CODE_RULES,
    *STRUCTURE_RULES,
    *LINTER_RULES,
]


def table() -> str:
    """The rules with their weights, as the table in ``docs/quality.md``."""
    rows = ["| rule | points | severity | what |", "| --- | --- | --- | --- |"]
    for rule in sorted(RULES, key=lambda each: -each.weight):
        points = f"−{rule.weight} each" if rule.weight else "0"
        if rule.most is not None:
            points += f", at most −{rule.most}"
        scope = "" if rule.python else " (any language)"
        rows.append(f"| `{rule.id}` | {points} | {rule.severity} | {rule.what}{scope} |")
    return "\n".join(rows)
