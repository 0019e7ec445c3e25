"""Older, index-based names for the notebook tools: callable, but not sent to the model.

All indices of a call are resolved to cell ids from one reading of the notebook: deleting cells 2,
3, 4 and 6 one at a time would remove the wrong ones.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from ...protocol.base import Wire
from ..context import ToolContext, ToolFailure
from ..registry import Alias


class ReadCell(Wire):
    """Arguments of ``readCell``; ``index`` counts from 0."""

    path: str | None = None
    index: int = Field(ge=0)


class ReadAllCells(Wire):
    """Arguments of ``readAllCells``."""

    path: str | None = None
    format: Literal["brief", "detailed"] = "brief"


class InsertCellAt(Wire):
    """Arguments of ``insertCell``: before the cell at ``index``, else at the end."""

    path: str | None = None
    type: Literal["code", "markdown", "raw"] = "code"
    source: str | None = None
    content: str | None = None
    index: int | None = Field(None, ge=0)

    @model_validator(mode="after")
    def _text(self) -> InsertCellAt:
        if (self.source is None) == (self.content is None):
            raise ValueError("give source or content")
        return self


class UpdateCellAt(Wire):
    """Arguments of ``updateCell``."""

    path: str | None = None
    index: int = Field(ge=0)
    source: str


class RunAllCells(Wire):
    """Arguments of ``runAllCells``."""

    path: str | None = None


class DeleteCellsAt(Wire):
    """Arguments of ``deleteCells``."""

    path: str | None = None
    indices: list[int] = Field(min_length=1)


class PythonRepl(Wire):
    """Arguments of ``python_repl``."""

    code: str = Field(min_length=1)


async def ids_at(context: ToolContext, path: str | None, indices: list[int]) -> list[str]:
    """The ids of the cells at these indices, from one reading of the notebook."""
    cells = (await context.notebook(path)).cells
    for index in indices:
        if not 0 <= index < len(cells):
            raise ToolFailure(
                "not_found",
                f"There is no cell at index {index}; the notebook has {len(cells)} cells.",
                f"Indices go from 0 to {len(cells) - 1}.",
            )
    return [cells[index].id for index in indices]


async def _read_cell(args: ReadCell, context: ToolContext) -> dict[str, Any]:
    ids = await ids_at(context, args.path, [args.index])
    return {"path": args.path, "cell_ids": ids, "include_outputs": True}


async def _read_all(args: ReadAllCells, context: ToolContext) -> dict[str, Any]:
    return {"path": args.path, "include_outputs": args.format == "detailed"}


async def _insert(args: InsertCellAt, context: ToolContext) -> dict[str, Any]:
    position: Any = "end"
    if args.index is not None:
        cells = (await context.notebook(args.path)).cells
        if args.index > len(cells):
            raise ToolFailure(
                "not_found", f"Index {args.index} is past the end ({len(cells)} cells)."
            )
        if args.index < len(cells):
            position = {"before": cells[args.index].id}
    content = args.content if args.content is not None else args.source
    return {"path": args.path, "type": args.type, "content": content, "position": position}


async def _update(args: UpdateCellAt, context: ToolContext) -> dict[str, Any]:
    ids = await ids_at(context, args.path, [args.index])
    return {"path": args.path, "cell_id": ids[0], "content": args.source}


async def _run(args: ReadCell, context: ToolContext) -> dict[str, Any]:
    return {"path": args.path, "cell_ids": await ids_at(context, args.path, [args.index])}


async def _run_all(args: RunAllCells, context: ToolContext) -> dict[str, Any]:
    return {"path": args.path, "all": True}


async def _delete(args: DeleteCellsAt, context: ToolContext) -> dict[str, Any]:
    return {"path": args.path, "cell_ids": await ids_at(context, args.path, args.indices)}


async def _repl(args: PythonRepl, context: ToolContext) -> dict[str, Any]:
    return {"code": args.code}


ALIASES = [
    Alias("readCell", "getNotebookCells", ReadCell, _read_cell),
    Alias("readAllCells", "getNotebookCells", ReadAllCells, _read_all),
    Alias("insertCell", "addNotebookCell", InsertCellAt, _insert),
    Alias("updateCell", "updateNotebookCell", UpdateCellAt, _update),
    Alias("runCell", "runNotebookCells", ReadCell, _run),
    Alias("runAllCells", "runNotebookCells", RunAllCells, _run_all),
    Alias("deleteCells", "deleteNotebookCells", DeleteCellsAt, _delete),
    Alias("python_repl", "executeCode", PythonRepl, _repl),
]
