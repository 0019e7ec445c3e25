"""What could be done about a cell that failed, asked of the error fixes."""

from __future__ import annotations

import logging

from ..notebook.document import DocumentError
from ..notebook.service import NotebookService
from ..protocol.workflows import FixInfo
from ..workflows.fix import CellFailure, FindFixes
from ..workflows.probe import NotebookProbe, failure_of

log = logging.getLogger(__name__)


async def fixes_of(
    notebooks: NotebookService,
    find: FindFixes,
    path: str,
    cell_id: str,
    client_id: str | None,
) -> list[FixInfo]:
    """What could be done about a cell that shows an error, or could not run for want of a kernel;
    nothing for any other."""
    try:
        failure = await failure_of(notebooks, path, cell_id, client_id)
        if failure is None and await notebooks.kernel_of(path) is None:
            failure = await _without_kernel(notebooks, path, cell_id, client_id)
    except DocumentError as error:
        log.debug("A failed cell could not be read: %s", error)
        return []
    return [] if failure is None else await find(failure, NotebookProbe(notebooks, path))


async def _without_kernel(
    notebooks: NotebookService, path: str, cell_id: str, client_id: str | None
) -> CellFailure | None:
    notebook = await (await notebooks.open(path, client_id)).read()
    cell = next((each for each in notebook.cells if each.id == cell_id), None)
    if cell is None:
        return None
    return CellFailure(path=path, cell=cell, cells=notebook.cells, error=None, no_kernel=True)
