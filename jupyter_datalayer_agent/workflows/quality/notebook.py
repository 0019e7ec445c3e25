"""A notebook for the rules."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...notebook.dataflow.dependencies import Dependencies, build, is_python
from ...notebook.metadata import of_kernel
from ...protocol.cells import PageCell
from ...protocol.workflows import Severity
from ..editing import tree_of


class NoNotebook(Exception):
    """The content is not a notebook; the message says why."""


@dataclass(frozen=True)
class AnalysedCell:
    """A cell; ``outputs`` are nbformat's."""

    index: int
    type: str
    source: str
    id: str | None = None
    outputs: list[dict[str, Any]] = field(default_factory=list)
    execution_count: int | None = None

    @property
    def tree(self) -> ast.Module | None:
        """The syntax tree, or None if it is not Python."""
        return tree_of(self.source)


class AnalysedNotebook:
    """The cells of a notebook, its language, and the graph of its names.

    ``stale`` are ids of cells that are known to be stale.
    """

    def __init__(self, notebook: Mapping[str, Any], stale: Collection[str] = ()) -> None:
        cells = notebook.get("cells")
        if not isinstance(cells, list):
            raise NoNotebook("It has no list of cells.")
        self.notebook = notebook
        self.stale = frozenset(stale)
        self.cells = [_cell(index, cell) for index, cell in enumerate(cells)]
        self.language = _language(notebook.get("metadata") or {})

    @property
    def is_python(self) -> bool:
        """Whether the code cells are Python."""
        return is_python(self.language)

    @cached_property
    def code(self) -> list[AnalysedCell]:
        """The code cells that are not empty."""
        return [cell for cell in self.cells if cell.type == "code" and cell.source.strip()]

    @cached_property
    def ran(self) -> list[AnalysedCell]:
        """The code cells that have run."""
        return [cell for cell in self.code if cell.execution_count is not None]

    @cached_property
    def graph(self) -> Dependencies:
        """The dependency graph of the code cells; places are those of ``code``."""
        cells = [
            PageCell(id=str(cell.index), index=cell.index, type="code", source=cell.source, hash="")
            for cell in self.code
        ]
        return build(cells, self.language)


def _cell(index: int, cell: Any) -> AnalysedCell:
    if not isinstance(cell, Mapping) or not isinstance(cell.get("cell_type"), str):
        raise NoNotebook(f"Cell {index + 1} is no cell.")
    outputs = cell.get("outputs") or []
    count = cell.get("execution_count")
    identity = cell.get("id")
    return AnalysedCell(
        index=index,
        type=cell["cell_type"],
        source=_text(cell.get("source", ""), index),
        id=identity if isinstance(identity, str) else None,
        outputs=[each for each in outputs if isinstance(each, Mapping)],  # type: ignore[misc]
        execution_count=count if isinstance(count, int) else None,
    )


def _text(value: Any, index: int) -> str:
    """nbformat allows a string or a list of lines."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value)
    if isinstance(value, str):
        return value
    raise NoNotebook(f"The source of cell {index + 1} is no text.")


# Languages by the start of a kernel's name, for notebooks that name no language.
_KERNELS = {"ir": "r", "julia": "julia", "bash": "bash", "scala": "scala", "java": "java"}


def _language(metadata: Mapping[str, Any]) -> str:
    info, spec = of_kernel(metadata, "language_info"), of_kernel(metadata, "kernelspec")
    name = spec.get("name", "").lower()
    by_name = next((lang for start, lang in _KERNELS.items() if name.startswith(start)), "python")
    return (info.get("name") or spec.get("language") or by_name).lower()


# The types of the quality report's rules.


@dataclass(frozen=True)
class Finding:
    """A finding of a rule; ``cell`` is None if it is about the whole notebook."""

    message: str
    cell: AnalysedCell | None = None


@dataclass(frozen=True)
class QualityRule:
    """Each finding takes ``weight`` points, all together at most ``most`` (None: no limit).

    ``python``: only for notebooks in Python. ``what`` is for the documentation.
    """

    id: str
    severity: Severity
    weight: int
    most: int | None
    what: str
    suggestion: str
    check: Callable[[AnalysedNotebook], Iterable[Finding]]
    python: bool = False

    def points(self, count: int) -> int:
        """The points for this many findings."""
        taken = self.weight * count
        return taken if self.most is None else min(taken, self.most)
