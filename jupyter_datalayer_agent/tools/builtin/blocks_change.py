"""The Lexical group, changes: blocks are inserted, changed and deleted by id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import ConfigDict, Field, WithJsonSchema, model_validator

from ...notebook.lexical.block_types import KINDS, NotABlock, given_node, new_blocks, updated
from ...notebook.lexical.blocks import (
    BlockEdit,
    DeleteBlock,
    DocumentBlock,
    InsertBlocks,
    UpdateBlock,
    apply_edits,
)
from ...notebook.lexical.convert import blocks_as_cells
from ...notebook.lexical.documents import AppliedBlocks, OpenDocument
from ...notebook.lexical.editor_state import EditorState, Node
from ...notebook.lexical.nodes import runs, source_of
from ...protocol.base import Wire
from ...protocol.tools import Change, CodePart
from ..code_to_run import CodeToRun
from ..context import ToolContext, ToolFailure
from ..registry import ToolOutcome, tool
from .blocks_read import block_view, find_block, note_seen, open_document, refuse_newer
from .documents import Replacement, change_of, changes_by_block, replaced
from .notebook_change import Beside, Position
from .run_blocks import run_and_report

# Arguments of the tools that change blocks.


class NewBlock(Wire):
    """A block to insert: ``content`` of a ``type``, or the JSON of a Lexical ``node``. The context
    lists the types once, so that no schema has to."""

    type: str = "markdown"
    content: str | None = None
    level: int | None = None
    language: str | None = None
    node: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> NewBlock:
        if self.content is not None and self.node is not None:
            raise ValueError("give content or node, not both")
        if self.content is None and self.node is None and self.type != "horizontalrule":
            raise ValueError("give content (or the JSON of a node)")
        return self


def _without(*names: str) -> ConfigDict:
    """Accept arguments without advertising them: their tokens would be sent with each request.
    ``run`` and ``edits`` are named as in the tools for cells, which models know."""

    def drop(schema: dict[str, Any]) -> None:
        for name in names:
            schema["properties"].pop(name)

    return ConfigDict(json_schema_extra=drop)


class InsertBlock(NewBlock):
    """Arguments of ``insertBlock``."""

    model_config = _without("run")

    path: str | None = None
    index: int | None = None
    position: Position = "end"
    run: bool = False


class InsertBlocksArguments(Wire):
    """Arguments of ``insertBlocks``. The fields of a block are not repeated, since ``insertBlock``
    is in the same request."""

    model_config = _without("position", "run")

    path: str | None = None
    index: int | None = None
    position: Position = "end"
    run: bool = False
    blocks: list[Annotated[NewBlock, WithJsonSchema({"type": "object"})]] = Field(min_length=1)


class UpdateBlockArguments(Wire):
    """Arguments of ``updateBlock``; omitted fields stay as they are."""

    model_config = _without("edits", "run")

    path: str | None = None
    block_id: str
    content: str | None = None
    edits: list[Replacement] | None = None
    type: str | None = None
    level: int | None = None
    language: str | None = None
    node: dict[str, Any] | None = None
    run: bool = False

    @model_validator(mode="after")
    def _something(self) -> UpdateBlockArguments:
        if sum(each is not None for each in (self.content, self.edits, self.node)) > 1:
            raise ValueError("give content, edits or node (one of them)")
        given = (self.content, self.edits, self.node, self.type, self.level, self.language)
        if all(each is None for each in given):
            raise ValueError("give content, type or node: there is nothing to change")
        return self


class DeleteBlocks(Wire):
    """Arguments of ``deleteBlocks``."""

    path: str | None = None
    block_ids: list[str] = Field(min_length=1)


def _nodes(blocks: Sequence[NewBlock]) -> list[Node]:
    """The nodes to insert. Raises ``ToolFailure``, which names the block that is wrong."""
    found: list[Node] = []
    for index, each in enumerate(blocks):
        try:
            if each.node is not None:
                found.append(given_node(each.node))
                continue
            found += new_blocks(
                each.type, each.content or "", level=each.level, language=each.language
            )
        except NotABlock as error:
            place = f"blocks[{index}]: " if len(blocks) > 1 else ""
            raise ToolFailure(
                "invalid_arguments",
                f"{place}{error}; nothing was changed.",
                "listAvailableBlocks says what each type takes.",
            ) from error
    if not found:
        raise ToolFailure("invalid_arguments", "The content has no blocks; nothing was changed.")
    return found


def _place(args: InsertBlock | InsertBlocksArguments, document: OpenDocument, count: int) -> int:
    """The index before which new blocks go."""
    if args.index is not None:
        if not 0 <= args.index <= count:
            raise ToolFailure("not_found", f"Index {args.index} is past the end ({count} blocks).")
        return args.index
    if isinstance(args.position, Beside):
        if args.position.after is not None:
            return find_block(document, args.position.after).index + 1
        return find_block(document, args.position.before or "").index
    return 0 if args.position == "start" else count


def _insertion(
    args: InsertBlock | InsertBlocksArguments, new: Sequence[Node], document: OpenDocument
) -> list[BlockEdit]:
    """The edits that insert blocks; in an empty document they replace its one empty paragraph."""
    blocks = document.blocks.all
    edits: list[BlockEdit] = [InsertBlocks(_place(args, document, len(blocks)), new)]
    if len(blocks) == 1 and blocks[0].kind == "paragraph" and not blocks[0].node.get("children"):
        edits.append(DeleteBlock(blocks[0].id, blocks[0].block.hash))
    return edits


async def _document(
    args: InsertBlock | InsertBlocksArguments | UpdateBlockArguments | DeleteBlocks,
    context: ToolContext,
) -> str:
    return context.lexical_path(args.path)


async def _applied(context: ToolContext, applied: AppliedBlocks) -> list[Change]:
    """Report a batch that was read back."""
    path = applied.after.path
    change = change_of(path, applied.before.blocks.state, applied.after.blocks.state)
    if change is None:
        return []
    await context.changed(path, [change])
    return [change]


async def _inserted(
    args: InsertBlock | InsertBlocksArguments, new: Sequence[Node], context: ToolContext
) -> ToolOutcome:
    path = context.lexical_path(args.path)
    applied = await context.notebooks.lexical.edit(
        path, lambda document: _insertion(args, new, document), context.client_id
    )
    changes = await _applied(context, applied)
    for each in applied.added:
        note_seen(context, path, each)
    output = {
        "path": path,
        "blocks": [{"id": e.id, "index": e.index, "type": e.kind} for e in applied.added],
    }
    first = applied.added[0].index + 1 if applied.added else 0
    count = len(applied.added)
    what = f"Inserted block {first}" if count == 1 else f"Inserted {count} blocks"
    done = ToolOutcome(output, what, changes=changes, blocks=changes_by_block(applied))
    code = [each for each in applied.added if each.runs]
    return await run_and_report(context, path, code, done) if args.run and code else done


async def _code_of_new(
    args: InsertBlock | InsertBlocksArguments, context: ToolContext
) -> CodeToRun | None:
    if not args.run:
        return None
    document = await open_document(context, args.path)
    parts = tuple(
        CodePart(subject="The new block", source=source_of(each))
        for each in _nodes(_given(args))
        if runs(each)
    )
    return CodeToRun(parts, document.path, notebook=blocks_as_cells(document))


def _given(args: InsertBlock | InsertBlocksArguments) -> Sequence[NewBlock]:
    return args.blocks if isinstance(args, InsertBlocksArguments) else [args]


async def _preview_insert(
    args: InsertBlock | InsertBlocksArguments, context: ToolContext
) -> list[Change]:
    new = _nodes(_given(args))
    document = await open_document(context, args.path)
    return _preview(document, _insertion(args, new, document))


def _preview(document: OpenDocument, edits: Sequence[BlockEdit]) -> list[Change]:
    after = EditorState.parse(apply_edits(document.blocks, edits).text)
    change = change_of(document.path, document.blocks.state, after)
    return [] if change is None else [change]


@tool(
    InsertBlock,
    group="lexical",
    label=("Insert a block", "Inserting a block"),
    changes=True,
    writes=_document,
    needs_lexical=True,
    code=_code_of_new,
    preview=_preview_insert,
)
async def insert_block(args: InsertBlock, context: ToolContext) -> ToolOutcome:
    """Insert into the Lexical document, by default at the end: Markdown (type markdown, several
    blocks at once), a block of another type (jupyter-input: code that runs), or a Lexical node."""
    return await _inserted(args, _nodes([args]), context)


@tool(
    InsertBlocksArguments,
    group="lexical",
    label=("Insert blocks", "Inserting blocks"),
    changes=True,
    writes=_document,
    needs_lexical=True,
    code=_code_of_new,
    preview=_preview_insert,
)
async def insert_blocks(args: InsertBlocksArguments, context: ToolContext) -> ToolOutcome:
    """Insert several blocks, all or none; each as in insertBlock."""
    return await _inserted(args, _nodes(args.blocks), context)


def _fresh(
    context: ToolContext, document: OpenDocument, block_id: str, *, whole: bool = False
) -> DocumentBlock:
    """Return the block if it may be changed; ``whole``: its text is replaced by a new one.
    Raises ``ToolFailure`` ``stale``."""
    block = find_block(document, block_id)
    if context.may_change(document.path, block.id, block.block.hash, whole=whole):
        return block
    assert context.seen is not None
    base = context.seen.base(document.path, block.id)
    note_seen(context, document.path, block)
    state = (
        "has not been read in this conversation"
        if base is None
        else "was changed since it was last read"
    )
    raise ToolFailure(
        "stale",
        f"Block {block.index + 1} ({block.id}) {state}; nothing was changed.",
        "It is in output as it is now. Base the change on it, keep what the user wrote, and call "
        "again.",
        output={"path": document.path, **block_view(document.blocks, block)},
        summary=f"Block {block.index + 1} changed in the meantime; read it again",
    )


def _update(
    args: UpdateBlockArguments, context: ToolContext, document: OpenDocument
) -> list[BlockEdit]:
    whole = args.content is not None or args.node is not None
    block = _fresh(context, document, args.block_id, whole=whole)
    old = block.node
    if args.node is not None:
        (new,) = _nodes([NewBlock.model_validate({"node": args.node})])
        return [UpdateBlock(block.id, block.block.hash, new)]
    refuse_newer(block, [old], "Nothing was changed.")
    content = args.content
    if args.edits is not None:
        output = {"path": document.path, **block_view(document.blocks, block)}
        content = replaced(block.content, args.edits, f"block {block.id}", output)
    kind = args.type or block.kind
    language = args.language or old.get("language")
    others = (args.type, args.level, args.language)
    if content == block.content and others == (None, None, None):
        return []
    given = NewBlock.model_validate(
        {
            "type": kind if args.type or kind in KINDS else "markdown",
            "content": block.content if content is None else content,
            "level": args.level or _level(old, content),
            "language": language if isinstance(language, str) else None,
        }
    )
    found = _nodes([given])
    first, *rest = found
    if rest and args.type != "markdown":
        raise ToolFailure(
            "invalid_arguments",
            f"The content makes {len(found)} blocks but replaces one; nothing was changed.",
            "Give the content of one block, or type markdown to replace it by all of them.",
        )
    edits: list[BlockEdit] = [UpdateBlock(block.id, block.block.hash, updated(old, first))]
    return [*edits, InsertBlocks(block.index + 1, rest)] if rest else edits


def _level(old: Node, content: str | None) -> int | None:
    """The level of a heading, which stays unless its new text has # marks."""
    tag = str(old.get("tag", ""))
    marked = (content or "").lstrip().startswith("#")
    return int(tag[1:]) if not marked and len(tag) == 2 and tag[1:].isdigit() else None


async def _code_of_update(args: UpdateBlockArguments, context: ToolContext) -> CodeToRun | None:
    if not args.run:
        return None
    document = await open_document(context, args.path)
    edits = _update(args, context, document)
    new = [each.node for each in edits if isinstance(each, UpdateBlock)]
    block = find_block(document, args.block_id)
    parts = tuple(
        CodePart(subject="The changed block", source=source_of(each), cell_id=block.id)
        for each in new or [block.node]
        if runs(each)
    )
    besides = frozenset([block.id])
    return CodeToRun(parts, document.path, notebook=blocks_as_cells(document), besides=besides)


async def _preview_update(args: UpdateBlockArguments, context: ToolContext) -> list[Change]:
    document = await open_document(context, args.path)
    return _preview(document, _update(args, context, document))


@tool(
    UpdateBlockArguments,
    group="lexical",
    label=("Change a block", "Changing a block"),
    changes=True,
    writes=_document,
    needs_lexical=True,
    code=_code_of_update,
    preview=_preview_update,
)
async def update_block(args: UpdateBlockArguments, context: ToolContext) -> ToolOutcome:
    """Change a block in place: its whole content, its type, or its node."""
    path = context.lexical_path(args.path)
    applied = await context.notebooks.lexical.edit(
        path, lambda document: _update(args, context, document), context.client_id
    )
    found = find_block(applied.before, args.block_id)
    block = find_block(applied.after, found.id)
    is_known = context.knows(path, found.id, found.block.hash)
    note_seen(context, path, block)
    changes = await _applied(context, applied)
    output = {"path": path, "id": block.id, "index": block.index, "type": block.kind}
    if not is_known:
        output |= {"changedByUser": True, "content": block.content}
    if changes:
        said = f"Changed block {block.index + 1}"
        done = ToolOutcome(output, said, changes=changes, blocks=changes_by_block(applied))
    else:
        said = f"Block {block.index + 1} is already as requested; nothing was changed"
        done = ToolOutcome({**output, "unchanged": True}, said)
    return await run_and_report(context, path, [block], done) if args.run else done


def _deletion(args: DeleteBlocks, context: ToolContext, document: OpenDocument) -> list[BlockEdit]:
    blocks = [_fresh(context, document, each) for each in dict.fromkeys(args.block_ids)]
    return [DeleteBlock(each.id, each.block.hash) for each in blocks]


async def _loss(args: DeleteBlocks, context: ToolContext) -> str | None:
    count = len(set(args.block_ids))
    return f"Deletes {count} block{'' if count == 1 else 's'}"


async def _preview_delete(args: DeleteBlocks, context: ToolContext) -> list[Change]:
    document = await open_document(context, args.path)
    return _preview(document, _deletion(args, context, document))


@tool(
    DeleteBlocks,
    group="lexical",
    label=("Remove blocks", "Removing blocks"),
    changes=True,
    writes=_document,
    needs_lexical=True,
    destructive=_loss,
    preview=_preview_delete,
)
async def delete_blocks(args: DeleteBlocks, context: ToolContext) -> ToolOutcome:
    """Delete blocks, code with its outputs; all or none."""
    path = context.lexical_path(args.path)
    applied = await context.notebooks.lexical.edit(
        path, lambda document: _deletion(args, context, document), context.client_id
    )
    changes = await _applied(context, applied)
    ids = list(dict.fromkeys(args.block_ids))
    numbers = ", ".join(str(find_block(applied.before, each).index + 1) for each in ids)
    return ToolOutcome(
        {"path": path, "deleted": ids},
        f"Deleted block{'' if len(ids) == 1 else 's'} {numbers}",
        changes=changes,
        blocks=changes_by_block(applied),
    )


TOOLS = [insert_block, insert_blocks, update_block, delete_blocks]
