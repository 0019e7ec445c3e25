"""Notebooks made of cells of others: splitting and merging, on nbformat dicts."""

from __future__ import annotations

import copy
import itertools
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel

from ....notebook.edits.batch import source_of
from ....notebook.metadata import of_kernel
from ...action import (
    Action,
    ActionFailed,
    ActionResult,
    Progress,
    beside,
    new_file,
    parameter,
    write_new,
)
from .export import notebooks

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


# Splits a notebook into new ones.


MOST_PARTS = 100


class Split(Action):
    """Writes the parts of a notebook as new notebooks beside it, which itself stays as it is."""

    id = "split"
    title = "Split the notebook"
    description = (
        "Writes the parts of the notebook, by its headings or from a cell on, as new ones."
    )
    examples = (
        "Split this notebook into several notebooks",
        "Split the notebook at its top-level headings",
        "Break the notebook up into smaller ones",
    )

    class Parameters(BaseModel):
        """What is split, and where."""

        notebook: str = parameter(title="Notebook", kind="notebook")
        level: int | None = parameter(
            None,
            title="Heading level",
            description="A part begins at each heading of this level or a higher one (1 to 6).",
            ge=1,
            le=6,
        )
        cell: int | None = parameter(
            None,
            title="Cell",
            description="The number of the cell with which the second part begins.",
            ge=2,
        )

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        return await notebooks(self.context.files()) if name == "notebook" else None

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        if (parameters.level is None) == (parameters.cell is None):
            return {"level": "Give either a heading level or the number of a cell."}
        return {}

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        notebook = await self.context.read(parameters.notebook)
        parts = split(notebook, _starts(notebook, parameters.level, parameters.cell))
        if len(parts) < 2:
            raise ActionFailed(
                "That makes one part only. Choose another heading level, or a cell's number."
            )
        if len(parts) > MOST_PARTS:
            raise ActionFailed(f"That makes {len(parts)} parts. Choose a higher heading level.")
        path = PurePosixPath(parameters.notebook)
        digits = len(str(len(parts)))
        names = [
            str(path.with_name(f"{path.stem}-{number:0{digits}}.ipynb"))
            for number in range(1, len(parts) + 1)
        ]
        targets = [await new_file(self.context, name) for name in names]
        await progress(f"Writing {len(parts)} notebooks")
        written = []
        try:
            for target, part in zip(targets, parts, strict=True):
                write_new(target, as_text(part))
                written.append(target)
        except ActionFailed:
            for target in written:
                target.unlink(missing_ok=True)
            raise
        listed = "\n".join(f"- `{name}`" for name in names)
        return ActionResult(f"Split `{parameters.notebook}` into:\n\n{listed}", names)


def _starts(notebook: Notebook, level: int | None, cell: int | None) -> list[int]:
    count = len(notebook["cells"])
    if level is not None:
        return starts_at_headings(notebook["cells"], level)
    assert cell is not None
    if cell > count:
        raise ActionFailed(f"The notebook has {count} cells: there is no cell {cell}.")
    return [cell - 1]


# Merges notebooks into a new one.


class Merge(Action):
    """Writes the cells of several notebooks, in their order, into a new one."""

    id = "merge"
    title = "Merge notebooks"
    description = "Writes the cells of several notebooks, one after the other, into a new one."
    examples = (
        "Merge intro.ipynb and analysis.ipynb into one notebook",
        "Combine these notebooks into one",
        "Join the notebooks together",
    )

    class Parameters(BaseModel):
        """What is merged, and into what."""

        notebooks: list[str] = parameter(title="Notebooks", min_length=2)
        target: str = parameter(title="New notebook", kind="new-path")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name != "notebooks":
            return None
        target = known.get("target")
        return [each for each in await notebooks(self.context.files()) if each != target]

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        target = beside(parameters.notebooks[0], parameters.target, ".ipynb")
        path = await new_file(self.context, target)
        parts = []
        for number, each in enumerate(parameters.notebooks):
            await progress(f"Reading {each}", number / len(parameters.notebooks))
            parts.append(await self.context.read(each))
        languages = {name for part in parts if (name := language_of(part)) is not None}
        if len(languages) > 1:
            raise ActionFailed(
                f"These notebooks are in different languages ({', '.join(sorted(languages))}), "
                "and a notebook has one kernel. Merge those of one language."
            )
        write_new(path, as_text(merge(parts)))
        count = len(parts)
        return ActionResult(f"Merged {count} notebooks into `{target}`.", [target])
