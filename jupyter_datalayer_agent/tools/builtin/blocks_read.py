"""The Lexical group, reads: blocks and block types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ...notebook.lexical.block_types import BLOCK_TYPES
from ...notebook.lexical.blocks import Blocks, DocumentBlock
from ...notebook.lexical.documents import OpenDocument
from ...notebook.lexical.editor_state import Node
from ...notebook.lexical.nodes import VERSION, newer_node
from ...protocol.base import Wire
from ..context import ToolContext, ToolFailure
from ..outputs import first_line, render_outputs
from ..registry import Image, ToolOutcome, tool


class ReadBlock(Wire):
    """Arguments of ``readBlock``."""

    path: str | None = None
    block_id: str


class ReadAllBlocks(Wire):
    """Arguments of ``readAllBlocks``. Bounds are not in the schema, whose tokens are sent with each
    request: a number out of bounds is clamped."""

    path: str | None = None
    format: Literal["detailed", "brief"] = "detailed"
    start: int | None = None
    limit: int | None = None


class ListAvailableBlocks(Wire):
    """Arguments of ``listAvailableBlocks``: none but the document's path."""

    path: str | None = None


async def open_document(context: ToolContext, path: str | None) -> OpenDocument:
    """The document of a call, checked by the gate."""
    return await context.notebooks.lexical.read(context.lexical_path(path), context.client_id)


def block_view(
    document: Blocks, block: DocumentBlock, images: list[Image] | None = None
) -> dict[str, Any]:
    """A block as the model reads it; outputs of code as text where ``images`` takes pictures."""
    view: dict[str, Any] = {"id": block.id, "index": block.index, "type": block.kind}
    language = block.node.get("language")
    if isinstance(language, str) and language:
        view["language"] = language
    view["content"] = block.content
    if block.runs:
        view["hasOutput"] = bool(block.outputs)
        if images is not None and block.outputs:
            outputs = document.outputs_of(block)
            view["outputs"], found = render_outputs(outputs, f"block {block.index + 1}'s output")
            images.extend(found)
    return view


def note_seen(context: ToolContext, path: str, block: DocumentBlock) -> None:
    """Record that the model is shown this block."""
    if context.seen is not None:
        context.seen.note_hash(path, block.id, block.block.hash)


def find_block(document: OpenDocument, block_id: str) -> DocumentBlock:
    """Find a block by its id; code also by its node's own id, which the page uses. Raises
    ``ToolFailure``, which lists the ids that exist."""
    for each in document.blocks.all:
        if each.id == block_id or (each.runs and each.uuid == block_id):
            return each
    raise ToolFailure(
        "not_found",
        f"No block with id {block_id} in {document.path}.",
        "Read the blocks again with readAllBlocks; ids in the document: "
        + ", ".join(document.blocks.ids[:50]),
    )


def refuse_newer(block: DocumentBlock, nodes: Sequence[Node], what: str) -> None:
    """Raise ``ToolFailure`` if a node of the block has a newer version than is supported."""
    newer = next(filter(None, map(newer_node, nodes)), None)
    if newer is not None:
        raise ToolFailure(
            "invalid_arguments",
            f"Block {block.index + 1} has {newer}; version {VERSION} is supported. {what}",
            "Ask the user to change it in the editor that made the document.",
        )


@tool(
    ReadBlock,
    group="lexical",
    label=("Read a block", "Reading a block"),
    needs_lexical=True,
    parallel=True,
)
async def read_block(args: ReadBlock, context: ToolContext) -> ToolOutcome:
    """Read a block as Markdown (code as it is) and as the JSON of its node, with its outputs."""
    document = await open_document(context, args.path)
    block = find_block(document, args.block_id)
    note_seen(context, document.path, block)
    images: list[Image] = []
    output = {"path": document.path, **block_view(document.blocks, block, images)}
    if not block.is_output:
        output["node"] = block.node
    else:
        outputs = block.node.get("outputs")
        output["content"], found = render_outputs(
            outputs if isinstance(outputs, list) else [], f"block {block.index + 1}"
        )
        images.extend(found)
    return ToolOutcome(output, f"Read block {block.index + 1}", images=images)


@tool(
    ReadAllBlocks,
    group="lexical",
    label=("Read blocks", "Reading blocks"),
    needs_lexical=True,
    parallel=True,
)
async def read_all_blocks(args: ReadAllBlocks, context: ToolContext) -> ToolOutcome:
    """Read the document's blocks, or limit of them from index start. brief: a line for each."""
    document = await open_document(context, args.path)
    blocks = [each for each in document.blocks.all if not each.is_output]
    start = max(args.start or 0, 0)
    shown = [each for each in blocks if each.index >= start][: _limit(args)]
    images: list[Image] = []
    views = []
    for each in shown:
        if args.format == "brief":
            view = {"id": each.id, "index": each.index, "type": each.kind}
            views.append({**view, "content": first_line(each.content)})
        else:
            note_seen(context, document.path, each)
            views.append(block_view(document.blocks, each, images))
    output = {
        "path": document.path,
        "blockCount": len(blocks),
        "kernel": document.kernel["name"] if document.kernel else None,
        "blocks": views,
    }
    return ToolOutcome(
        output,
        f"Read {len(shown)} block{'' if len(shown) == 1 else 's'}",
        images=images,
        more="read fewer blocks at a time by start and limit, or one with readBlock",
    )


def _limit(args: ReadAllBlocks) -> int | None:
    return None if args.limit is None else max(args.limit, 1)


@tool(
    ListAvailableBlocks,
    group="lexical",
    label=("List the types of blocks", "Listing the types of blocks"),
    needs_lexical=True,
    parallel=True,
)
async def list_available_blocks(args: ListAvailableBlocks, context: ToolContext) -> ToolOutcome:
    """List the types of blocks that can be inserted, with what each takes."""
    context.lexical_path(args.path)
    types = [each.to_wire() for each in BLOCK_TYPES]
    return ToolOutcome({"types": types}, "Listed the types of blocks")


TOOLS = [read_block, read_all_blocks, list_available_blocks]
