"""Repairs of a failed cell that need no model: found by the error fixes, carried out by calls."""

from __future__ import annotations

import logging

from ...notebook.document import DocumentError
from ...notebook.service import NotebookService
from ...protocol.workflows import FixInfo
from ...workflows.fix import CellFailure, FindFixes
from ...workflows.probe import NotebookProbe, failure_of
from .own_calls import OwnCalls
from .watch import Failure

log = logging.getLogger(__name__)


class Repairs:
    """Finds the fixes of a failure and carries one out."""

    def __init__(
        self, notebooks: NotebookService, find: FindFixes, calls: OwnCalls, client_id: str | None
    ) -> None:
        self._notebooks = notebooks
        self._find = find
        self._calls = calls
        self._client_id = client_id

    async def find(self, failure: Failure) -> list[FixInfo]:
        """The fixes of a cell that failed, the likeliest first."""
        if failure.path is None or failure.cell_id is None:
            return []
        return await fixes_of(
            self._notebooks, self._find, failure.path, failure.cell_id, self._client_id
        )

    async def apply(self, fix: FixInfo, path: str) -> str | None:
        """Carry the fix out; None when all of it ended well, else what did not."""
        for step in fix.calls:
            done = await self._calls.call(step.name, {"path": path, **step.arguments})
            error = done.done.result.error
            if error is not None:
                return error.message
        return None


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
