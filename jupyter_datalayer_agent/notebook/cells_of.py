"""The cells of a notebook, or the blocks of a Lexical document as such."""

from __future__ import annotations

from ..protocol.cells import PageNotebook
from .files.kinds import is_lexical
from .service import NotebookService


async def cells_of(
    notebooks: NotebookService, path: str, client_id: str | None = None, *, outputs: bool = False
) -> PageNotebook:
    """The document at a path as it is now. Raises ``DocumentError``."""
    if not is_lexical(path):
        return await notebooks.read(path, client_id, outputs=outputs)
    from .lexical.convert import blocks_as_cells

    document = await notebooks.lexical.read(path, client_id)
    return blocks_as_cells(document, notebooks.executions, outputs=outputs)
