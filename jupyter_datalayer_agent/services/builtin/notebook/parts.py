"""Notebooks made of cells of others: splitting and merging, on nbformat dicts."""

from __future__ import annotations

import copy
import itertools
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from ....notebook.edits.batch import source_of
from ....notebook.metadata import of_kernel

Notebook = dict[str, Any]
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]|$)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


def heading_level(source: str) -> int | None:
    """The highest level of the headings in a Markdown text, 1 to 6; None without
    any. A line with ``#`` in a code block is none."""
    levels = []
    fence = None
    for line in source.splitlines():
        match = _FENCE.match(line)
        if fence is None and match:
            fence = match[1]
        elif fence is not None:
            if match and match[1].startswith(fence) and not line.strip(" `~"):
                fence = None
        elif match := _HEADING.match(line):
            levels.append(len(match[1]))
    return min(levels, default=None)


def starts_at_headings(cells: Sequence[Mapping[str, Any]], level: int) -> list[int]:
    """The places of the cells with a heading of that level or a higher one (a smaller number)."""
    return [
        index
        for index, cell in enumerate(cells)
        if cell["cell_type"] == "markdown"
        and (found := heading_level(source_of(cell))) is not None
        and found <= level
    ]


def split(notebook: Notebook, starts: Sequence[int]) -> list[Notebook]:
    """Parts that begin at these places; what is before the first is a part, too."""
    cells = notebook["cells"]
    places = sorted({0, *starts, len(cells)})
    return [
        copy.deepcopy({**notebook, "cells": cells[begin:end]})
        for begin, end in itertools.pairwise(places)
    ]


def merge(notebooks: Sequence[Notebook]) -> Notebook:
    """One notebook with all cells, and the metadata of the first. An id that is taken becomes
    another."""
    cells: list[dict[str, Any]] = []
    taken: set[str] = set()
    for notebook in notebooks:
        for cell in copy.deepcopy(notebook["cells"]):
            while cell["id"] in taken:
                cell["id"] = secrets.token_hex(4)
            taken.add(cell["id"])
            cells.append(cell)
    return {**copy.deepcopy(notebooks[0]), "cells": cells}


def language_of(notebook: Notebook) -> str | None:
    """The language of a notebook's code in lower case, where it is known."""
    metadata = notebook["metadata"]
    spec = of_kernel(metadata, "kernelspec")
    name = of_kernel(metadata, "language_info").get("name") or spec.get("language")
    return name.lower() if name else None


def as_text(notebook: Notebook) -> str:
    """The file of a notebook, as Jupyter writes it."""
    import nbformat

    node = nbformat.from_dict(notebook)  # type: ignore[no-untyped-call]
    return str(nbformat.writes(node)) + "\n"  # type: ignore[no-untyped-call]
