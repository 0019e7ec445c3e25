"""The notebook group, reads: cells and outputs."""

from __future__ import annotations

from typing import Annotated, Any

from ...protocol.base import Wire
from ...protocol.cells import PageCell, PageNotebook
from ..context import ToolContext, ToolFailure
from ..limits import at_least, clamped
from ..outputs import render_outputs
from ..registry import Image, ToolOutcome, tool


class GetNotebookCells(Wire):
    """Arguments of ``getNotebookCells``."""

    path: str | None = None
    cell_ids: list[str] | None = None
    include_outputs: bool = False
    start: Annotated[int | None, at_least(0)] = None
    limit: Annotated[int | None, at_least(1)] = None


class GetNotebookQuality(Wire):
    """Arguments of ``getNotebookQuality``."""

    path: str | None = None


class GetCellOutputs(Wire):
    """Arguments of ``getCellOutputs``; ``offset`` and ``limit`` are in characters."""

    path: str | None = None
    cell_id: str
    offset: Annotated[int, at_least(0)] = 0
    limit: Annotated[int, clamped(1, 40_000)] = 20_000


def cell_view(cell: PageCell, images: list[Image] | None = None) -> dict[str, Any]:
    """A cell as the model reads it, by the names of ``CellContext``; outputs as text, and pictures
    put into ``images``.

    Without a run in this session there is no ``lastRunSuccess``, ``lastExecutionDuration`` (ms) and
    ``lastRunEndTime`` (ms since 1970).
    """
    view: dict[str, Any] = {
        "id": cell.id,
        "index": cell.index,
        "type": cell.type,
        "content": cell.source,
        "hasOutput": cell.has_output,
        "selectionStatus": cell.selection_status,
    }
    if cell.type != "code":
        return view
    view["executionStatus"] = cell.execution_status or "idle"
    view["executionOrder"] = cell.execution_count
    if cell.last_run_success is not None:
        view["lastRunSuccess"] = cell.last_run_success
    if cell.last_execution_duration is not None:
        view["lastExecutionDuration"] = round(cell.last_execution_duration, 1)
    if cell.last_run_end_time is not None:
        view["lastRunEndTime"] = cell.last_run_end_time
    if cell.outputs is not None:
        view["outputs"], found = render_outputs(cell.outputs, f"cell {cell.index + 1}'s output")
        if images is not None:
            images.extend(found)
    return view


def missing_cells(notebook: PageNotebook, wanted: list[str]) -> ToolFailure | None:
    """The failure for ids that the notebook does not have; it lists those that exist."""
    known = {cell.id for cell in notebook.cells}
    missing = [each for each in wanted if notebook.now(each) not in known]
    if not missing:
        return None
    return ToolFailure(
        "not_found",
        f"No cell with id {', '.join(missing)} in {notebook.path}.",
        "Read the cells again with getNotebookCells; ids in the notebook: "
        + ", ".join([cell.id for cell in notebook.cells][:50]),
    )


@tool(
    GetNotebookCells,
    group="notebook",
    label=("Read cells", "Reading cells"),
    needs_notebook=True,
    parallel=True,
    basic=True,
)
async def get_notebook_cells(args: GetNotebookCells, context: ToolContext) -> ToolOutcome:
    """Read whole cells: all, the given ids, or limit cells from index start."""
    path = context.path(args.path)
    notebook = await context.notebook(path, outputs=args.include_outputs)
    cells = notebook.cells
    if args.cell_ids is not None:
        if failure := missing_cells(notebook, args.cell_ids):
            raise failure
        wanted = set(map(notebook.now, args.cell_ids))
        cells = [cell for cell in cells if cell.id in wanted]
    start = args.start or 0
    cells = cells[start : None if args.limit is None else start + args.limit]
    if context.seen is not None:
        context.seen.note(path, cells)
    images: list[Image] = []
    output = {
        "path": path,
        "cellCount": len(notebook.cells),
        "kernel": notebook.kernel_name,
        "cells": [cell_view(cell, images) for cell in cells],
    }
    return ToolOutcome(
        output,
        f"Read {len(cells)} cell{'' if len(cells) == 1 else 's'}",
        images=images,
        more="read fewer cells at a time with cellIds, or start and limit",
    )


@tool(
    GetCellOutputs,
    group="notebook",
    label=("Read outputs of cells", "Reading outputs of cells"),
    needs_notebook=True,
    parallel=True,
    basic=True,
)
async def get_cell_outputs(args: GetCellOutputs, context: ToolContext) -> ToolOutcome:
    """Read a cell's outputs; a long one by offset and limit (characters)."""
    document = await context.document(args.path)
    notebook = await document.read([args.cell_id], outputs=True)
    cell = next((e for e in notebook.cells if e.id == notebook.now(args.cell_id)), None)
    if cell is None:
        whole = await document.read()
        raise missing_cells(whole, [args.cell_id]) or ToolFailure("not_found", "No such cell.")
    text, images = render_outputs(cell.outputs or [], f"cell {cell.index + 1}'s output")
    end = min(len(text), args.offset + args.limit)
    output: dict[str, Any] = {
        "cellId": cell.id,
        "outputs": text.cut(args.offset, end),
        "totalCharacters": len(text),
    }
    if end < len(text):
        output["nextOffset"] = end
    return ToolOutcome(output, f"Read the output of cell {cell.index + 1}", images=images)


@tool(
    GetNotebookQuality,
    group="notebook",
    label=("Read the quality report", "Checking the quality of the notebook"),
    needs_notebook=True,
    parallel=True,
)
async def get_notebook_quality(args: GetNotebookQuality, context: ToolContext) -> ToolOutcome:
    """The notebook's quality report: score, issues by cell, suggestions."""
    path = context.path(args.path)
    if context.quality_of is None:
        raise ToolFailure("not_allowed", "Quality reports are not available here.")
    report = await context.quality_of(path, context.client_id)
    return ToolOutcome(
        {"path": path, **report.to_wire()}, f"Read the quality report: {report.score} of 100"
    )


TOOLS = [get_notebook_cells, get_cell_outputs, get_notebook_quality]
