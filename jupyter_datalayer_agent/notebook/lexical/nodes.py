"""New nodes, with the keys of Lexical's own ``exportJSON`` in its order."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from .editor_state import Node

INPUT, OUTPUT = "jupyter-input", "jupyter-output"
INPUT_UUID, OUTPUT_UUID = "jupyterInputNodeUuid", "jupyterOutputNodeUuid"
CODE_TEXT = "jupyter-input-highlight"

VERSION = 1
"""The version of the nodes that are known: what a newer one means is not."""

_KNOWN = frozenset(
    ["paragraph", "heading", "quote", "list", "listitem", "code", "code-highlight", "table",
     "tablerow", "tablecell", "link", "autolink", "text", "linebreak", "tab", "image", "equation",
     "horizontalrule", INPUT, CODE_TEXT, OUTPUT]
)  # fmt: skip

BOLD, ITALIC, STRIKE, UNDERLINE, CODE, SUBSCRIPT, SUPERSCRIPT, HIGHLIGHT = (
    1 << bit for bit in range(8)
)


def text(content: str, format: int = 0) -> Node:
    """A text node; ``format`` is the sum of its formats."""
    return {
        "detail": 0,
        "format": format,
        "mode": "normal",
        "style": "",
        "text": content,
        "type": "text",
        "version": 1,
    }


def line_break() -> Node:
    """A line break within a block."""
    return {"type": "linebreak", "version": 1}


def paragraph(children: Sequence[Node] = ()) -> Node:
    """A paragraph; Lexical writes the format of its first text beside it."""
    first = next((each for each in children if each["type"] == "text"), {})
    own = {"textFormat": first.get("format", 0), "textStyle": first.get("style", "")}
    return {"children": list(children), **_element(), **own, "type": "paragraph", "version": 1}


def heading(level: int, children: Sequence[Node]) -> Node:
    """A heading, of level 1 to 6."""
    return {
        "children": list(children),
        "tag": f"h{level}",
        **_element(),
        "type": "heading",
        "version": 1,
    }


def quote(children: Sequence[Node]) -> Node:
    """A quotation; lines in it are separated by line breaks."""
    return {"children": list(children), **_element(), "type": "quote", "version": 1}


def code(source: str, language: str | None) -> Node:
    """A code block that is shown and does not run."""
    named = {"language": language} if language else {}
    children = _lines(source, "code-highlight")
    return {"children": children, **named, **_element(), "type": "code", "version": 1}


def link(url: str, children: Sequence[Node], title: str | None = None) -> Node:
    """A link around inline nodes."""
    return {
        "children": list(children),
        "rel": None,
        "target": None,
        "title": title,
        "url": url,
        **_element(),
        "type": "link",
        "version": 1,
    }


def list_(kind: str, items: Sequence[Node], start: int = 1) -> Node:
    """A list: ``kind`` is bullet, number or check."""
    return {
        "children": list(items),
        "listType": kind,
        "start": start,
        "tag": "ol" if kind == "number" else "ul",
        **_element(),
        "type": "list",
        "version": 1,
    }


def list_item(
    children: Sequence[Node], *, indent: int, value: int, checked: bool | None = None
) -> Node:
    """An item, of inline nodes, or of one list that is nested below the item before it."""
    own = {} if checked is None else {"checked": checked}
    return {
        "children": list(children),
        **own,
        "indent": indent,
        "value": value,
        "direction": None,
        "format": "",
        "type": "listitem",
        "version": 1,
    }


def table(rows: Sequence[Sequence[Sequence[Node]]]) -> Node:
    """A table of cells of inline nodes; the first row is its head."""
    return {
        "children": [
            {
                "children": [_cell(cell, 0 if index else 1) for cell in row],
                **_element(),
                "type": "tablerow",
                "version": 1,
            }
            for index, row in enumerate(rows)
        ],
        **_element(),
        "type": "table",
        "version": 1,
    }


def _cell(children: Sequence[Node], header: int) -> Node:
    return {
        "children": [paragraph(children)],
        "backgroundColor": None,
        "colSpan": 1,
        "headerState": header,
        "rowSpan": 1,
        **_element(),
        "type": "tablecell",
        "version": 1,
    }


def horizontal_rule() -> Node:
    """A rule across the page."""
    return {"type": "horizontalrule", "version": 1}


def image(src: str, alt: str = "", width: int = 0, height: int = 0, caption: str = "") -> Node:
    """An image by its address; its size in pixels, 0 for its own."""
    empty: Node = {**_element(), "type": "root", "version": 1}
    said = [paragraph([text(caption)])] if caption else []
    return {
        "altText": alt,
        "caption": {"editorState": {"root": {"children": said, **empty}}},
        "height": height,
        "maxWidth": 500,
        "showCaption": bool(caption),
        "src": src,
        "type": "image",
        "version": 1,
        "width": width,
    }


def equation(latex: str, *, inline: bool) -> Node:
    """An equation in LaTeX."""
    return {"equation": latex, "inline": inline, "type": "equation", "version": 1}


def jupyter_input(source: str, language: str = "python") -> Node:
    """A code block that runs, with an id of its own."""
    return {
        "children": _lines(source, CODE_TEXT),
        **_element(),
        "type": INPUT,
        "version": 1,
        "language": language,
        INPUT_UUID: str(uuid.uuid4()),
    }


def jupyter_output(source: str, outputs: Sequence[dict[str, Any]], input_uuid: str) -> Node:
    """What a code block put out when it ran with this source; ``outputs`` as nbformat has them."""
    return {
        "type": OUTPUT,
        "version": 1,
        "source": source,
        "outputs": list(outputs),
        INPUT_UUID: input_uuid,
        OUTPUT_UUID: str(uuid.uuid4()),
    }


def runs(node: Node) -> bool:
    """Whether it is code that runs."""
    return node.get("type") == INPUT


def source_of(node: Node) -> str:
    """The code of a code block, or the plain text of any other node."""
    return "".join(_plain(node))


def children_of(node: Node) -> list[Node]:
    """The nodes inside; what is no node is left out."""
    children = node.get("children")
    if not isinstance(children, list):
        return []
    return [each for each in children if isinstance(each, dict)]


def newer_node(node: Node) -> str | None:
    """What in a block is of a known type and a newer version: "a paragraph of version 2"."""
    kind, version = node.get("type"), node.get("version")
    if kind in _KNOWN and isinstance(version, int) and version > VERSION:
        return f"a {kind} of version {version}"
    return next(filter(None, map(newer_node, children_of(node))), None)


def _plain(node: Node) -> Iterator[str]:
    kind = node.get("type")
    if kind == "linebreak":
        yield "\n"
    elif isinstance(node.get("text"), str):
        yield node["text"]
    for child in children_of(node):
        yield from _plain(child)


def _lines(source: str, kind: str) -> list[Node]:
    nodes: list[Node] = []
    for index, line in enumerate(source.split("\n")):
        if index:
            nodes.append(line_break())
        if line:
            nodes.append({**text(line), "type": kind})
    return nodes


def _element() -> Node:
    return {"direction": None, "format": "", "indent": 0}
