"""Data files: which the templates read, and which a notebook's code reads by its literal paths."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Iterator

from ...notebook.dataflow.ipython_source import NotPython, parse_cell
from ..side_effects import writes

DATA_SUFFIXES = (".csv", ".tsv", ".tab", ".parquet", ".pq")
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zip", ".zst")


def is_data_file(path: str) -> bool:
    """Whether the templates read such a file, by its name."""
    name = path.lower()
    for suffix in COMPRESSIONS:
        name = name.removesuffix(suffix)
    return name.endswith(DATA_SUFFIXES)


def is_hidden(path: str) -> bool:
    """Whether a file, or a folder that it is in, begins with a dot."""
    return any(part.startswith(".") for part in path.split("/"))


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
