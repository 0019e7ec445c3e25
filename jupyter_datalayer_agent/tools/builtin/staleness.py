"""Reports, after a change or a run, which cells are stale now."""

from __future__ import annotations

import logging
from typing import Any

from ...notebook.document import DocumentError
from ...protocol.cells import PageNotebook
from ..context import ToolContext

log = logging.getLogger(__name__)

MOST_IDS = 50


async def read_before(
    context: ToolContext, path: str | None, notebook: PageNotebook | None = None
) -> None:
    """Record the notebook's state before its first change."""
    path = context.path(path)
    if not context.notebooks.staleness.knows(path):
        await context.notebooks.staleness.look(path, notebook or await context.notebook(path))


async def stale_now(
    context: ToolContext, path: str | None, notebook: PageNotebook | None = None
) -> dict[str, Any]:
    """The stale cells of a result: ``{"staleCells": [ids]}``; nothing where it is not known.

    ``notebook`` is the current notebook, if it is known without another read. The page is notified
    if the list has changed.
    """
    path = context.path(path)
    try:
        stale = await context.notebooks.staleness.look(
            path, notebook or await context.notebook(path)
        )
    except DocumentError as error:
        # The call itself succeeded; the next one will report what is wrong with the notebook.
        log.debug("%s could not be read for its stale cells: %s", path, error)
        return {}
    if context.notebooks.staleness.news(path, context.session_id, stale):
        await context.stale(path, stale)
    report: dict[str, Any] = {"staleCells": stale[:MOST_IDS]}
    if len(stale) > MOST_IDS:
        report["staleCellCount"] = len(stale)
    return report
