"""The document group: which document is active, and creating new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from ...notebook.dataflow.ipython_source import NotPython, parse_cell
from ...notebook.files.kinds import is_lexical
from ...notebook.lexical.blocks import DocumentBlock
from ...notebook.lexical.convert import document_markdown
from ...notebook.lexical.documents import AppliedBlocks
from ...notebook.lexical.editor_state import EditorState
from ...protocol.base import Wire
from ...protocol.cells import line_feeds
from ...protocol.fences import unfenced
from ...protocol.tools import Change
from ..context import ToolContext, ToolFailure
from ..gate import Gate
from ..registry import ToolOutcome, tool

# The changes of a Lexical document: as a whole, for the user, and by block.


def change_of(path: str, before: EditorState, after: EditorState) -> Change | None:
    """A document's change, as Markdown."""
    if before.text == after.text:
        return None
    return Change(
        path=path, op="update", before=document_markdown(before), after=document_markdown(after)
    )


def changes_by_block(applied: AppliedBlocks) -> list[Change]:
    """The blocks that a batch inserted, changed and deleted; outputs do not count as changes."""
    path = applied.after.path
    old, new = _blocks(applied.before.blocks.all), _blocks(applied.after.blocks.all)
    found: list[Change] = []
    for block_id, block in new.items():
        before = old.get(block_id)
        if before is None:
            found.append(Change(path=path, op="insert", cell_id=block_id, after=block.content))
        elif before.block.hash != block.block.hash:
            found.append(
                Change(
                    path=path,
                    op="update",
                    cell_id=block_id,
                    before=before.content,
                    after=block.content,
                )
            )
    gone = (block_id for block_id in old if block_id not in new)
    return [*found, *(Change(path=path, op="delete", cell_id=each) for each in gone)]


def _blocks(blocks: list[DocumentBlock]) -> dict[str, DocumentBlock]:
    return {each.id: each for each in blocks if not each.is_output}


# Parts of a source and their replacements, as the tools for cells and for blocks take them.


class Replacement(Wire):
    """One part of a source and its replacement."""

    old_string: str = Field(min_length=1)
    new_string: str
    replace_all: bool = False


def replaced(source: str, edits: Sequence[Replacement], where: str, output: dict[str, Any]) -> str:
    """The source with the replacements. Raises ``ToolFailure``, with ``output``, for a part that
    does not occur exactly once. The result has line feeds only, since models do not know the line
    ends."""
    source = line_feeds(source)
    for edit in edits:
        old, new = line_feeds(edit.old_string), line_feeds(edit.new_string)
        count = source.count(old)
        if count == 0:
            raise ToolFailure(
                "invalid_arguments",
                f"oldString {edit.old_string[:80]!r} does not occur in {where}.",
                "Copy it exactly, white space included, from the source in output.",
                output=output,
            )
        if count > 1 and not edit.replace_all:
            raise ToolFailure(
                "invalid_arguments",
                f"oldString {edit.old_string[:80]!r} occurs {count} times in {where}.",
                "Give more of the text around it, or replaceAll.",
            )
        source = source.replace(old, new)
    return source


def replaced_in_code(
    source: str,
    edits: Sequence[Replacement],
    where: str,
    output: dict[str, Any],
    language: str | None,
) -> str:
    """``replaced`` for a code cell in ``language`` (None if unknown): new parts lose the Markdown
    fence around them, unless it belongs to a text within the code."""
    given = replaced(source, edits, where, output)
    plain = [
        edit
        if unfenced(edit.old_string)[0] != edit.old_string
        else edit.model_copy(update={"new_string": unfenced(edit.new_string)[0]})
        for edit in edits
    ]
    if plain == list(edits):
        return given
    without = replaced(source, plain, where, output)
    if (language or "python").lower() not in ("python", "ipython"):
        return without
    return without if not _is_python(given) and _is_python(without) else given


def _is_python(source: str) -> bool:
    try:
        parse_cell(source)
    except (SyntaxError, NotPython):
        return False
    return True


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
    from ...notebook.lexical.convert import empty_document

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
