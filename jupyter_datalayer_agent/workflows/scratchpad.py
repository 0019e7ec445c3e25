"""Adds cells to the scratchpad, each with the key of the answer that it comes from.

The notebook is like any other: what a page has open is changed there, else the file is.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from ..notebook.document import DocumentError
from ..notebook.edits.batch import new_cell
from ..notebook.service import NotebookService
from ..protocol.cells import CellPosition, InsertCell
from ..protocol.history import Provenance
from ..protocol.scratchpad import ScratchpadCell

PATH = "scratchpad.ipynb"
KEY = "datalayer_agent"
"""Under which a cell's metadata has ``{"provenance": {...}, "sessionId": ...}``, and a notebook's
``{"scratchpad": true}`` where the user uses it as a scratchpad."""


async def add_cells(
    notebooks: NotebookService,
    cells: Sequence[tuple[ScratchpadCell, Provenance | None]],
    path: str | None = None,
    client_id: str | None = None,
) -> tuple[str, bool, list[str]]:
    """Put cells at the end of the scratchpad; its path, whether it was made now, and their ids.

    Only the default scratchpad is made where it is missing. Raises ``DocumentError``.
    """
    wanted = await notebooks.confine(path or PATH)
    if not wanted.endswith(".ipynb"):
        raise DocumentError("invalid_arguments", f"{wanted} is not a notebook.")
    # Two cells that are sent at once make one notebook.
    async with notebooks.lock(wanted):
        created = path is None and not await notebooks.exists(wanted)
        if created:
            wanted = await notebooks.create(wanted)
        edits = [_insert(cell, provenance) for cell, provenance in cells]
        if edits:
            document = await notebooks.open(wanted, client_id)
            await document.edit(edits)
    return wanted, created, [each.cell_id for each in edits]


def _insert(cell: ScratchpadCell, provenance: Provenance | None) -> InsertCell:
    cell_id = secrets.token_hex(4)
    whole = new_cell(cell_id, cell.type, cell.content)
    about: dict[str, Any] = {}
    if provenance is not None:
        about["provenance"] = provenance.to_wire()
    if cell.session_id is not None:
        about["sessionId"] = cell.session_id
    if about:
        whole["metadata"] = {KEY: about}
    if cell.type == "code":
        whole["outputs"] = cell.outputs
    return InsertCell(
        cell_id=cell_id,
        type=cell.type,
        source=cell.content,
        position=CellPosition(at="end"),
        cell=whole,
    )
