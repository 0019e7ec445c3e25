"""Clears outputs and execution counts, and removes empty cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from ....notebook.edits.batch import outputs_of, source_hash, source_of
from ....notebook.edits.cell_locks import lock_of
from ....protocol.cells import CellEdit, DeleteCell, UpdateCell
from ...action import Action, ActionResult, Option, Progress, parameter
from .export import notebooks

OUTPUTS, EMPTY, COUNTS = "outputs", "empty-cells", "execution-counts"


class Clean(Action):
    """Cleans the notebook in the page that has it open, or in its file. It can be undone."""

    id = "clean"
    title = "Clean the notebook"
    description = "Clears outputs and execution counts, and removes empty cells. Can be undone."
    examples = (
        "Clean up this notebook",
        "Clear all outputs",
        "Strip the outputs and execution counts before I commit",
        "Remove the empty cells",
    )

    class Parameters(BaseModel):
        """What is cleaned, and of what."""

        notebook: str = parameter(title="Notebook", kind="notebook")
        what: list[str] = parameter([OUTPUTS, EMPTY, COUNTS], title="Clean")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name == "notebook":
            return await notebooks(self.context.files())
        if name != "what":
            return None
        return [
            Option(OUTPUTS, "outputs"),
            Option(EMPTY, "empty cells"),
            Option(COUNTS, "execution counts"),
        ]

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        notebook = await self.context.read(parameters.notebook)
        cleaned = edits_to_clean(notebook["cells"], parameters.what)
        if not cleaned:
            return ActionResult(f"`{parameters.notebook}` is clean: there was nothing to do.")
        await progress("Cleaning")
        await self.context.edit(parameters.notebook, cleaned)
        removed = sum(each.op == "delete" for each in cleaned)
        cleared = len(cleaned) - removed
        done = [
            text
            for text, count in (
                (f"cleared {_cells(cleared)}", cleared),
                (f"removed {_cells(removed, 'empty ')}", removed),
            )
            if count
        ]
        result = " and ".join(done)
        return ActionResult(f"{result[0].upper()}{result[1:]} of `{parameters.notebook}`.")


def edits_to_clean(cells: Sequence[Mapping[str, Any]], what: Sequence[str]) -> list[CellEdit]:
    """The edits that clean nbformat cells; none for those that are clean."""
    edits: list[CellEdit] = []
    for cell in cells:
        source = source_of(cell)
        base = source_hash(source)
        is_empty = not source.strip() and not cell.get("attachments")
        if EMPTY in what and is_empty and lock_of(cell, "deletable") is None:
            edits.append(DeleteCell(cell_id=cell["id"], base_hash=base))
            continue
        if cell["cell_type"] != "code":
            continue
        outputs = [] if OUTPUTS in what else [dict(each) for each in outputs_of(cell)]
        count = None if COUNTS in what else cell.get("execution_count")
        if COUNTS in what:
            for each in outputs:
                if "execution_count" in each:
                    each["execution_count"] = None
        if outputs == outputs_of(cell) and count == cell.get("execution_count"):
            continue
        clean = {**cell, "source": source, "outputs": outputs, "execution_count": count}
        edits.append(
            UpdateCell(cell_id=cell["id"], base_hash=base, source=source, type="code", cell=clean)
        )
    return edits


def _cells(count: int, kind: str = "") -> str:
    return f"{count} {kind}cell{'' if count == 1 else 's'}"
