"""Error fixes: which are offered for a failed cell, and attempts at one."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ..notebook.cells_of import cells_of
from ..notebook.document import DocumentError
from ..notebook.service import NotebookService
from ..protocol.errors import AgentError
from ..protocol.requests import ModelsReply
from ..protocol.workflows import CellFix, FixAttempt, FixAttemptRequest, FixInfo
from ..workflows.fix import CellFailure, preview
from ..workflows.fixes.probe import NotebookProbe, failure_of, language_of
from .request import confined
from .runtime import Runtime
from .tool_calls.verification import Failure

# Error fixes for cells that failed.


log = logging.getLogger(__name__)

MAX_OFFERS = 3
"""The number of failed cells for which fixes are offered at the end of a turn."""


async def fixes_of(runtime: Runtime, failure: Failure, client_id: str | None) -> list[FixInfo]:
    """The fixes for a cell that shows an error or could not run without a kernel, likeliest first;
    empty for any other cell.

    If a run could not begin, cells show the outputs of earlier runs, so only a kernel is offered.
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


# Attempts to fix a cell on the user's request: the known fixes first, then a model.


MAX_ATTEMPTS = 3

_FIX = "Fix the error of this cell."
_FIX_AGAIN = "The cell was changed and run, and still fails. Fix the error that it shows now."


async def next_attempt(
    runtime: Runtime, request: FixAttemptRequest, models: ModelsReply
) -> FixAttempt:
    """What to try next. The caller keeps the state and passes what was tried.

    A page shows it as a diff, and the user's own notebook writes and runs what the user accepts:
    there is no turn and no checkpoint, and the notebook's own undo reverts it.
    """
    tried = request.tried
    attempt = FixAttempt(attempt=len(tried) + 1, max_attempts=MAX_ATTEMPTS)
    if len(tried) >= MAX_ATTEMPTS:
        attempt.message = await _gave_up(runtime, request)
        return attempt
    attempt.fixes = await _untried(runtime, request)
    if not attempt.fixes and models.ready:
        attempt.prompt = _FIX_AGAIN if tried else _FIX
    elif not attempt.fixes:
        other = "other " if tried else ""
        attempt.message = f"No {other}built-in fix for this error. {models.message or ''}".strip()
    return attempt


async def _untried(runtime: Runtime, request: FixAttemptRequest) -> list[CellFix]:
    """The known fixes that were not tried; none for a notebook that cannot be read here, such as
    one on another drive, for which only the model is asked."""
    try:
        path = await confined(runtime, request.path)
        found = await fixes_of(runtime, Failure("", path, request.cell_id), request.client_id)
        if not found:
            return []
        # Read after the search, which may take seconds in which the user may have typed.
        notebook = await runtime.notebooks.read(path, request.client_id)
    except (AgentError, DocumentError) as error:
        log.debug("No fixes are known of a cell that could not be read: %s", error)
        return []
    sources = {cell.id: cell.source for cell in notebook.cells}
    tried = {each.key for each in request.tried}
    shown = (preview(fix, sources) for fix in found)
    return [each for each in shown if each is not None and each.key not in tried]


async def _gave_up(runtime: Runtime, request: FixAttemptRequest) -> str:
    ename = "an error"
    try:
        path = await confined(runtime, request.path)
        failed = await failure_of(runtime.notebooks, path, request.cell_id, request.client_id)
        if failed is not None and failed.error is not None:
            ename = failed.error.ename
    except (AgentError, DocumentError) as error:
        log.debug("The error of a cell could not be read: %s", error)
    done = "; ".join(dict.fromkeys(each.done for each in request.tried))
    return (
        f"Three attempts failed: {done}. The cell still fails with {ename}. The changes remain; "
        "undo them in the notebook, or give an instruction."
    )
