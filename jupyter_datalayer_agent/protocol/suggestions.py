"""A cell that could come next, suggested after a run."""

from __future__ import annotations

from .base import Name, Wire


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
