"""What could be done about a cell that failed, asked of the error fixes."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ...notebook.document import DocumentError
from ...notebook.service import NotebookService
from ...protocol.workflows import FixInfo
from ...workflows.fix import CellFailure, FindFixes
from ...workflows.probe import NotebookProbe, failure_of, language_of

log = logging.getLogger(__name__)


async def fixes_of(
    notebooks: NotebookService,
    find: FindFixes,
    path: str,
    cell_id: str | None,
    client_id: str | None,
    not_run: Sequence[str] | None = None,
) -> list[FixInfo]:
    """What could be done about a cell that shows an error, or could not run for want of a kernel;
    nothing for any other.

    ``not_run`` are the cells of a run that could not begin: what they show is of an earlier one.
    Without a ``cell_id`` only a kernel is looked for.
    """
    try:
        failure = None
        if not_run is None and cell_id is not None:
            failure = await failure_of(notebooks, path, cell_id, client_id)
        if failure is None and await notebooks.kernel_of(path) is None:
            failure = await _without_kernel(notebooks, path, cell_id, client_id, not_run)
    except DocumentError as error:
        log.debug("A failed cell could not be read: %s", error)
        return []
    return [] if failure is None else await find(failure, NotebookProbe(notebooks, path))


async def _without_kernel(
    notebooks: NotebookService,
    path: str,
    cell_id: str | None,
    client_id: str | None,
    not_run: Sequence[str] | None,
) -> CellFailure | None:
    notebook = await (await notebooks.open(path, client_id)).read()
    cell = next((each for each in notebook.cells if cell_id in (None, each.id)), None)
    if cell is None:
        return None
    return CellFailure(
        path=path,
        cell=cell,
        cells=notebook.cells,
        error=None,
        language=await language_of(notebooks, notebook),
        no_kernel=True,
        kernel_name=notebook.kernel_name,
        not_run=[cell.id] if not_run is None else not_run,
    )
