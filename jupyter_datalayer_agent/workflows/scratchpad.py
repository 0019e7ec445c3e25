"""Adds cells to the scratchpad, each with the key of the answer that it comes from.

Like any notebook it is changed in the page that has it open, else in the file.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Any

from ..notebook.document import DocumentError
from ..notebook.edits.batch import new_cell
from ..notebook.service import NotebookService
from ..protocol.cells import CellPosition, InsertCell
from ..protocol.history import Provenance, ScratchpadCell, StrategistReply

# A question to the Strategist with its answer, as a cell of the scratchpad.


ERROR = "error"
"""The turn and the provider in the provenance of a cell without an answer."""

CITED = re.compile(r"\]\(turn:([\w-]+)\)")


def answer_cell(question: str, reply: StrategistReply) -> ScratchpadCell:
    """The answer, or why there is none; its citations as links that JupyterLab's renderer keeps."""
    if reply.error is not None:
        return problem_cell(question, reply.error.message, reply.session_id)
    if not reply.reply.strip():
        return problem_cell(question, "it was stopped.", reply.session_id)
    text = CITED.sub(r"](#turn-\1)", reply.reply)
    return ScratchpadCell(
        content=f"{_asked(question)}\n\n{text}",
        turn_id=reply.turn_id,
        provenance=reply.provenance,
        session_id=reply.session_id,
    )


def problem_cell(question: str, message: str, session_id: str) -> ScratchpadCell:
    """A cell that says why there is no answer; its provenance names none."""
    return ScratchpadCell(
        content=f"{_asked(question)}\n\n> Not answered: {message}",
        provenance=Provenance(ai_turn_id=ERROR, provider_id=ERROR, response_type="batch"),
        session_id=session_id,
    )


def _asked(question: str) -> str:
    return f"**{' '.join(question.split())}**"


PATH = "scratchpad.ipynb"
KEY = "datalayer_agent"
"""The metadata key of a cell's ``{"provenance": {...}, "sessionId": ...}``, and of ``{"scratchpad":
true}`` of a notebook that the user marked as a scratchpad."""


async def add_cells(
    notebooks: NotebookService,
    cells: Sequence[tuple[ScratchpadCell, Provenance | None]],
    path: str | None = None,
    client_id: str | None = None,
) -> tuple[str, bool, list[str]]:
    """Add cells at the end of the scratchpad; returns its path, whether it was created now, and
    their ids.

    Only the default scratchpad is created if missing. Raises ``DocumentError``.
    """
    wanted = await notebooks.confine(path or PATH)
    if not wanted.endswith(".ipynb"):
        raise DocumentError("invalid_arguments", f"{wanted} is not a notebook.")
    # Two concurrent requests create one notebook.
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
