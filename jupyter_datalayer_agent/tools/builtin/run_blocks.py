"""Runs the code blocks of a Lexical document, and reports each one's real status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import ConfigDict, model_validator

from ...notebook.document import DocumentError
from ...notebook.lexical.blocks import DocumentBlock
from ...notebook.lexical.convert import blocks_as_cells
from ...notebook.lexical.documents import AppliedBlocks, OpenDocument
from ...protocol.base import Wire
from ...protocol.cells import CellRun
from ...protocol.tools import Change, CodePart
from ..code_to_run import CodeToRun
from ..context import ToolContext, ToolFailure
from ..limits import above_zero
from ..outputs import failure_code, first_line
from ..redaction import text
from ..registry import Image, ToolOutcome, tool
from .blocks_read import find_block, open_document, refuse_newer
from .documents import change_of
from .run_cells import duration, how_it_ended, run_view
from .run_hints import add_hints, hint_of, lost_cells


def _one_block(schema: dict[str, Any]) -> None:
    schema["properties"].pop("blockIds")
    schema["required"] = ["blockId"]


class RunBlock(Wire):
    """Arguments of ``runBlock``. ``block_ids``, several in this order, is accepted but not
    advertised."""

    model_config = ConfigDict(json_schema_extra=_one_block)

    path: str | None = None
    block_id: str | None = None
    block_ids: list[str] | None = None
    timeout_seconds: Annotated[float | None, above_zero(86_400)] = None

    @model_validator(mode="after")
    def _which(self) -> RunBlock:
        if bool(self.block_ids) == bool(self.block_id):
            raise ValueError("give the blockId of the block to run")
        return self


class RunAllBlocks(Wire):
    """Arguments of ``runAllBlocks``."""

    path: str | None = None
    stop_on_error: bool = True
    timeout_seconds: Annotated[float | None, above_zero(86_400)] = None


def _to_run(args: RunBlock | RunAllBlocks, document: OpenDocument) -> list[DocumentBlock]:
    """The blocks of a call. Raises ``ToolFailure`` where there is nothing to run."""
    if isinstance(args, RunBlock):
        ids = args.block_ids or [args.block_id or ""]
        found = [find_block(document, each) for each in dict.fromkeys(ids)]
        for block in found:
            if not block.runs:
                raise ToolFailure(
                    "invalid_arguments",
                    f"Block {block.index + 1} is of type {block.kind}: only jupyter-input blocks "
                    "run.",
                    "Change its type with updateBlock (type jupyter-input), then run it.",
                )
        return _checked(found, document)
    blocks = [each for each in document.blocks.all if each.runs]
    if not blocks:
        raise ToolFailure(
            "invalid_arguments",
            "The document has no code that runs.",
            "Insert blocks of type jupyter-input.",
        )
    return _checked(blocks, document)


def _checked(blocks: list[DocumentBlock], document: OpenDocument) -> list[DocumentBlock]:
    """The blocks, if they and their outputs have supported versions. Raises ``ToolFailure``."""
    for block in blocks:
        outputs = [document.blocks.state.blocks[index].node for index in block.outputs]
        refuse_newer(block, [block.node, *outputs], "Nothing was run.")
    return blocks


async def _code_of_run(args: RunBlock | RunAllBlocks, context: ToolContext) -> CodeToRun:
    document = await open_document(context, args.path)
    parts = tuple(
        CodePart(subject=f"Block {each.index + 1}", source=each.content, cell_id=each.id)
        for each in _to_run(args, document)
    )
    return CodeToRun(parts, document.path, notebook=blocks_as_cells(document))


@tool(
    RunBlock,
    group="lexical",
    label=("Run a block", "Running a block"),
    runs=True,
    changes=True,
    needs_lexical=True,
    code=_code_of_run,
)
async def run_block(args: RunBlock, context: ToolContext) -> ToolOutcome:
    """Run a jupyter-input block in the document's kernel."""
    return await _run(args, context, stop_on_error=True)


@tool(
    RunAllBlocks,
    group="lexical",
    label=("Run all blocks", "Running all blocks"),
    runs=True,
    changes=True,
    needs_lexical=True,
    code=_code_of_run,
)
async def run_all_blocks(args: RunAllBlocks, context: ToolContext) -> ToolOutcome:
    """Run all code of the document in order; stops at the first error."""
    return await _run(args, context, stop_on_error=args.stop_on_error)


async def _run(
    args: RunBlock | RunAllBlocks, context: ToolContext, *, stop_on_error: bool
) -> ToolOutcome:
    path = context.lexical_path(args.path)
    blocks = _to_run(args, await open_document(context, path))
    return await run_and_report(
        context, path, blocks, None, stop_on_error=stop_on_error, timeout=args.timeout_seconds
    )


async def run_and_report(
    context: ToolContext,
    path: str,
    blocks: Sequence[DocumentBlock],
    done: ToolOutcome | None,
    *,
    stop_on_error: bool = True,
    timeout: float | None = None,
) -> ToolOutcome:
    """Run blocks. Raises ``ToolFailure``, with all results, if one of them failed.

    ``done`` is the result so far (of the blocks that the call inserted or changed).
    """
    before = {each.id: each for each in blocks}
    changes = [] if done is None else list(done.changes)
    output: dict[str, Any] = {"path": path} if done is None else dict(done.output)

    async def progress(block: DocumentBlock) -> None:
        await context.status(f"Running block {block.index + 1}")

    async def written(applied: AppliedBlocks) -> None:
        change = change_of(path, applied.before.blocks.state, applied.after.blocks.state)
        if change is not None:
            changes.append(change)
            await context.changed(path, [change])

    try:
        runs = await context.notebooks.lexical.run(
            path,
            list(before),
            timeout=timeout or context.kernel_timeout_seconds,
            client_id=context.client_id,
            stop_on_error=stop_on_error,
            on_progress=progress,
            on_output=written,
        )
    except DocumentError as error:
        if error.code == "kernel_error":
            output["notRun"] = list(before)
        raise _not_begun(error, output, done) from error
    bad = next((run for run in runs if run.status not in ("ok", "skipped")), None)
    hint = None
    if bad is not None:
        again, hint = await lost_cells(context, path, bad)
        output |= again
        hint = hint or await hint_of(context, path, bad)
    images: list[Image] = []
    output["runs"] = [_view(run, images) for run in runs]
    if bad is not None and hint is not None:
        await add_hints(context, path, runs, output["runs"], bad, hint)
    return _reported(runs, bad, before, output, changes, images, done, hint)


def _view(run: CellRun, images: list[Image]) -> dict[str, Any]:
    number = (run.index or 0) + 1
    return run_view(run, images, f"block {number}", number, "block")


def _not_begun(
    error: DocumentError, output: dict[str, Any], done: ToolOutcome | None
) -> ToolFailure:
    if done is None:
        return ToolFailure(error.code, error.message, error.hint, output=output)
    return ToolFailure(
        error.code,
        f"{done.summary}, but it could not be run: {error.message}",
        error.hint,
        output=output,
        summary=f"{done.summary}; it could not be run",
        changes=done.changes,
        blocks=done.blocks,
    )


def _reported(
    runs: Sequence[CellRun],
    bad: CellRun | None,
    blocks: dict[str, DocumentBlock],
    output: dict[str, Any],
    changes: list[Change],
    images: list[Image],
    done: ToolOutcome | None,
    hint: str | None,
) -> ToolOutcome:
    written = [] if done is None else done.blocks
    more = "read the rest with readBlock"
    if bad is None:
        summary = _summary(runs)
        if done is not None:
            summary = f"{done.summary} · {summary[0].lower()}{summary[1:]}"
        return ToolOutcome(output, summary, changes, images, more, written)
    number = (bad.index or 0) + 1
    said, why = how_it_ended(bad)
    before = "" if done is None else f"{done.summary} · "
    raise ToolFailure(
        failure_code(bad),
        text(f"Block {number} (“{first_line(blocks[bad.cell_id].content)}”) {said}", why),
        hint,
        output=output,
        summary=text(f"{before}{'B' if done is None else 'b'}lock {number} {said}", why),
        changes=changes,
        blocks=written,
        images=images,
        more=more,
    )


def _summary(runs: Sequence[CellRun]) -> str:
    ran = [run for run in runs if run.status == "ok"]
    if not ran:
        return "Nothing to run: the blocks are empty"
    one = f"block {(ran[0].index or 0) + 1}"
    took = sum(run.duration_ms or 0 for run in ran)
    summary = f"Ran {one if len(ran) == 1 else f'{len(ran)} blocks'} · {duration(took)}"
    notes = dict.fromkeys(run.note for run in ran if run.note)
    return " · ".join([summary, *notes])


TOOLS = [run_block, run_all_blocks]
