"""Lexical documents as notebooks, and notebooks as Lexical documents, on nbformat dicts."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from ..edits.batch import outputs_of, source_of
from ..metadata import of_kernel
from . import nodes
from .editor_state import EditorState, Node
from .from_markdown import blocks_of
from .to_markdown import markdown_of

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
