"""Rules of ruff: https://docs.astral.sh/ruff/rules/. It reads notebooks itself."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from shutil import which
from typing import Any

from .notebook import AnalysedNotebook
from .types import Finding, QualityRule

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


RULES = [
    QualityRule("unused-import", "info", 2, 10, "an unused import (ruff)",
         "Remove unused imports.", _unused, python=True),
    QualityRule("likely-mistake", "warning", 3, 9,
         "code that ruff knows as a likely mistake: a bare except, a list as default value",
         "Look at the likely mistakes that ruff names.", _bugs, python=True),
    QualityRule("no-linter", "info", 0, None,
         "ruff is not installed, so its rules were not applied",
         "Install ruff to look for unused imports and likely mistakes.", _absent, python=True),
]  # fmt: skip
