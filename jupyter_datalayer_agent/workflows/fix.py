"""The contract of error fixes: from a failed cell to the calls that would fix it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..protocol.cells import CellRunError, PageCell
from ..protocol.workflows import FixInfo


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
