"""Runs cells, and reports each one's real status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import model_validator

from ...notebook.dataflow.dependencies import dependents, has_run
from ...notebook.document import DocumentError
from ...protocol.base import Wire
from ...protocol.cells import CellRun, PageCell, PageNotebook
from ...protocol.tools import CodePart
from ..code_to_run import CodeToRun
from ..context import ToolContext, ToolFailure
from ..limits import above_zero
from ..outputs import failure_code, failure_text, first_line, render_outputs
from ..redaction import PrivateText, text
from ..registry import Image, ToolOutcome, tool
from .notebook_read import missing_cells
from .run_hints import add_hints, hint_of, lost_cells, read_before, stale_now


class RunNotebookCells(Wire):
    """Arguments of ``runNotebookCells``: ``cell_ids`` in notebook order, or ``all``.

    ``include_dependents``: also the cells below that follow from them.
    """

    path: str | None = None
    cell_ids: list[str] | None = None
    all: bool = False
    include_dependents: bool = False
    stop_on_error: bool = True
    timeout_seconds: Annotated[float | None, above_zero(86_400)] = None

    @model_validator(mode="after")
    def _which(self) -> RunNotebookCells:
        if bool(self.cell_ids) == self.all:
            raise ValueError("give cellIds, or all: true")
        return self


async def _cells_of(
    args: RunNotebookCells, context: ToolContext
) -> tuple[PageNotebook, list[PageCell]]:
    """The notebook, and its cells to run."""
    notebook = await context.notebook(args.path)
    if args.all:
        return notebook, notebook.cells
    if failure := missing_cells(notebook, args.cell_ids or []):
        raise failure
    wanted = set(map(notebook.now, args.cell_ids or []))
    if args.include_dependents:
        wanted |= _dependents(notebook, wanted)
    return notebook, [cell for cell in notebook.cells if cell.id in wanted]


def _dependents(notebook: PageNotebook, changed: set[str]) -> set[str]:
    """The dependents that have run before, and so show outdated outputs; all dependents if none has
    run."""
    language = notebook.kernel_language or "python"
    following = set(dependents(notebook.cells, changed, language))
    ran = {cell.id for cell in notebook.cells if cell.id in following and has_run(cell)}
    return ran or following


async def _code_of_run(args: RunNotebookCells, context: ToolContext) -> CodeToRun:
    notebook, cells = await _cells_of(args, context)
    parts = tuple(
        CodePart(subject=f"Cell {cell.index + 1}", source=cell.source, cell_id=cell.id)
        for cell in cells
        if cell.type == "code" and cell.source.strip()
    )
    # The cells define names for each other, so all of them are examined.
    return CodeToRun(parts, notebook.path, notebook=notebook)


@tool(
    RunNotebookCells,
    group="notebook",
    label=("Run cells", "Running cells"),
    runs=True,
    changes=True,
    needs_notebook=True,
    code=_code_of_run,
    basic=True,
)
async def run_notebook_cells(args: RunNotebookCells, context: ToolContext) -> ToolOutcome:
    """Run cells in notebook order, up to the first error. includeDependents: also staleCells that
    follow."""
    _, cells = await _cells_of(args, context)
    if not cells:
        raise ToolFailure("invalid_arguments", "The notebook has no cells to run.")
    return await run_and_report(
        context,
        args.path,
        cells,
        None,
        stop_on_error=args.stop_on_error,
        timeout=args.timeout_seconds,
    )


async def run_and_report(
    context: ToolContext,
    path: str | None,
    cells: Sequence[PageCell],
    done: ToolOutcome | None,
    *,
    stop_on_error: bool = True,
    timeout: float | None = None,
) -> ToolOutcome:
    """Run the cells. Raises ``ToolFailure``, with all results, if one of them failed.

    ``done`` is the result so far (of the cell that the call added or changed).
    """
    path = context.path(path)
    await read_before(context, path)
    document = await context.document(path)
    numbers = {cell.id: cell.index + 1 for cell in cells}

    async def progress(cell_id: str, state: str) -> None:
        number = numbers.get(cell_id, "")
        if state == "started":
            await context.status(f"Running cell {number}")
        elif state == "waiting_for_input":
            await context.status(f"Cell {number} is waiting for your input")

    try:
        runs = await document.run(
            [cell.id for cell in cells],
            stop_on_error=stop_on_error,
            timeout=timeout or context.kernel_timeout_seconds,
            on_progress=progress,
        )
    except DocumentError as error:
        raise _not_begun(error, cells, done) from error
    images: list[Image] = []
    views = [
        run_view(run, images, f"cell {numbers.get(run.cell_id, '')}", numbers.get(run.cell_id))
        for run in runs
    ]
    output: dict[str, Any] = {"runs": views}
    if done is not None:
        output = {**done.output, **(views[0] if len(views) == 1 else output)}
    output |= await stale_now(context, path)
    changes = done.changes if done is not None else []
    more = "read the rest with getCellOutputs (cellId, offset)"
    bad = next((run for run in runs if run.status not in ("ok", "skipped")), None)
    if bad is None:
        summary = _summary(runs, numbers)
        if done is not None:
            summary = f"{done.summary} · {summary[0].lower()}{summary[1:]}"
        return ToolOutcome(output, summary, changes=changes, images=images, more=more)
    again, hint = await lost_cells(context, path, bad)
    output |= again
    hint = hint or await hint_of(context, path, bad)
    await add_hints(context, path, runs, views, bad, hint)
    raise _failure(bad, numbers, cells, output, changes, images, more, done, hint)


def _not_begun(
    error: DocumentError, cells: Sequence[PageCell], done: ToolOutcome | None
) -> ToolFailure:
    """The failure of a run that could not start; ``notRun`` in its output lists the cells that need
    a kernel."""
    waiting = [cell.id for cell in cells if cell.type == "code" and cell.source.strip()]
    output = {"notRun": waiting} if error.code == "kernel_error" and waiting else {}
    if done is None:
        return ToolFailure(error.code, error.message, error.hint, output=output or None)
    return ToolFailure(
        error.code,
        f"{done.summary}, but it could not be run: {error.message}",
        error.hint,
        output={**done.output, **output},
        summary=f"{done.summary}; it could not be run",
        changes=done.changes,
    )


def run_view(
    run: CellRun,
    images: list[Image],
    of: str,
    number: int | None,
    part: Literal["cell", "block"] = "cell",
) -> dict[str, Any]:
    """How a cell (or a block) ended, for the model. Pictures are added to ``images``, named after
    what they are ``of`` ("cell 4"). ``number`` counts from 1, as users see it."""
    shown, found = render_outputs(run.outputs, f"{of}'s output")
    images.extend(found)
    view: dict[str, Any] = {"cellId" if part == "cell" else "id": run.cell_id}
    if number is not None:
        view[part] = number
    view["status"] = run.status
    if run.execution_count is not None:
        view["executionOrder"] = run.execution_count
    if run.duration_ms is not None:
        view["durationMs"] = round(run.duration_ms)
    if shown:
        view["outputs"] = shown
    if run.error is not None:
        view["error"] = failure_text(run.error.ename, run.error.evalue)
    if run.note:
        view["note"] = run.note
    return view


def how_it_ended(bad: CellRun) -> tuple[str, PrivateText]:
    """How the failed run of a cell (or block) ended, and why: (``failed``, ``: KeyError``)."""
    reason = failure_text(bad.error.ename, bad.error.evalue) if bad.error else text(bad.note or "")
    if bad.kernel_died:
        return "did not finish", text(". ", reason)
    what = {
        "error": "failed",
        "timeout": "timed out and was interrupted",
        "aborted": "was stopped",
    }.get(bad.status, bad.status)
    return what, text(": ", reason) if reason else text(".")


def duration(milliseconds: float) -> str:
    """A time for a user: ms below a second, else seconds with one decimal."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds / 1000:.1f} s"


def _summary(runs: Sequence[CellRun], numbers: dict[str, int]) -> str:
    ran = [run for run in runs if run.status == "ok"]
    if not ran:
        return "Nothing to run: the cells are not code, or empty"
    one = f"cell {numbers.get(ran[0].cell_id, '')}"
    summary = f"Ran {one if len(ran) == 1 else f'{len(ran)} cells'}"
    times = [run.duration_ms for run in ran if run.duration_ms is not None]
    if len(times) == len(ran):
        summary += f" · {duration(sum(times))}"
    # A successful run may have notes (missing or unsaved outputs).
    notes = dict.fromkeys(run.note for run in ran if run.note)
    return " · ".join([summary, *notes])


def _failure(
    bad: CellRun,
    numbers: dict[str, int],
    cells: Sequence[PageCell],
    output: dict[str, Any],
    changes: list[Any],
    images: list[Image],
    more: str,
    done: ToolOutcome | None,
    hint: str,
) -> ToolFailure:
    number = numbers.get(bad.cell_id)
    cell = next((each for each in cells if each.id == bad.cell_id), None)
    what, why = how_it_ended(bad)
    message = text(f"Cell {number} {what}", why)
    name = f" (“{first_line(cell.source)}”)" if cell is not None else ""
    summary = message
    if done is not None:
        summary = text(done.summary, f" · cell {number} {what}", why)
    return ToolFailure(
        failure_code(bad),
        text(f"Cell {number}{name} {what}", why),
        hint,
        output=output,
        summary=summary,
        changes=changes,
        images=images,
        more=more,
    )


TOOLS = [run_notebook_cells]
