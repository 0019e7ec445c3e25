"""What a failed run says of a kernel that died, and of the cells that have to run again since."""

from __future__ import annotations

from typing import Any

from ...notebook.cells_of import cells_of
from ...notebook.document import DocumentError
from ...notebook.files.kinds import is_lexical
from ...notebook.kernel.execution_log import numbered
from ...protocol.cells import CellRun
from ..context import ToolContext


async def lost_cells(
    context: ToolContext, path: str | None, bad: CellRun
) -> tuple[dict[str, Any], str | None]:
    """For the result of a run that failed: ``{"runAgain": [ids]}`` where cells have to run again,
    and a hint. Without a hint the failure has nothing to do with a kernel that is gone."""
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
        again = []  # the failure itself is what counts
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
