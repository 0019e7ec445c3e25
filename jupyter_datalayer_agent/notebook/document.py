"""The protocol that every notebook backend follows (DESIGN 6).

A backend is one way to access a notebook: through the page that has it open, or as a file. Callers
never know which one they have; they get it from ``NotebookService``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, Protocol

from ..protocol.cells import CellEdit, CellRun, PageCell, PageNotebook
from ..protocol.tools import Change

BackendName = Literal["browser", "room", "file"]
Progress = Callable[[str, Literal["started", "waiting_for_input", "finished"]], Awaitable[None]]


class DocumentError(Exception):
    """A document could not be read, changed or run.

    ``code`` is a tool error code; ``message`` is what is wrong, ``hint`` what would be right;
    ``cells`` are the current cells if an edit was refused as ``stale``.
    """

    def __init__(
        self,
        code: Literal[
            "not_found",
            "stale",
            "invalid_arguments",
            "not_allowed",
            "kernel_error",
            "too_large",
            "internal",
        ],
        message: str,
        hint: str | None = None,
        cells: Sequence[PageCell] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.cells = list(cells)


def gone(path: str) -> DocumentError:
    """The refusal to change a document whose file no longer exists."""
    return DocumentError(
        "not_found",
        f"{path} no longer exists; nothing was changed.",
        "It was deleted, or renamed outside Jupyter. listFiles shows the existing files. If the "
        "document is open, the user can save it under a name that they choose.",
    )


class AppliedEdits(Protocol):
    """What a batch did: the changes, and the touched cells as read back. ``reformatted`` are the
    ids of those whose source a save hook or the file's format changed as it was saved."""

    changes: list[Change]
    cells: list[PageCell]
    reformatted: frozenset[str]


class NotebookDocument(Protocol):
    """A notebook by its path under the server root."""

    @property
    def path(self) -> str:
        """The notebook's path."""
        ...

    @property
    def backend(self) -> BackendName:
        """The backend that a call would use now."""
        ...

    async def read(
        self,
        cell_ids: Sequence[str] | None = None,
        *,
        outputs: bool = False,
        brief: bool = False,
        whole: bool = False,
    ) -> PageNotebook:
        """All cells in order, or the named ones; outputs (nbformat) only on request, ``brief`` ones
        as ``brief_outputs`` makes them.

        ``whole`` returns each nbformat cell and the ids of all cells, and skips missing
        ``cell_ids``.
        """
        ...

    async def edit(self, edits: Sequence[CellEdit]) -> AppliedEdits:
        """Apply the batch whole or not at all, save, and read the touched cells back.

        Raises ``DocumentError`` ``stale`` when a cell's source is not the one an edit was based
        on, with the cell as it is now.
        """
        ...

    async def run(
        self,
        cell_ids: Sequence[str],
        *,
        stop_on_error: bool = True,
        timeout: float,
        on_progress: Progress | None = None,
    ) -> list[CellRun]:
        """Run the cells in this order; one result a cell, with its real status.

        ``timeout`` is in seconds, for each cell, from the moment the kernel starts it. On
        cancellation, the kernel is interrupted if it runs our request, and its ``idle`` is awaited,
        before the cancellation takes effect.
        """
        ...
