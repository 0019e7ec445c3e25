"""The parameters of a template: which are missing, and guesses from a task's text.

Only nearly certain guesses are made (a file that the task names, the only data file, a column that
the task wants predicted); the user is asked for the rest, with the likeliest answers first.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...notebook.dataflow.ipython_source import NotPython, parse_cell
from ...protocol.limits import compared
from ..side_effects import writes
from ..template import Template

DATA_SUFFIXES = (".csv", ".tsv", ".tab", ".parquet", ".pq")
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zip", ".zst")
# These words in a task ("create a data analysis notebook") name no file (data.csv).
_ANY_TASK = frozenset({"data", "dataset", "analysis", "notebook", "report", "file", "table"})
PREDICT = r"\b(?:predict(?:ing|s)?|forecast(?:ing|s)?|classify(?:ing)?|target(?: column)?)\b"


@dataclass(frozen=True)
class MissingParameter:
    """A parameter to ask for. ``name`` is in camelCase; ``options`` has the likeliest first."""

    name: str
    question: str
    options: list[str] = field(default_factory=list)


def missing_parameters(
    template: Template,
    given: Mapping[str, Any],
    files: Sequence[str] = (),
    task: str = "",
) -> list[MissingParameter]:
    """The parameters without a default that are not given (in either spelling), in order."""
    missing = []
    for name, info in template.parameters.model_fields.items():
        alias = info.alias or name
        if not info.is_required() or given.get(name) is not None or given.get(alias) is not None:
            continue
        options = likely_data_files(files, task) if name == "data" else []
        about = info.description or f"{alias}?"
        missing.append(
            MissingParameter(alias, f"{template.name} needs “{alias}”: {about}", options)
        )
    return missing


def guessed_parameters(
    template: Template,
    files: Sequence[str],
    task: str,
    columns: Sequence[str] = (),
    read: Sequence[str] = (),
    folder: str | None = None,
) -> dict[str, Any]:
    """Guesses of the parameters, by their names in camelCase.

    ``files`` are paths under the server root, ``columns`` the columns of the data if known (see
    ``columns_of``); ``read`` and ``folder`` as for ``sure_data_file``. Of two equally good guesses
    neither is made.
    """
    task = compared(task)
    fields = template.parameters.model_fields
    guesses: dict[str, Any] = {}
    data = sure_data_file(files, task, read, folder) if "data" in fields else None
    if data is not None:
        guesses["data"] = data
    if "target" in fields and (target := target_in(task, columns)) is not None:
        guesses["target"] = target
    if "task" in fields and (kind := _kind_of_task(task)) is not None:
        guesses["task"] = kind
    if "notebook" in fields and (notebook := _notebook_in(task)) is not None:
        guesses["notebook"] = notebook
    return guesses


def is_data_file(path: str) -> bool:
    """Whether the templates read such a file, by its name."""
    name = path.lower()
    for suffix in COMPRESSIONS:
        name = name.removesuffix(suffix)
    return name.endswith(DATA_SUFFIXES)


def likely_data_files(files: Iterable[str], task: str) -> list[str]:
    """The data files, those that the task names first, then those nearest to the root."""
    task = compared(task)
    rest = [path for path in files if is_data_file(path) and not _hidden(path)]
    return sorted(rest, key=lambda path: (-_named(path, task), path.count("/"), path.lower()))


def sure_data_file(
    files: Iterable[str], task: str, read: Sequence[str] = (), folder: str | None = None
) -> str | None:
    """The one data file that the task names; otherwise the one of ``read`` (the files that the
    notebook's code reads), else the only one in ``folder`` (the notebook's own), else the only one
    that exists; else None."""
    task = compared(task)
    likely = likely_data_files(files, task)
    best = _named(likely[0], task) if likely else 0
    meant = [path for path in likely if _named(path, task) == best]
    beside = [path for path in meant if posixpath.dirname(path) == folder]
    for some in ([path for path in meant if path in read], beside, meant):
        if len(some) == 1:
            return some[0]
    return None


def target_in(task: str, columns: Sequence[str]) -> str | None:
    """The first column after a word such as "predict" in the task."""
    after = re.split(PREDICT, compared(task), maxsplit=1, flags=re.IGNORECASE)
    if len(after) < 2:
        return None
    text = _plain(after[1])
    places = {
        name: match.start()
        for name in columns
        if (match := re.search(rf"\b{re.escape(_plain(name))}\b", text)) and _plain(name)
    }
    # Of "price" and "price per night" at one place the longer one is meant.
    return min(places, key=lambda name: (places[name], -len(name)), default=None)


def _named(path: str, task: str) -> int:
    """3: the task has the whole path; 2: the file's name; 1: its name without suffix."""
    wanted, name = task.lower(), posixpath.basename(path).lower()
    stem = _plain(name.split(".")[0])
    if re.search(rf"(?<![\w/]){re.escape(path.lower())}(?![\w/])", wanted):
        return 3
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", wanted):
        return 2
    if not stem or stem in _ANY_TASK:
        return 0
    return 1 if re.search(rf"\b{re.escape(stem)}\b", _plain(wanted)) else 0


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def _hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


def _kind_of_task(task: str) -> str | None:
    """Classification or regression, if the task names exactly one of them."""
    kinds = [
        kind
        for kind, pattern in (
            ("classification", r"\bclassif(?:y|ier|iers|ication)\b"),
            ("regression", r"\bregress(?:ion|or)\b"),
        )
        if re.search(pattern, task, flags=re.IGNORECASE)
    ]
    # Logistic regression is a classification.
    if kinds == ["regression"] and re.search(r"\blogistic\b", task, flags=re.IGNORECASE):
        return "classification"
    return kinds[0] if len(kinds) == 1 else None


def _notebook_in(task: str) -> str | None:
    found = re.findall(r"[^\s\"'`“”]+\.ipynb\b", task)
    return found[0] if len(found) == 1 else None


# The data files that a notebook's code reads, by its literal paths.


_WRITERS = ("to_", "write", "sink_", "save")


def data_files_read(sources: Iterable[str], folder: str, files: Iterable[str]) -> list[str]:
    """The data files among ``files`` that these code cells read, each once.

    ``folder`` is the notebook's; paths are relative to the server root. A path that is only written
    (``to_csv``) does not count; cells that are not Python are skipped.
    """
    there = set(files)
    found = (
        posixpath.normpath(posixpath.join(folder, path))
        for source in sources
        for path in _paths_in(source)
    )
    return list(dict.fromkeys(path for path in found if path in there))


def _paths_in(source: str) -> Iterator[str]:
    try:
        tree = parse_cell(source)
    except (NotPython, SyntaxError):
        return
    written = {
        id(part)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _writes(call)
        for part in ast.walk(call)
    }
    literals = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in written
    ]
    yield from (text for text in literals if "\n" not in text and is_data_file(text))


def _writes(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Attribute):
        name = function.attr
    else:
        name = function.id if isinstance(function, ast.Name) else ""
    return writes(call) if name == "open" else name.startswith(_WRITERS)
