"""The kernel group: lists and selects kernels, and runs code without a cell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import Field, model_validator

from ...notebook.files.kinds import is_lexical
from ...notebook.lexical.convert import blocks_as_cells
from ...protocol.base import Wire
from ...protocol.cells import CellRun
from ...protocol.fences import names_python, plain_code, unfenced
from ...protocol.tools import CodePart
from ..code_to_run import CodeToRun
from ..context import ToolContext, ToolFailure
from ..outputs import failure_code, render_outputs
from ..redaction import text
from ..registry import ToolOutcome, tool
from .documents import NoArguments
from .run_cells import duration, how_it_ended
from .run_hints import hint_of, lost_cells


class SelectKernel(Wire):
    """Arguments of ``selectKernel``: a running kernel, or the name of one to start."""

    kernel_id: str | None = None
    kernel_name: str | None = None
    path: str | None = None

    @model_validator(mode="after")
    def _one(self) -> SelectKernel:
        if (self.kernel_id is None) == (self.kernel_name is None):
            raise ValueError("give kernelId (a running kernel) or kernelName (to start one)")
        return self


class ExecuteCode(Wire):
    """Arguments of ``executeCode``."""

    code: str = Field(min_length=1)
    path: str | None = None
    kernel_id: str | None = None


@tool(
    NoArguments,
    group="kernel",
    label=("List kernels", "Listing kernels"),
    parallel=True,
    basic=True,
)
async def list_kernels(args: NoArguments, context: ToolContext) -> ToolOutcome:
    """List running kernels with their notebooks, and kernels to start."""
    running = await context.notebooks.kernels()
    specs = await context.notebooks.kernel_specs()
    return ToolOutcome(
        {"running": running, "available": specs},
        f"Listed kernels: {len(running)} running",
    )


async def _replaces(args: SelectKernel, context: ToolContext) -> str | None:
    path = context.path_with_kernel(args.path)
    current = await context.notebooks.kernel_of(path)
    if current is None or current.get("id") == args.kernel_id:
        return None
    return f"Replaces the running kernel of {path}; its variables will be lost"


@tool(
    SelectKernel,
    group="kernel",
    label=("Connect another kernel", "Connecting the kernel"),
    changes=True,
    destructive=_replaces,
    basic=True,
)
async def select_kernel(args: SelectKernel, context: ToolContext) -> ToolOutcome:
    """Connect the notebook to a running kernel (kernelId) or start one (kernelName)."""
    path = context.path_with_kernel(args.path)
    kernel = await context.notebooks.select_kernel(
        path, kernel_id=args.kernel_id, kernel_name=args.kernel_name, client_id=context.client_id
    )
    return ToolOutcome({"kernel": kernel, "path": path}, f"Selected kernel {kernel['name']}")


async def _code_of(args: ExecuteCode, context: ToolContext) -> CodeToRun:
    path, kernel_id = await _where(args, context)
    source = await _source(args, path, kernel_id, context)
    code = CodeToRun((CodePart(subject="The code", source=source),), path, kernel_id)
    if path is None and kernel_id is not None:
        path = await context.notebooks.path_of_kernel(kernel_id)
        code = replace(code, path=path)
    if path is not None and is_lexical(path):
        document = await context.notebooks.lexical.read(path, context.client_id)
        code = replace(code, notebook=blocks_as_cells(document))
    return code


async def _where(args: ExecuteCode, context: ToolContext) -> tuple[str | None, str | None]:
    """The path and kernel id of a call, checked by the gate: kernels of other notebooks are
    refused. Without either, the code runs in the conversation's scratch kernel."""
    if args.kernel_id is not None:
        owner = await context.notebooks.path_of_kernel(args.kernel_id)
        if owner is not None:
            context.path_with_kernel(owner)
        return None, args.kernel_id
    gate = context.gate
    if args.path is not None or gate.target is not None or gate.lexical_targets:
        return context.path_with_kernel(args.path), None
    return None, None


async def _source(
    args: ExecuteCode, path: str | None, kernel_id: str | None, context: ToolContext
) -> str:
    """The code to run. A first line ``python`` is dropped only for a Python kernel: in a shell's
    kernel, it is a command that starts Python."""
    language: str | None = None
    if not names_python(unfenced(args.code)[0]):
        return plain_code(args.code)
    if kernel_id is not None:
        kernels = await context.notebooks.kernels()
        language = next((each["language"] for each in kernels if each["id"] == kernel_id), None)
    elif path is not None and is_lexical(path):
        language = (await context.notebooks.lexical.read(path, context.client_id)).language
    elif path is not None:
        language = (await context.notebook(path)).kernel_language
    return plain_code(args.code, language)


@tool(
    ExecuteCode,
    group="kernel",
    label=("Run code in the kernel", "Running code"),
    runs=True,
    changes=True,
    code=_code_of,
)
async def execute_code(args: ExecuteCode, context: ToolContext) -> ToolOutcome:
    """Run code in the notebook's kernel (else a scratch kernel), without adding a cell."""
    path, kernel_id = await _where(args, context)
    source = await _source(args, path, kernel_id, context)
    await context.status("Running code")
    key = context.notebooks.scratch.key_of(kernel_id) if kernel_id is not None else None
    if key is not None or (path is None and kernel_id is None):
        return await _in_scratch(source, key or context.session_id or "api", context)
    run = await context.notebooks.execute_code(
        source, path=path, kernel_id=kernel_id, timeout=context.kernel_timeout_seconds
    )
    if run.status == "ok":
        return _reported(run, {})
    if not run.kernel_died:
        return _reported(run, {}, await hint_of(context, path, run, source))
    if path is None and kernel_id is not None:
        path = await context.notebooks.path_of_kernel(kernel_id)
    again, hint = await lost_cells(context, path, run)
    return _reported(run, again, hint)


async def _in_scratch(code: str, key: str, context: ToolContext) -> ToolOutcome:
    """Run it in the scratch kernel; if a limit is exceeded, the failure's message says which."""
    done = await context.notebooks.scratch.run(key, code)
    more = {"note": done.note} if done.note else {}
    if done.passed is None:
        return _reported(done.run, more)
    shown, images = render_outputs(done.run.outputs)
    raise ToolFailure(
        "timeout" if done.passed.limit == "time" else "kernel_error",
        done.passed.message,
        done.passed.hint,
        output={"status": done.run.status, "outputs": shown, **more},
        summary=done.passed.what,
        images=images,
    )


def _reported(run: CellRun, more: dict[str, Any], hint: str | None = None) -> ToolOutcome:
    shown, images = render_outputs(run.outputs)
    output = {"status": run.status, "outputs": shown, **more}
    less = "print less: a summary, head() or a slice"
    if run.status == "ok":
        took = duration(run.duration_ms or 0)
        return ToolOutcome(output, f"Ran code · {took}", images=images, more=less)
    what, why = how_it_ended(run)
    raise ToolFailure(
        failure_code(run),
        text(f"The code {what}", why),
        hint,
        output=output,
        summary=text(f"Code {what}", why),
        images=images,
        more=less,
    )


TOOLS = [list_kernels, select_kernel, execute_code]
