"""Telling, after a change or a run, which cells are stale now."""

from __future__ import annotations

import logging
from typing import Any

from ..notebook.document import DocumentError
from .context import ToolContext

log = logging.getLogger(__name__)

MOST_IDS = 50


async def look_before(context: ToolContext, path: str | None) -> None:
    """Note a notebook as it is before it is first changed."""
    path = context.path(path)
    staleness = context.notebooks.staleness
    if not staleness.knows(path):
        document = await context.notebooks.open(path, context.client_id)
        await staleness.look(path, await document.read())


async def stale_now(context: ToolContext, path: str | None) -> dict[str, Any]:
    """What a result says of stale cells: ``{"staleCells": [ids]}``, or nothing where none is.

    The page is told where the list is another one than before.
    """
    path = context.path(path)
    try:
        document = await context.notebooks.open(path, context.client_id)
        stale = await context.notebooks.staleness.look(path, await document.read())
    except DocumentError as error:
        # What was done is done; the next call will say what is wrong with the notebook.
        log.debug("%s could not be read for its stale cells: %s", path, error)
        return {}
    if context.notebooks.staleness.news(path, context.session_id, stale):
        await context.stale(path, stale)
    if not stale:
        return {}
    told: dict[str, Any] = {"staleCells": stale[:MOST_IDS]}
    if len(stale) > MOST_IDS:
        told["staleCellCount"] = len(stale)
    return told
