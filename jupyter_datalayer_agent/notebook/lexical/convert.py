"""Lexical documents as notebooks, and notebooks as Lexical documents, on nbformat dicts."""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...protocol.cells import PageCell, PageNotebook
from ...protocol.json_text import to_json
from ..edits.batch import outputs_of, source_of
from ..kernel.execution_log import ExecutionLog
from ..metadata import of_kernel
from . import nodes
from .blocks import DocumentBlock
from .documents import OpenDocument
from .editor_state import Block, EditorState, Node
from .from_markdown import blocks_of
from .nodes import OUTPUT
from .to_markdown import markdown_of

# The blocks of a Lexical document as cells, for what looks at documents of either kind.


def blocks_as_cells(
    document: OpenDocument, executions: ExecutionLog | None = None, *, outputs: bool = False
) -> PageNotebook:
    """Code that runs as code cells, all else as Markdown; a cell's ``index`` is its block's.
    ``executions`` has the counts, which a document does not."""
    kernel = document.kernel or {}
    runs = {} if executions is None else executions.life(document.path).cells

    def count_of(block: DocumentBlock) -> int | None:
        known = runs.get(block.id)
        return None if known is None else known.order

    return PageNotebook(
        path=document.path,
        kernel_id=kernel.get("id"),
        kernel_name=kernel.get("name"),
        kernel_language=document.language,
        kernel_status=kernel.get("status"),
        cells=[
            _block_as_cell(each, document.blocks.outputs_of(each), count_of(each), outputs=outputs)
            for each in document.blocks.all
            if not each.is_output
        ],
    )


def _block_as_cell(
    block: DocumentBlock, found: Sequence[dict[str, Any]], count: int | None, *, outputs: bool
) -> PageCell:
    return PageCell(
        id=block.id,
        index=block.index,
        type="code" if block.runs else "markdown",
        source=block.content,
        hash=block.block.hash,
        has_output=bool(found),
        outputs=list(found) if outputs and block.runs else None,
        execution_count=count,
    )


# New Lexical documents.


def empty_document() -> str:
    """The smallest state that Lexical's editor opens: a root with one empty paragraph."""
    return new_document([nodes.paragraph()])


def new_document(blocks: Sequence[Node]) -> str:
    """The text of a document with these blocks."""
    root = {
        "children": list(blocks),
        "direction": None,
        "format": "",
        "indent": 0,
        "type": "root",
        "version": 1,
    }
    return to_json({"root": root})


# A whole document as Markdown: for diffs and exports.


MOST_KNOWN = 4_096
_known: OrderedDict[str, str] = OrderedDict()
"""The Markdown of blocks by their JSON: an edit changes few of them."""


def document_markdown(state: EditorState) -> str:
    """Its blocks, without what code put out."""
    said = [_said(block) for block in state.blocks if block.type != OUTPUT]
    return "\n\n".join(each for each in said if each) + "\n"


def blocks_markdown(blocks: Iterable[str]) -> str:
    """Some blocks, each given as JSON."""
    return "\n\n".join(markdown_of(json.loads(each)) for each in blocks)


def _said(block: Block) -> str:
    known = _known.get(block.text)
    if known is None:
        known = _known[block.text] = markdown_of(block.node)
        if len(_known) > MOST_KNOWN:
            _known.popitem(last=False)
    return known


Notebook = dict[str, Any]
_OUTPUTS = frozenset(["stream", "display_data", "execute_result", "error"])


def to_notebook(state: EditorState) -> Notebook:
    """Code that runs as code cells with their outputs; what is between as Markdown, a cell for each
    part under a heading."""
    outputs: dict[str, list[dict[str, Any]]] = {}
    for block in state.blocks:
        if block.type == nodes.OUTPUT:
            found = block.node.get("outputs")
            valid = [_output(each) for each in found if _is_output(each)] if found else []
            outputs.setdefault(str(block.node.get(nodes.INPUT_UUID)), []).extend(valid)
    cells: list[dict[str, Any]] = []
    said: list[str] = []

    def flush() -> None:
        if said:
            cells.append(_cell("markdown", "\n\n".join(said)))
            said.clear()

    language = None
    for block in state.blocks:
        if block.type == nodes.INPUT:
            flush()
            language = language or block.node.get("language")
            own = outputs.get(str(block.node.get(nodes.INPUT_UUID)), [])
            cell = _cell("code", nodes.source_of(block.node))
            cells.append({**cell, "execution_count": _count(own), "outputs": own})
            continue
        if block.type == "heading":
            flush()
        if text := markdown_of(block.node):
            said.append(text)
    flush()
    metadata = {"language_info": {"name": str(language or "python")}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def from_notebook(notebook: Mapping[str, Any]) -> list[Node]:
    """The blocks of a notebook; raw cells are code that is only shown."""
    metadata = notebook.get("metadata") or {}
    info, spec = of_kernel(metadata, "language_info"), of_kernel(metadata, "kernelspec")
    language = info.get("name") or spec.get("language") or "python"
    found: list[Node] = []
    for cell in notebook["cells"]:
        source = source_of(cell)
        if cell["cell_type"] == "markdown":
            found += _with_pictures(blocks_of(source), cell.get("attachments") or {})
        elif cell["cell_type"] == "code":
            code = nodes.jupyter_input(source, language)
            found.append(code)
            if outputs := outputs_of(cell):
                uuid = code[nodes.INPUT_UUID]
                found.append(nodes.jupyter_output(source, outputs, uuid))
        elif source:
            found.append(nodes.code(source, None))
    return found or [nodes.paragraph()]


def _cell(kind: str, source: str) -> dict[str, Any]:
    return {"cell_type": kind, "id": secrets.token_hex(4), "metadata": {}, "source": source}


def _is_output(output: Any) -> bool:
    return isinstance(output, dict) and output.get("output_type") in _OUTPUTS


def _output(output: dict[str, Any]) -> dict[str, Any]:
    """As nbformat requires it; editors leave out what is empty."""
    if output["output_type"] in ("display_data", "execute_result"):
        output = {**output, "data": output.get("data") or {}}
        output.setdefault("metadata", {})
    if output["output_type"] == "execute_result":
        output.setdefault("execution_count", None)
    return output


def _count(outputs: Sequence[Mapping[str, Any]]) -> int | None:
    counts = [each.get("execution_count") for each in outputs]
    return next((each for each in counts if isinstance(each, int)), None)


def _with_pictures(blocks: list[Node], attachments: Mapping[str, Any]) -> list[Node]:
    """Attached pictures as part of the document, which has no attachments."""
    if attachments:
        for block in blocks:
            _inline_pictures(block, attachments)
    return blocks


def _inline_pictures(node: Node, attachments: Mapping[str, Any]) -> None:
    name = str(node.get("src", "")).removeprefix("attachment:")
    for mime, data in (attachments.get(name) or {}).items():
        node["src"] = f"data:{mime};base64,{''.join(data).strip()}"
    for child in nodes.children_of(node):
        _inline_pictures(child, attachments)
