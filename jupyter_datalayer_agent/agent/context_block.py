"""The current context as one input item: what stands before the person's message, and only now."""

from __future__ import annotations

from ..notebook.context import render_context, render_file
from ..notebook.document import DocumentError
from ..notebook.edits import source_hash
from ..protocol.context import CellContext, ContextReply, NotebookContext
from ..tools.context import SeenCells
from .services import Services
from .targets import Submission

# Of the cells that are not selected, the rendered text holds this many characters each (DESIGN 6).
WHOLE_CELL_CHARACTERS = 2_000
WHOLE_NOTEBOOK_CHARACTERS = 50_000


async def gather(
    services: Services, about: Submission, seen: SeenCells | None = None
) -> ContextReply:
    """What a turn about this would send; cells shown whole are noted in ``seen``."""
    parts: list[str] = []
    reply = ContextReply(text="", tokens=0, notebook_mode=about.gate.notebook_mode)
    target = about.gate.target
    if target is not None:
        try:
            notebook = await services.notebooks.context(target, about.request.client_id)
        except DocumentError as error:
            parts.append(f"The notebook {target} cannot be read: {error.message}")
        else:
            reply.notebook = notebook
            parts.append(render_context(notebook))
            if seen is not None:
                note_shown(seen, target, notebook)
    else:
        reply.reason = about.gate.why_off()
        parts.append(f"Notebook mode is off: {reply.reason}")
    paths = list(about.files)
    active = about.active_document
    if active is not None and active.kind == "file" and active.path not in paths:
        paths.insert(0, active.path)
    for path in paths:
        try:
            file = await services.notebooks.file_context(path, about.request.client_id)
        except DocumentError as error:
            parts.append(f"The file {path} cannot be read: {error.message}")
            continue
        reply.file = reply.file or file
        parts.append(render_file(file))
    cells = [each.cell_id for each in about.request.attachments if each.cell_id]
    if cells:
        parts.append(f"The person attached these cells: {', '.join(cells)}")
    if about.references:
        parts.append(f"The person means these tools: {', '.join(about.references)}")
    reply.text = "<context>\n" + "\n\n".join(parts) + "\n</context>"
    reply.tokens = estimate(reply.text)
    return reply


def estimate(text: str) -> int:
    """Tokens of a text, estimated."""
    from ..models.tokens import estimate_tokens

    return estimate_tokens(text)


def note_shown(seen: SeenCells, path: str, notebook: NotebookContext) -> None:
    """Note the cells whose whole source the rendered text shows."""
    for cell in notebook.selected_cells:
        _note(seen, path, cell)
    cells = notebook.all_cells or []
    if sum(len(cell.content) for cell in cells) <= WHOLE_NOTEBOOK_CHARACTERS:
        for cell in cells:
            if len(cell.content) <= WHOLE_CELL_CHARACTERS:
                _note(seen, path, cell)


def _note(seen: SeenCells, path: str, cell: CellContext) -> None:
    seen.note_hash(path, cell.id, source_hash(cell.content))
