"""A notebook's cells as the page and the server exchange them: read, edited and run."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from .base import Name, Wire
from .context import CellType, ExecutionStatus, SelectionStatus

# Line ends: models may write any, cells of a notebook have line feeds.


def line_feeds(text: str) -> str:
    """The text with a line feed at the end of each line."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")


# A cell that could come next, suggested after a run.


class NextCellRequest(Wire):
    """Body of ``POST next-cell``: the cell that was run, and, if another than usual is to be
    asked, the model."""

    path: str
    cell_id: Name
    client_id: Name | None = None
    model: Name | None = None


class NextCellReply(Wire):
    """The source of a code cell; empty where nothing is to be suggested."""

    source: str


class PageCell(Wire):
    """A cell as the page has it. ``outputs`` (nbformat) only where they were asked for.

    ``hash`` is the SHA-256 of the source in UTF-8, hexadecimal. ``cell`` is the whole nbformat
    cell, where whole cells were asked for.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    index: int
    type: CellType
    source: str
    hash: str
    has_output: bool = False
    outputs: list[dict[str, Any]] | None = None
    selection_status: SelectionStatus = "unselected"
    execution_status: ExecutionStatus | None = None
    execution_count: int | None = None
    last_run_success: bool | None = None
    last_execution_duration: float | None = None
    last_run_end_time: int | None = None
    cell: dict[str, Any] | None = None


class PageNotebook(Wire):
    """Result of ``notebook.read``, and part of that of ``notebook.edit``.

    ``order`` is the ids of all cells, where whole cells were asked for. ``ids_kept`` says whether
    the file keeps the ids: before nbformat 4.5 a cell has another one each time it is loaded.
    """

    path: str
    kernel_id: str | None = None
    kernel_name: str | None = None
    kernel_language: str | None = None
    kernel_status: str | None = None
    cells: list[PageCell]
    order: list[str] | None = None
    ids_kept: bool = True
    _now: dict[str, str] = PrivateAttr(default_factory=dict)

    def with_former(self, now: dict[str, str]) -> PageNotebook:
        """The notebook, with the present ids of cells that had other ones when they were read in
        another backend."""
        self._now = now
        return self

    def now(self, cell_id: str) -> str:
        """The present id of a cell that was read before."""
        return self._now.get(cell_id, cell_id)


class CellPosition(Wire):
    """Exactly one of: a fixed end, after a cell, before a cell."""

    at: Literal["start", "end"] | None = None
    after: str | None = None
    before: str | None = None


class InsertCell(Wire):
    """A new cell, with the id that it is to have. Its lines end in line feeds.

    ``cell`` is a whole nbformat cell of this type and source: with its metadata, attachments and
    outputs, the cell comes back as it once was.
    """

    op: Literal["insert"] = "insert"
    cell_id: str
    type: CellType
    source: str
    position: CellPosition
    cell: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _line_feeds(self) -> InsertCell:
        if self.cell is None:
            self.source = line_feeds(self.source)
        return self


class UpdateCell(Wire):
    """New source or type in place. Refused when the cell's hash is not ``base_hash``. The lines of
    a new source end in line feeds; one that differs in its line ends alone is no change.

    With ``cell``, a whole nbformat cell of this type and source (both are given then), metadata,
    attachments and outputs become those of ``cell`` as well.
    """

    op: Literal["update"] = "update"
    cell_id: str
    base_hash: str
    source: str | None = None
    type: CellType | None = None
    cell: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _line_feeds(self) -> UpdateCell:
        if self.cell is None and self.source is not None:
            self.source = line_feeds(self.source)
        return self


class DeleteCell(Wire):
    """Removal. Refused when the cell's hash is not ``base_hash``."""

    op: Literal["delete"] = "delete"
    cell_id: str
    base_hash: str


class MoveCell(Wire):
    """Another place for a cell."""

    op: Literal["move"] = "move"
    cell_id: str
    position: CellPosition


class SetOutputs(Wire):
    """Outputs (nbformat) of a code cell that the server itself ran, headless, before the page
    opened the notebook. It is no step of the undo, since nobody undoes a run.
    """

    op: Literal["outputs"] = "outputs"
    cell_id: str
    outputs: list[dict[str, Any]]
    execution_count: int | None = None


CellEdit = Annotated[
    InsertCell | UpdateCell | DeleteCell | MoveCell | SetOutputs, Field(discriminator="op")
]


DEAD_KERNEL = "DeadKernelError"
"""The ``ename`` of a run whose kernel ended before it did."""


class CellRunError(Wire):
    """The exception that a cell ended with."""

    ename: str
    evalue: str
    traceback: list[str] = []


class CellRun(Wire):
    """How one cell of a run ended. ``note`` says why it was skipped, or what else to know."""

    cell_id: str
    index: int | None = None
    status: Literal["ok", "error", "timeout", "aborted", "skipped"]
    execution_count: int | None = None
    duration_ms: float | None = None
    outputs: list[dict[str, Any]] = []
    error: CellRunError | None = None
    note: str | None = None

    @property
    def kernel_died(self) -> bool:
        """Whether its kernel ended before it did."""
        return self.error is not None and self.error.ename == DEAD_KERNEL
