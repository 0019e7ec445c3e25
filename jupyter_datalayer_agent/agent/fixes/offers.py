"""Error fixes for cells that failed."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ...notebook.cells_of import cells_of
from ...notebook.document import DocumentError
from ...notebook.service import NotebookService
from ...protocol.workflows import FixInfo
from ...workflows.fix import CellFailure
from ...workflows.fixes.probe import NotebookProbe, failure_of, language_of
from ..runtime import Runtime
from ..tool_calls.verification import Failure

log = logging.getLogger(__name__)

MAX_OFFERS = 3
"""The most failed cells for which fixes are offered at the end of a turn."""


async def fixes_of(runtime: Runtime, failure: Failure, client_id: str | None) -> list[FixInfo]:
    """The fixes for a cell that shows an error, or could not run without a kernel, the likeliest
    first; empty for any other.

    If a run could not begin, the cells show an earlier one: only a kernel is offered.
    """
    path, cell_id, not_run = failure.path, failure.cell_id, failure.not_run
    if path is None or (cell_id is None and not_run is None):
        return []
    notebooks = runtime.notebooks
    try:
        failed = None
        if not_run is None and cell_id is not None:
            failed = await failure_of(notebooks, path, cell_id, client_id)
        if failed is None and await notebooks.kernel_of(path) is None:
            failed = await _without_kernel(notebooks, path, cell_id, client_id, not_run)
    except DocumentError as error:
        log.debug("A failed cell could not be read: %s", error)
        return []
    return (
        [] if failed is None else await runtime.find_fixes(failed, NotebookProbe(notebooks, path))
    )


async def _without_kernel(
    notebooks: NotebookService,
    path: str,
    cell_id: str | None,
    client_id: str | None,
    not_run: Sequence[str] | None,
) -> CellFailure | None:
    notebook = await cells_of(notebooks, path, client_id)
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
