"""A whole document as Markdown: for diffs and exports."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable

from .editor_state import Block, EditorState
from .nodes import OUTPUT
from .to_markdown import markdown_of

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
