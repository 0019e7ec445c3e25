"""Hints for failed runs: the known repair, else what is true of any such failure."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from ...notebook.cells_of import cells_of
from ...notebook.document import DocumentError
from ...notebook.files.kinds import is_lexical, noun
from ...notebook.kernel.execution_log import numbered
from ...protocol.cells import CellRun, PageNotebook
from ..context import ToolContext
from ..tracebacks import where

# What a failed run means after a kernel died, and which cells have to run again since.


async def lost_cells(
    context: ToolContext, path: str | None, bad: CellRun
) -> tuple[dict[str, Any], str | None]:
    """For the result of a failed run: ``{"runAgain": [ids]}`` if cells have to run again, and a
    hint. Without a hint, the failure is not due to a kernel that is gone."""
    again = []
    executions = context.notebooks.executions
    try:
        if path is not None:
            notebook = await cells_of(context.notebooks, path, context.client_id)
            again = executions.lost_before(path, notebook, bad.cell_id)
            if bad.kernel_died and not again:
                others = [cell for cell in notebook.cells if cell.id != bad.cell_id]
                again = executions.lost(path, others)
    except DocumentError:
        again = []  # the failure itself matters more
    if not again and not bad.kernel_died:
        return {}, None
    output = {"runAgain": [cell.id for cell in again]} if again else {}
    noun = "block" if path is not None and is_lexical(path) else "cell"
    names = numbered(again, noun) if again else ""
    if bad.kernel_died:
        run = f" Run {names} again before what depends on {_them(again)}." if again else ""
        return output, (
            f"All variables are gone.{run} A NameError until then is not the fault of the {noun} "
            "that raises it. The next run waits until the kernel is back."
        )
    assert path is not None
    have = "has" if len(again) == 1 else "have"
    return output, (
        f"{executions.life(path).ended} {names[0].upper()}{names[1:]} {have} not run since, and "
        f"this {noun} depends on {_them(again)}: run {_them(again)} again before you change "
        f"this {noun}."
    )


def _them(cells: list[Any]) -> str:
    return "it" if len(cells) == 1 else "them"


# Reports the cells that are stale after a change or a run.


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
    """The stale cells of a result: ``{"staleCells": [ids]}``; nothing if they are unknown.

    ``notebook`` is the current notebook, if it was just read. The page is notified if the list has
    changed.
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


MOST_HINTS = 5
SECONDS = 5.0
"""Finding a repair asks the kernel and reads files; the result does not wait longer than this."""


async def add_hints(
    context: ToolContext,
    path: str,
    runs: Sequence[CellRun],
    views: Sequence[dict[str, Any]],
    bad: CellRun,
    hint: str,
) -> None:
    """Add ``hint`` to the views of the other failed runs; the result already has ``bad``'s. No hint
    is repeated."""
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
    """What to do about a failed run; ``code`` if it is not a cell's. The text may be private, as
    the error's own message is."""
    part = "code" if code is not None else noun(path or "")
    if bad.status == "timeout":
        longer = ", or give it a longer timeoutSeconds" if code is None else ""
        return f"Let the {part} do less at a time{longer}."
    if bad.status != "error" or bad.error is None or bad.error.ename == "KeyboardInterrupt":
        return f"It was stopped from outside; the {part} needs no repair for that."
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
    files = " listFiles shows which files exist." if is_lacking else ""
    if place.line is not None and place.file is None and code is None:
        tool = "updateBlock" if part == "block" else "updateNotebookCell"
        return f"Fix this {part} in place with {tool} before running more.{files}"
    if code is not None:
        return f"Find the cause in the error, and change the code.{files}"
    in_place = f"where it is in this {part}, change it in place"
    return f"Find the cause before you run more; {in_place}.{files}"
