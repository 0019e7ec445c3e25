"""NameError: a cell that was not run, a missing import, or a misspelt name."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Sequence

from ...notebook.dataflow.dependencies import BUILTINS, Dependencies, build
from ...notebook.dataflow.names import analyse
from ...notebook.files.kinds import document_noun, noun
from ...notebook.paths import name_set
from ...protocol.cells import PageCell
from ...protocol.workflows import FixInfo
from ...tools.tracebacks import where
from .. import editing
from ..fix import CellFailure, Fix, FixProbe
from ..nearness import Near, near_names
from ..side_effects import may_run_again, quiet, side_effect
from .distributions import distribution_of
from .missing_module import install_call

# Names that mean the same import in every notebook.


WELL_KNOWN = {
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "pl": "import polars as pl",
    "plt": "import matplotlib.pyplot as plt",
    "mpl": "import matplotlib as mpl",
    "sns": "import seaborn as sns",
    "px": "import plotly.express as px",
    "go": "import plotly.graph_objects as go",
    "alt": "import altair as alt",
    "tf": "import tensorflow as tf",
    "xr": "import xarray as xr",
    "gpd": "import geopandas as gpd",
    "nx": "import networkx as nx",
    "sm": "import statsmodels.api as sm",
    "smf": "import statsmodels.formula.api as smf",
    "xgb": "import xgboost as xgb",
    "lgb": "import lightgbm as lgb",
    "dt": "import datetime as dt",
    "numpy": "import numpy",
    "pandas": "import pandas",
    "scipy": "import scipy",
    "sklearn": "import sklearn",
    "torch": "import torch",
    "matplotlib": "import matplotlib",
    "seaborn": "import seaborn",
    "requests": "import requests",
    "argparse": "import argparse",
    "base64": "import base64",
    "collections": "import collections",
    "copy": "import copy",
    "csv": "import csv",
    "functools": "import functools",
    "glob": "import glob",
    "hashlib": "import hashlib",
    "io": "import io",
    "itertools": "import itertools",
    "json": "import json",
    "logging": "import logging",
    "math": "import math",
    "os": "import os",
    "pathlib": "import pathlib",
    "pickle": "import pickle",
    "pprint": "from pprint import pprint",
    "random": "import random",
    "re": "import re",
    "shutil": "import shutil",
    "sqlite3": "import sqlite3",
    "statistics": "import statistics",
    "string": "import string",
    "subprocess": "import subprocess",
    "sys": "import sys",
    "tempfile": "import tempfile",
    "time": "import time",
    "urllib": "import urllib.request",
    "uuid": "import uuid",
    "warnings": "import warnings",
    "zipfile": "import zipfile",
    "Counter": "from collections import Counter",
    "OrderedDict": "from collections import OrderedDict",
    "Path": "from pathlib import Path",
    "dataclass": "from dataclasses import dataclass",
    "date": "from datetime import date",
    "datetime": "from datetime import datetime",
    "deepcopy": "from copy import deepcopy",
    "defaultdict": "from collections import defaultdict",
    "partial": "from functools import partial",
    "reduce": "from functools import reduce",
    "timedelta": "from datetime import timedelta",
    "tqdm": "from tqdm.auto import tqdm",
    "train_test_split": "from sklearn.model_selection import train_test_split",
    "LinearRegression": "from sklearn.linear_model import LinearRegression",
    "LogisticRegression": "from sklearn.linear_model import LogisticRegression",
    "RandomForestClassifier": "from sklearn.ensemble import RandomForestClassifier",
    "RandomForestRegressor": "from sklearn.ensemble import RandomForestRegressor",
    "StandardScaler": "from sklearn.preprocessing import StandardScaler",
    "accuracy_score": "from sklearn.metrics import accuracy_score",
    "mean_squared_error": "from sklearn.metrics import mean_squared_error",
    "stats": "from scipy import stats",
}
# These may also be a user's own variables: they count only if used like a module.
ONLY_AS_MODULE = name_set(
    "alt collections copy csv dt glob go io json math numpy os pandas pickle pl px random re "
    "requests scipy sm statistics stats string sys time urllib uuid xr"
)


_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
_SPELT_OTHERWISE = {"true": "True", "false": "False", "none": "None", "null": "None"}
_NAMES = """
print(__import__('json').dumps([each for each in list(globals()) if each[:1] != '_'
    and each not in ('In', 'Out', 'exit', 'quit', 'get_ipython', 'open')]))
"""
_THERE = "print(__import__('importlib.util').util.find_spec({name!r}) is not None and 1 or 0)"


async def find(failure: CellFailure, probe: FixProbe) -> list[FixInfo]:
    """Fixes for an undefined name."""
    assert failure.error is not None
    match = _UNDEFINED.search(failure.error.evalue)
    # The name is missing in a library's or another file's code.
    if match is None or where(failure.error.traceback).file is not None:
        return []
    name = match[1]
    present = await probe.compute(_NAMES)
    present = set(present) if isinstance(present, list) else None
    if (found := _defined_elsewhere(failure, name, present)) is not None:
        return [found]
    if (added := await _missing_import(failure, name, probe)) is not None:
        return [added]
    return _misspelt(failure, name, present)


# A cell that defines it


def _defined_elsewhere(failure: CellFailure, name: str, present: set[str] | None) -> FixInfo | None:
    """Run the cell that defines the name, and before it those that it needs."""
    graph = build(failure.cells)
    place = next(i for i, cell in enumerate(graph.cells) if cell.id == failure.cell.id)
    start = _definer(graph, name, place)
    if start is None:
        return None
    needed = _with_needs(graph, start, place, present)
    if place in _all_needs(graph, start) and start > place:
        return None  # the two depend on each other
    # Other missing names would be the next error.
    for other in sorted(analyse(failure.cell.source).uses - {name}):
        if present is not None and other not in present and other not in BUILTINS:
            more = _definer(graph, other, place)
            needed |= _with_needs(graph, more, place, present) if more is not None else set()
    cells = [graph.cells[each] for each in sorted(needed)]
    return FixInfo(
        id=f"run-{'-'.join(cell.id for cell in cells)}",
        title=f"Run {_names(failure.path, cells)} first",
        explanation=_why(failure.path, name, graph.cells[start], failure.cell),
        safe=all(_may_run(cell) for cell in cells) and _again(failure),
        calls=[
            editing.run(failure.path, [cell.id for cell in cells]),
            editing.run(failure.path, [failure.cell.id]),
        ],
    )


def _definer(graph: Dependencies, name: str, place: int) -> int | None:
    """The nearest cell above that defines the name, else the first below."""

    def defines(each: int) -> bool:
        names = analyse(graph.cells[each].source)
        return name in names.defines and not names.opaque

    above = [each for each in range(place) if defines(each)]
    below = [each for each in range(place + 1, len(graph.cells)) if defines(each)]
    return above[-1] if above else below[0] if below else None


def _with_needs(graph: Dependencies, start: int, failed: int, present: set[str] | None) -> set[int]:
    """The cell, and those above it that define what it needs and the kernel does not have."""
    needed = {start}
    waiting = [start]
    while waiting:
        place = waiting.pop()
        uses = analyse(graph.cells[place].source).uses
        for each in graph.needs[place]:
            names = analyse(graph.cells[each].source)
            wanted = (names.defines | names.mutates) & uses
            missing = wanted if present is None else wanted - present
            if each not in needed and each != failed and (missing or names.star):
                needed.add(each)
                waiting.append(each)
    return needed


def _all_needs(graph: Dependencies, start: int) -> set[int]:
    found: set[int] = set()
    waiting = [start]
    while waiting:
        new = set(graph.needs[waiting.pop()]) - found
        found |= new
        waiting.extend(new)
    return found


def _may_run(cell: PageCell) -> bool:
    """A cell that has not run may run; one that has must have no side effects when run again."""
    if cell.execution_count is None:
        return side_effect(cell.source) is None
    return quiet(cell.source)


def _names(path: str, cells: Sequence[PageCell]) -> str:
    numbers = [str(cell.index + 1) for cell in cells]
    if len(numbers) == 1:
        return f"{noun(path)} {numbers[0]}"
    return f"{noun(path)}s {', '.join(numbers[:-1])} and {numbers[-1]}"


def _why(path: str, name: str, definer: PageCell, failed: PageCell) -> str:
    start = f"“{name}” is defined in {editing.cell_name(path, definer)}, which"
    if definer.index > failed.index:
        return f"{start} is below {editing.cell_name(path, failed)}."
    if definer.last_run_success is None:
        return f"{start} has not run in this kernel."
    if definer.last_run_success is False:
        return f"{start} failed when it ran."
    return f"{start} has run, but the kernel no longer has the name."


# An import


async def _missing_import(failure: CellFailure, name: str, probe: FixProbe) -> FixInfo | None:
    """Import the usual module or name."""
    line = WELL_KNOWN.get(name)
    if line is None or (name in ONLY_AS_MODULE and not _used_as_module(failure, name)):
        return None
    if name == "datetime" and re.search(
        r"\bdatetime\.(datetime|timedelta|date)\b", failure.cell.source
    ):
        line = "import datetime"
    module = line.split()[1]
    calls = []
    if await probe.compute(_THERE.format(name=module.partition(".")[0])) == 0:
        distribution = distribution_of(module)
        if distribution is None:
            return None
        calls.append(install_call(failure.path, failure.cell, failure.cells, distribution))
    place = _import_cell(failure)
    if place is None:
        source = _with_first_line(failure.cell.source, line)
        calls.append(editing.update(failure.path, failure.cell, source))
    else:
        calls.append(editing.update(failure.path, place, f"{place.source.rstrip()}\n{line}"))
        calls.append(editing.run(failure.path, [failure.cell.id]))
    where_to = (
        f"this {noun(failure.path)}" if place is None else editing.cell_name(failure.path, place)
    )
    return FixInfo(
        id=f"import-{name}",
        title=f"Add “{line}” to {where_to}",
        explanation=f"{name} is not imported anywhere in the {document_noun(failure.path)}.",
        safe=_again(failure),
        calls=calls,
    )


def _used_as_module(failure: CellFailure, name: str) -> bool:
    tree = editing.tree_of(failure.cell.source)
    return tree is not None and any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        for node in ast.walk(tree)
    )


def _import_cell(failure: CellFailure) -> PageCell | None:
    """The first cell above that contains only imports and magics."""
    for cell in failure.cells:
        if cell.index >= failure.cell.index:
            return None
        tree = editing.tree_of(cell.source) if cell.type == "code" else None
        if (
            tree is not None
            and any(isinstance(each, _IMPORTS) for each in tree.body)
            and all(isinstance(each, (*_IMPORTS, ast.Pass)) for each in tree.body)
            and side_effect(cell.source) is None
        ):
            return cell
    return None


_IMPORTS = (ast.Import, ast.ImportFrom)


def _with_first_line(source: str, line: str) -> str:
    first, newline, rest = source.partition("\n")
    if first.startswith("%%"):
        return f"{first}\n{line}{newline}{rest}"
    return f"{line}\n{source}"


# Misspelt


def _misspelt(failure: CellFailure, name: str, present: set[str] | None) -> list[FixInfo]:
    known = set(present or ())
    for cell in failure.cells:
        if cell.type == "code" and cell.index < failure.cell.index and present is None:
            known |= analyse(cell.source).defines
    own = analyse(failure.cell.source)
    known |= {each for each in own.defines if own.bound_at.get(each, 0) < own.used_at.get(name, 0)}
    builtin = {each for each in BUILTINS if not each.startswith("_")} - _EXCEPTIONS
    near = near_names(name, (known | builtin | set(keyword.kwlist[:3])) - {name})
    if name in _SPELT_OTHERWISE:
        near = [Near(_SPELT_OTHERWISE[name], 0, clear=True)]
    fixes = []
    for each in near:
        spans = editing.name_spans(failure.cell.source, name, each.name)
        if not spans:
            return []  # it is in another cell's function: which occurrence was meant is unknown
        source = editing.replaced(failure.cell.source, spans)
        fixes.append(
            FixInfo(
                id=f"rename-{name}-{each.name}",
                title=f"Replace {name} with {each.name}",
                done=f"replaced `{name}` with `{each.name}`",
                explanation=f"Nothing is named {name}; {each.name} is there.",
                safe=each.clear and _again(failure),
                calls=[editing.update(failure.path, failure.cell, source)],
            )
        )
    return fixes


_EXCEPTIONS = {each for each in BUILTINS if each.endswith(("Error", "Warning", "Exit"))}


def _again(failure: CellFailure) -> bool:
    assert failure.error is not None
    return may_run_again(failure.cell.source, where(failure.error.traceback).line)


FIX = Fix("undefined-name", ("NameError",), find)
