"""The types of blocks that can be written, and new blocks of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...protocol.fences import plain_code, unfenced
from . import nodes
from .editor_state import MAX_DEPTH, Node
from .from_markdown import blocks_of, inline_of
from .to_markdown import kind_of

# What models call them by the names of other editors.
_OTHER_NAMES = {"jupyter-cell": "jupyter-input", "text": "paragraph", "hr": "horizontalrule"}


class NotABlock(ValueError):
    """No block can be made of this; the message says why, and what would be right."""


@dataclass(frozen=True)
class TypeInfo:
    """A type for the model: what its content is, and what else it takes."""

    type: str
    content: str
    also: str = ""

    def to_wire(self) -> dict[str, str]:
        """For a tool's output."""
        said = {"type": self.type, "content": self.content}
        return {**said, "also": self.also} if self.also else said


BLOCK_TYPES: Sequence[TypeInfo] = (
    TypeInfo("markdown", "Markdown of any length; gives as many blocks as it has"),
    TypeInfo("paragraph", "Markdown inline: bold, italic, code, links, $math$"),
    TypeInfo("heading", "its text, inline Markdown, with or without # marks", "level 1 to 6"),
    TypeInfo("list", "Markdown list: -, 1. or - [ ] items, nested by indenting"),
    TypeInfo("quote", "its text, inline Markdown, with or without > marks"),
    TypeInfo("code", "code that is only shown", "language"),
    TypeInfo("table", "Markdown table"),
    TypeInfo("horizontalrule", "nothing"),
    TypeInfo("image", "Markdown image ![alt](address), or only its address"),
    TypeInfo("equation", "LaTeX without $ marks"),
    TypeInfo(
        "jupyter-input", "code that runs in the kernel; its outputs come below it", "language"
    ),
)


KINDS = tuple(each.type for each in BLOCK_TYPES)


def new_blocks(
    kind: str, content: str, *, level: int | None = None, language: str | None = None
) -> list[Node]:
    """The blocks of this type and content. Raises ``NotABlock``."""
    kind = _OTHER_NAMES.get(kind, kind)
    if kind not in KINDS:
        raise NotABlock(f"there is no type {kind!r}; the types are {', '.join(KINDS)}")
    if level is not None and not 1 <= level <= 6:
        raise NotABlock(f"the level of a heading is 1 to 6, not {level}")
    if kind == "markdown":
        return blocks_of(content)
    return [_one(kind, content, level, language)]


def _one(kind: str, content: str, level: int | None, language: str | None) -> Node:
    if kind in (nodes.INPUT, "code"):
        source, named = unfenced(content)
        if kind == "code":
            return nodes.code(source, language or named)
        language = language or named or "python"
        return nodes.jupyter_input(plain_code(source, language), language)
    if kind == "horizontalrule":
        return nodes.horizontal_rule()
    if kind == "equation":
        latex = content.strip().removeprefix("$$").removesuffix("$$").strip()
        return nodes.paragraph([nodes.equation(latex, inline=False)])
    if kind == "image" and not content.lstrip().startswith("!["):
        return nodes.paragraph([nodes.image(content.strip())])
    if kind == "paragraph":
        return nodes.paragraph(inline_of(content))
    found = blocks_of(content)
    only = found[0] if len(found) == 1 else None
    if kind == "heading":
        return _heading(only, content, level)
    if kind == "quote":
        return only if only and only["type"] == "quote" else nodes.quote(inline_of(content))
    if only is None or kind_of(only) != kind:
        kinds = ", ".join(kind_of(each) for each in found) or "nothing"
        info = next(each for each in BLOCK_TYPES if each.type == kind)
        raise NotABlock(
            f"the content is no {kind} but {kinds}. A {kind} takes: {info.content}. For several "
            "blocks at once use type markdown."
        )
    return only


def _heading(only: Node | None, content: str, level: int | None) -> Node:
    if only is not None and only["type"] == "heading":
        found = int(str(only["tag"])[1:])
        return nodes.heading(level or found, nodes.children_of(only))
    inline = [each for each in inline_of(content) if each["type"] != "linebreak"]
    return nodes.heading(level or 2, inline)


def given_node(node: dict[str, Any]) -> Node:
    """A node as a caller wrote it. Raises ``NotABlock``."""
    _check(node, "node", 0)
    if node["type"] in ("text", "linebreak", "tab", "link", "autolink", "listitem", "root"):
        raise NotABlock(f"a {node['type']} is no block: put it into a paragraph, a list or a table")
    return node


def _check(node: Any, place: str, depth: int) -> None:
    if not isinstance(node, dict) or not isinstance(node.get("type"), str):
        raise NotABlock(f"{place} must be an object with a type")
    if not isinstance(node.get("version"), int):
        raise NotABlock(f"{place} ({node['type']}) has no version; Lexical's own nodes have 1")
    if depth > MAX_DEPTH:
        raise NotABlock(f"it is nested more than {MAX_DEPTH} deep")
    children = node.get("children", [])
    if not isinstance(children, list):
        raise NotABlock(f"{place}.children must be a list of nodes")
    for index, child in enumerate(children):
        _check(child, f"{place}.children[{index}]", depth + 1)


def updated(old: Node, new: Node) -> Node:
    """The new node with what Markdown cannot say of the old one: alignment, indent, direction,
    state, and what is not known."""
    if old.get("type") != new["type"]:
        return new
    own = {"children", "tag", "listType", "start", "language", "textFormat", "textStyle"}
    merged = {key: new.get(key, value) for key, value in old.items() if key in own & new.keys()}
    kept = {**old, **merged}
    kept |= {key: value for key, value in new.items() if key not in kept}
    if old["type"] == nodes.INPUT and nodes.INPUT_UUID in old:
        kept[nodes.INPUT_UUID] = old[nodes.INPUT_UUID]
    return kept
