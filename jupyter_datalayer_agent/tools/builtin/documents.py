"""The document group: which document is active, and creating new ones."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ...notebook.files.kinds import is_lexical
from ...protocol.base import Wire
from ...protocol.tools import Change
from ..context import ToolContext
from ..gate import Gate
from ..registry import ToolOutcome, tool


class NoArguments(Wire):
    """A tool without arguments."""


class CreateNotebook(Wire):
    """Arguments of ``createNotebook``; ``name`` is a path under the server root."""

    name: str = Field(min_length=1)
    kernel_name: str | None = None


class CreateLexical(Wire):
    """Arguments of ``createLexical``; ``name`` is a path under the server root."""

    name: str = Field(min_length=1)


@tool(
    NoArguments,
    group="document",
    label=("Look at the active document", "Looking at the active document"),
    parallel=True,
)
async def get_active_document(args: NoArguments, context: ToolContext) -> ToolOutcome:
    """The active document, and whether notebook mode is on."""
    gate = context.gate
    active = context.active_document
    output: dict[str, Any] = {
        "path": active.path if active else gate.active or gate.lexical_active,
        "kind": active.kind if active else _kind(gate),
        "notebookMode": gate.notebook_mode,
        "targetNotebook": gate.target,
    }
    if gate.lexical_targets:
        output["targetDocument"] = gate.lexical_targets[0]
    if gate.why_off():
        output["reason"] = gate.why_off()
    return ToolOutcome(output, "Looked at the active document")


def _kind(gate: Gate) -> str | None:
    if gate.active:
        return "notebook"
    return "lexical" if gate.lexical_active else None


async def _new_notebook(args: CreateNotebook, context: ToolContext) -> str:
    return args.name if args.name.endswith(".ipynb") else f"{args.name}.ipynb"


@tool(
    CreateNotebook,
    group="document",
    label=("Create a notebook", "Creating a notebook"),
    changes=True,
    writes=_new_notebook,
    basic=True,
)
async def create_notebook(args: CreateNotebook, context: ToolContext) -> ToolOutcome:
    """Create an empty notebook for the notebook tools."""
    path = await context.notebooks.create(await _new_notebook(args, context), args.kernel_name)
    if path not in context.gate.created:
        context.gate.created.append(path)
    await context.notebooks.show(path, context.client_id)
    return await _created(path, "", context)


async def _new_lexical(args: CreateLexical, context: ToolContext) -> str:
    return args.name if is_lexical(args.name) else f"{args.name}.dlex"


@tool(
    CreateLexical,
    group="document",
    label=("Create a Lexical document", "Creating a Lexical document"),
    changes=True,
    writes=_new_lexical,
)
async def create_lexical(args: CreateLexical, context: ToolContext) -> ToolOutcome:
    """Create an empty Lexical document."""
    from ...notebook.lexical.new_document import empty_document

    text = empty_document()
    path = await context.notebooks.create_file(await _new_lexical(args, context), text)
    if path not in context.gate.created:
        context.gate.created.append(path)
    await context.notebooks.show(path, context.client_id)
    return await _created(path, text, context)


async def _created(path: str, text: str, context: ToolContext) -> ToolOutcome:
    changes = [Change(path=path, op="create", after=text)]
    await context.changed(path, changes)
    return ToolOutcome({"path": path}, f"Created {path}", changes=changes)


TOOLS = [get_active_document, create_notebook, create_lexical]
