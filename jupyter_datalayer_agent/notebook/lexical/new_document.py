"""New Lexical documents."""

from __future__ import annotations

from collections.abc import Sequence

from ...protocol.json_text import to_json
from . import nodes
from .editor_state import Node


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
