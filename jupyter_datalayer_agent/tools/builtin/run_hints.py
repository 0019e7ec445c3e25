"""The hint of a failed run: the repair that is known, else what is true of any such failure."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from ...notebook.document import DocumentError
from ...notebook.files.kinds import noun
from ...protocol.cells import CellRun
from ..context import ToolContext
from ..tracebacks import where

log = logging.getLogger(__name__)

MOST_HINTS = 5
SECONDS = 5.0
"""Looking for a repair asks the kernel and looks at files: the result does not wait longer."""


async def add_hints(
    context: ToolContext,
    path: str,
    runs: Sequence[CellRun],
    views: Sequence[dict[str, Any]],
    bad: CellRun,
    hint: str,
) -> None:
    """Add ``hint`` to the views of the runs that failed beside ``bad``, whose hint is the result's;
    none is said twice."""
    said = {hint}
    failed = [
        (run, view)
        for run, view in zip(runs, views, strict=True)
        if run.status == "error" and run is not bad
    ]
    for run, view in failed[:MOST_HINTS]:
        hint = await hint_of(context, path, run)
        if hint not in said:
            said.add(hint)
            view["hint"] = hint


async def hint_of(
    context: ToolContext, path: str | None, bad: CellRun, code: str | None = None
) -> str:
    """What to do about a run that failed; ``code`` where it is of no cell. The text may be private,
    as the error's own message is."""
    part = "code" if code is not None else noun(path or "")
    if bad.status == "timeout":
        longer = ", or give it a longer timeoutSeconds" if code is None else ""
        return f"Let the {part} do less at a time{longer}."
    if bad.status != "error" or bad.error is None or bad.error.ename == "KeyboardInterrupt":
        return f"It was stopped from outside: nothing in the {part} is to be repaired for that."
    known = None
    if path is not None and context.repair_of is not None:
        looking = context.repair_of(path, bad, code, context.client_id)
        try:
            known = await asyncio.wait_for(looking, SECONDS)
        except (asyncio.TimeoutError, DocumentError) as error:
            log.debug("No repair is known of a failed run: %r", error)
    if known is not None:
        return known
    place = where(bad.error.traceback)
    is_lacking = bad.error.ename == "FileNotFoundError"
    files = " listFiles shows which files there are." if is_lacking else ""
    if place.line is not None and place.file is None and code is None:
        tool = "updateBlock" if part == "block" else "updateNotebookCell"
        return f"Fix this {part} in place with {tool} before running more.{files}"
    if code is not None:
        return f"Find the cause in the error, and change the code.{files}"
    in_place = f"where it is in this {part}, change it in place"
    return f"Find the cause before you run more; {in_place}.{files}"
