"""The notebook group, changes: cells are added, changed, moved, removed and run by id."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ...notebook.document import AppliedEdits
from ...protocol.base import Wire
from ...protocol.cells import (
    CellEdit,
    CellPosition,
    DeleteCell,
    InsertCell,
    MoveCell,
    PageCell,
    PageNotebook,
    UpdateCell,
)
from ...protocol.fences import names_python, plain_code, unfenced
from ...protocol.tools import Change, CodePart
from ..code_to_run import CodeToRun
from ..context import ToolContext, ToolFailure
from ..outputs import first_line
from ..registry import ToolOutcome, tool
from .documents import Replacement, replaced, replaced_in_code
from .notebook_read import missing_cells
from .run_cells import run_and_report
from .run_hints import read_before, stale_now

CellType = Literal["code", "markdown", "raw"]


class Beside(Wire):
    """Directly after or before a cell, by its id."""

    after: str | None = None
    before: str | None = None

    @model_validator(mode="after")
    def _which(self) -> Beside:
        if (self.after is None) == (self.before is None):
            raise ValueError("give the id of a cell as after or as before")
        return self


Position = Annotated[Literal["start", "end"] | Beside, Field(description="after, before: an id")]


class AddNotebookCell(Wire):
    """Arguments of ``addNotebookCell``."""

    path: str | None = None
    type: CellType = "code"
    content: str
    position: Position = "end"
    run: bool = False


class UpdateNotebookCell(Wire):
    """Arguments of ``updateNotebookCell``: ``content`` is whole, ``edits`` are pieces."""

    path: str | None = None
    cell_id: str
    content: str | None = None
    edits: list[Replacement] | None = None
    type: CellType | None = None
    run: bool = False

    @model_validator(mode="after")
    def _one_way(self) -> UpdateNotebookCell:
        # Models that fill in every argument send an empty list.
        if self.content is not None and self.edits:
            raise ValueError("give content (the whole source) or edits (pieces), not both")
        if self.content is None and self.edits is None and self.type is None:
            raise ValueError("give content, edits or type: there is nothing to change")
        return self


class DeleteNotebookCells(Wire):
    """Arguments of ``deleteNotebookCells``."""

    path: str | None = None
    cell_ids: list[str] = Field(min_length=1)


class MoveNotebookCell(Wire):
    """Arguments of ``moveNotebookCell``."""

    path: str | None = None
    cell_id: str
    position: Position


def to_position(position: Position) -> CellPosition:
    """Convert a tool's position to the page's form."""
    if isinstance(position, Beside):
        return CellPosition(after=position.after, before=position.before)
    return CellPosition(at=position)


async def _document(
    args: AddNotebookCell | UpdateNotebookCell | DeleteNotebookCells | MoveNotebookCell,
    context: ToolContext,
) -> str:
    """The notebook, which may be the text of a file that something runs."""
    return context.path(args.path)


async def _cells_to_change(
    context: ToolContext, path: str | None, cell_ids: Sequence[str], *, whole: bool = False
) -> tuple[PageNotebook, dict[str, PageCell]]:
    """The notebook, and its current cells with the given ids. ``whole``: their text is replaced by
    a new one.

    Raises ``ToolFailure``: ``not_found``, or ``stale`` if a cell differs from what the model last
    read.
    """
    path = context.path(path)
    notebook = await context.notebook(path)
    if failure := missing_cells(notebook, list(cell_ids)):
        raise failure
    present = {cell.id: cell for cell in notebook.cells}
    cells = {each: present[notebook.now(each)] for each in cell_ids}
    if context.seen is None:
        return notebook, cells
    for given, cell in cells.items():
        base = context.seen.base(path, cell.id) or context.seen.base(path, given)
        if base == cell.hash or context.may_change(path, cell.id, cell.hash, whole=whole):
            continue
        context.seen.note(path, [cell])
        state = (
            "has not been read in this conversation"
            if base is None
            else "was changed by the user since it was last read"
        )
        raise ToolFailure(
            "stale",
            f"Cell {cell.index + 1} ({cell.id}) {state}; nothing was changed.",
            "Its current source is in output. Base the change on it, keep what the user wrote, "
            "and call again.",
            output={"cellId": cell.id, "content": cell.source},
            summary=f"Cell {cell.index + 1} changed in the meantime; read it again",
        )
    return notebook, cells


async def apply(
    context: ToolContext,
    path: str | None,
    edits: Sequence[CellEdit],
    before: PageNotebook | None = None,
) -> AppliedEdits:
    """Apply a batch and record the cells as read back; ``before`` is the notebook, if it was just
    read."""
    path = context.path(path)
    await read_before(context, path, before)
    document = await context.document(path)
    applied = await document.edit(edits)
    if context.seen is not None:
        context.seen.note(path, applied.cells)
    await context.changed(path, applied.changes)
    return applied


def _changed(cell: PageCell, summary: str, applied: AppliedEdits) -> ToolOutcome:
    """The result for a cell as read back; ``unchanged`` if nothing changed."""
    output: dict[str, Any] = {"cellId": cell.id, "index": cell.index, "type": cell.type}
    if cell.id in applied.reformatted:
        output |= {"reformattedOnSave": True, "content": cell.source}
        summary += ", which was reformatted on save"
    if applied.changes:
        return ToolOutcome(output, summary, changes=applied.changes)
    output["unchanged"] = True
    return ToolOutcome(
        output, f"Cell {cell.index + 1} is already as requested; nothing was changed"
    )


async def _source_of_new(args: AddNotebookCell, context: ToolContext) -> str:
    if args.type != "code":
        return args.content
    language = None
    if names_python(unfenced(args.content)[0]):
        language = (await context.notebook(args.path)).kernel_language
    return plain_code(args.content, language)


async def _code_of_new(args: AddNotebookCell, context: ToolContext) -> CodeToRun | None:
    runs = args.run and args.type == "code"
    if not runs:
        return None
    part = CodePart(subject="The new cell", source=await _source_of_new(args, context))
    return CodeToRun((part,), context.path(args.path))


async def _preview_add(args: AddNotebookCell, context: ToolContext) -> list[Change]:
    source = await _source_of_new(args, context)
    return [Change(path=context.path(args.path), op="insert", after=source, cell_type=args.type)]


async def _place_of_new(args: AddNotebookCell, context: ToolContext) -> CellPosition:
    """Where the call says; else below the cell that the message came from, if that still exists."""
    below = context.gate.below
    elsewhere = context.path(args.path) != context.gate.target
    if below is None or elsewhere or "position" in args.model_fields_set:
        return to_position(args.position)
    notebook = await context.notebook(args.path)
    if all(cell.id != below for cell in notebook.cells):
        return to_position(args.position)
    return CellPosition(after=below)


@tool(
    AddNotebookCell,
    group="notebook",
    label=("Add a cell", "Adding a cell"),
    changes=True,
    writes=_document,
    needs_notebook=True,
    code=_code_of_new,
    preview=_preview_add,
    basic=True,
)
async def add_notebook_cell(args: AddNotebookCell, context: ToolContext) -> ToolOutcome:
    """Add a cell, by default at the end; with run, run it too."""
    cell_id = secrets.token_hex(4)
    edit = InsertCell(
        cell_id=cell_id,
        type=args.type,
        source=await _source_of_new(args, context),
        position=await _place_of_new(args, context),
    )
    applied = await apply(context, args.path, [edit])
    cell = _one(applied.cells, cell_id)
    if edit.position.after is not None and edit.position.after == context.gate.below:
        context.gate.below = cell_id
    outcome = _changed(cell, f"Added cell {cell.index + 1}", applied)
    if args.run and args.type == "code":
        return await run_and_report(context, args.path, [cell], outcome)
    outcome.output |= await stale_now(context, args.path)
    return outcome


async def _cell_to_update(
    args: UpdateNotebookCell, context: ToolContext
) -> tuple[PageNotebook, PageCell]:
    notebook, cells = await _cells_to_change(
        context, args.path, [args.cell_id], whole=args.content is not None
    )
    return notebook, cells[args.cell_id]


def _new_source(notebook: PageNotebook, cell: PageCell, args: UpdateNotebookCell) -> str | None:
    is_code = (args.type or cell.type) == "code"
    language, where = notebook.kernel_language, f"cell {cell.id}"
    output = {"cellId": cell.id, "content": cell.source}
    if args.edits and is_code:
        return replaced_in_code(cell.source, args.edits, where, output, language)
    if args.edits:
        return replaced(cell.source, args.edits, where, output)
    if args.content is None or not is_code:
        return args.content
    return plain_code(args.content, language)


async def _code_of_update(args: UpdateNotebookCell, context: ToolContext) -> CodeToRun | None:
    if not args.run:
        return None
    notebook, cell = await _cell_to_update(args, context)
    if (args.type or cell.type) != "code":
        return None
    source = _new_source(notebook, cell, args) or cell.source
    part = CodePart(subject="The changed cell", source=source, cell_id=cell.id)
    return CodeToRun((part,), notebook.path, notebook=notebook, besides=frozenset([cell.id]))


async def _preview_update(args: UpdateNotebookCell, context: ToolContext) -> list[Change]:
    notebook, cell = await _cell_to_update(args, context)
    after = _new_source(notebook, cell, args)
    return [
        Change(
            path=context.path(args.path),
            op="update",
            cell_id=cell.id,
            index=cell.index,
            before=cell.source,
            after=cell.source if after is None else after,
            cell_type=args.type or cell.type,
        )
    ]


@tool(
    UpdateNotebookCell,
    group="notebook",
    label=("Change a cell", "Changing a cell"),
    changes=True,
    writes=_document,
    needs_notebook=True,
    code=_code_of_update,
    preview=_preview_update,
    basic=True,
)
async def update_notebook_cell(args: UpdateNotebookCell, context: ToolContext) -> ToolOutcome:
    """Change a cell in place, by edits (preferred) or whole content; with run, run it too."""
    notebook, cell = await _cell_to_update(args, context)
    is_known = context.knows(notebook.path, cell.id, cell.hash)
    edit = UpdateCell(
        cell_id=cell.id,
        base_hash=cell.hash,
        source=_new_source(notebook, cell, args),
        type=args.type,
    )
    applied = await apply(context, args.path, [edit], notebook)
    after = _one(applied.cells, cell.id)
    outcome = _changed(after, f"Changed cell {after.index + 1}", applied)
    if not is_known:
        outcome.output |= {"changedByUser": True, "content": after.source}
    if args.run:
        return await run_and_report(context, args.path, [after], outcome)
    now = [after if each.id == cell.id else each for each in notebook.cells]
    outcome.output |= await stale_now(context, args.path, _with(notebook, now))
    return outcome


async def _loss(args: DeleteNotebookCells, context: ToolContext) -> str | None:
    count = len(set(args.cell_ids))
    return f"Deletes {count} cell{'' if count == 1 else 's'}"


async def _preview_delete(args: DeleteNotebookCells, context: ToolContext) -> list[Change]:
    _, cells = await _cells_to_change(context, args.path, args.cell_ids)
    return [
        Change(
            path=context.path(args.path),
            op="delete",
            cell_id=cell.id,
            index=cell.index,
            before=cell.source,
            cell_type=cell.type,
        )
        for cell in cells.values()
    ]


@tool(
    DeleteNotebookCells,
    group="notebook",
    label=("Remove cells", "Removing cells"),
    changes=True,
    writes=_document,
    needs_notebook=True,
    destructive=_loss,
    preview=_preview_delete,
    basic=True,
)
async def delete_notebook_cells(args: DeleteNotebookCells, context: ToolContext) -> ToolOutcome:
    """Delete cells, all or none."""
    ids = list(dict.fromkeys(args.cell_ids))
    notebook, cells = await _cells_to_change(context, args.path, ids)
    edits = [DeleteCell(cell_id=cells[e].id, base_hash=cells[e].hash) for e in ids]
    changes = (await apply(context, args.path, edits, notebook)).changes
    numbers = ", ".join(str(cells[each].index + 1) for each in ids)
    gone = {each.id for each in cells.values()}
    left = _with(notebook, [each for each in notebook.cells if each.id not in gone])
    output = {"deleted": ids, **await stale_now(context, args.path, left)}
    return ToolOutcome(
        output, f"Deleted cell{'' if len(ids) == 1 else 's'} {numbers}", changes=changes
    )


@tool(
    MoveNotebookCell,
    group="notebook",
    label=("Move a cell", "Moving a cell"),
    changes=True,
    writes=_document,
    needs_notebook=True,
)
async def move_notebook_cell(args: MoveNotebookCell, context: ToolContext) -> ToolOutcome:
    """Move a cell."""
    edit = MoveCell(cell_id=args.cell_id, position=to_position(args.position))
    applied = await apply(context, args.path, [edit])
    cell = _one(applied.cells, applied.cells[0].id if applied.cells else args.cell_id)
    summary = f"Moved “{first_line(cell.source)}” to position {cell.index + 1}"
    outcome = _changed(cell, summary, applied)
    outcome.output |= await stale_now(context, args.path)
    return outcome


def _with(notebook: PageNotebook, cells: list[PageCell]) -> PageNotebook:
    """The notebook with these cells."""
    return notebook.model_copy(update={"cells": cells})


def _one(cells: Sequence[PageCell], cell_id: str) -> PageCell:
    for cell in cells:
        if cell.id == cell_id:
            return cell
    raise ToolFailure(
        "internal",
        f"Cell {cell_id} was missing when the notebook was read back; it may not have changed.",
        "Read the notebook again before continuing.",
    )


TOOLS = [add_notebook_cell, update_notebook_cell, delete_notebook_cells, move_notebook_cell]
