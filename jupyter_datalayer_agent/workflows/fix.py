"""The contract of error fixes: from a failed cell to the calls that would fix it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..protocol.cells import CellRunError, PageCell
from ..protocol.workflows import CellFix, FixChange, FixInfo

# A fix as a page shows it before it is carried out: what it writes, and what it runs.


def key_of(fix: FixInfo) -> str:
    """The same for fixes that make the same calls, whatever they are called."""
    calls = [[call.name, call.arguments] for call in fix.calls]
    return hashlib.sha256(json.dumps(calls, sort_keys=True).encode()).hexdigest()[:16]


def preview(fix: FixInfo, sources: Mapping[str, str]) -> CellFix | None:
    """What the fix makes of a notebook with these ``sources``, by cell id.

    None for a fix that does something else than changing and running cells, such as choosing a
    kernel, and for one that does not fit the sources.
    """
    added: list[FixChange] = []
    changed: dict[str, str] = {}
    runs: dict[str, None] = {}
    for call in fix.calls:
        given = call.arguments
        match call.name:
            case "addNotebookCell":
                change = _new_cell(given)
                if change is None:
                    return None
                added.append(change)
            case "updateNotebookCell":
                cell_id = str(given.get("cellId"))
                before = changed.get(cell_id, sources.get(cell_id))
                after = None if before is None else _edited(before, given)
                if after is None:
                    return None
                changed[cell_id] = after
                if given.get("run"):
                    runs[cell_id] = None
            case "runNotebookCells":
                runs.update(dict.fromkeys(given.get("cellIds", ())))
            case _:
                return None
    changes = [FixChange(kind="cell", cell_id=id_, source=text) for id_, text in changed.items()]
    return CellFix(key=key_of(fix), fix=fix, changes=[*added, *changes], runs=list(runs))


def _new_cell(given: Mapping[str, Any]) -> FixChange | None:
    position = given.get("position")
    source = str(given.get("content", ""))
    if not isinstance(position, Mapping):
        return None
    if "before" in position:
        return FixChange(kind="before", cell_id=position["before"], source=source)
    if "after" in position:
        return FixChange(kind="after", cell_id=position["after"], source=source)
    return None


def _edited(source: str, given: Mapping[str, Any]) -> str | None:
    """The source after a call; None where a text to be replaced is not there exactly once."""
    if "content" in given:
        return str(given["content"])
    for edit in given.get("edits", ()):
        old, new = edit.get("oldString"), edit.get("newString")
        if old is None or new is None or source.count(old) != 1:
            return None
        source = source.replace(old, new)
    return source


class FixProbe(Protocol):
    """What a fix may read; it changes nothing."""

    async def compute(self, code: str) -> Any:
        """What the code prints in the notebook's kernel, read as JSON; None where that fails."""
        ...

    async def files(self) -> list[str]:
        """Paths of the files under the server root, relative to it; bounded."""
        ...

    async def kernel_specs(self) -> list[dict[str, Any]]:
        """Kernels that could be started: ``{name, displayName, language}``."""
        ...


@dataclass(frozen=True)
class CellFailure:
    """A cell that failed: ``cells`` are all of the notebook's, ``cell`` is the failed one.

    ``error`` is None if there was no kernel to run it: then ``no_kernel`` is true, ``kernel_name``
    the one that the notebook names, if any, and ``not_run`` are the cells that need one.
    ``language`` is None if it is unknown.
    """

    path: str
    cell: PageCell
    cells: Sequence[PageCell]
    error: CellRunError | None
    language: str | None
    no_kernel: bool = False
    kernel_name: str | None = None
    not_run: Sequence[str] = ()


Finder = Callable[[CellFailure, FixProbe], Awaitable[list[FixInfo]]]
FindFixes = Finder
"""All finders combined: the likeliest fix first."""


@dataclass(frozen=True)
class Fix:
    """A finder of fixes for errors of these names (``ename``); an empty tuple means any.

    ``language`` is that of the notebooks it supports; None means any, also an unknown one.
    ``no_kernel`` finders are called only if there was no kernel to run the cell.
    """

    id: str
    errors: tuple[str, ...]
    find: Finder
    language: str | None = "python"
    no_kernel: bool = False
