"""Markdown to Lexical nodes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from html.entities import html5
from typing import Any

from . import nodes
from .editor_state import Node

Token = dict[str, Any]

TAGS = {
    "b": nodes.BOLD, "strong": nodes.BOLD, "i": nodes.ITALIC, "em": nodes.ITALIC,
    "s": nodes.STRIKE, "del": nodes.STRIKE, "u": nodes.UNDERLINE, "code": nodes.CODE,
    "sub": nodes.SUBSCRIPT, "sup": nodes.SUPERSCRIPT, "mark": nodes.HIGHLIGHT,
}  # fmt: skip
"""HTML elements in Markdown that are formats of text."""
RUNS = re.compile(r"^\{code-cell\}\s*(\S*)")
"""The info of a fence whose code runs, as MyST writes it."""

_TAG = re.compile(r"<(/?)([a-zA-Z]+)\s*/?>$")
_IMAGE = re.compile(r"\s*<img\s[^>]*>\s*$", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![a-zA-Z-])([a-zA-Z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]*));")
_MARKS = {"strong": nodes.BOLD, "emphasis": nodes.ITALIC, "strikethrough": nodes.STRIKE}
# As pandoc has it: "$5 and $6" is no equation.
_INLINE_MATH = r"\$(?![\s$])(?P<math_text>(?:\\.|[^$\\])+?)(?<!\s)\$(?!\d)"
_DISPLAY_MATH = r"\$\$(?P<display_text>(?:\\.|[^$\\])+?)\$\$"


def blocks_of(markdown: str) -> list[Node]:
    """The blocks of a Markdown text."""
    found: list[Node] = []
    for token in _parse(markdown):
        found += _block(token)
    return found


def inline_of(markdown: str) -> list[Node]:
    """The inline nodes of a text that is one block."""
    found: list[Node] = []
    for block in blocks_of(markdown):
        if found:
            found.append(nodes.line_break())
        found += nodes.children_of(block) if block["type"] != "list" else _flat(block)
    return found


@cache
def _parser() -> Callable[[str], Any]:
    import mistune

    parser = mistune.create_markdown(
        renderer=None, plugins=["table", "task_lists", "strikethrough", "math"]
    )
    parser.inline.register("inline_math", _INLINE_MATH, _inline_math, before="link")
    parser.inline.register("display_math", _DISPLAY_MATH, _display_math, before="inline_math")
    return parser


def _display_math(inline: Any, match: re.Match[str], state: Any) -> int:
    state.append_token({"type": "block_math", "raw": match.group("display_text")})
    return match.end()


def _inline_math(inline: Any, match: re.Match[str], state: Any) -> int:
    state.append_token({"type": "inline_math", "raw": match.group("math_text")})
    return match.end()


def _parse(markdown: str) -> list[Token]:
    tokens: list[Token] = _parser()(markdown)
    return tokens


def _block(token: Token) -> list[Node]:
    kind = token["type"]
    if kind in ("paragraph", "block_text"):
        return [nodes.paragraph(_inline(token["children"]))]
    if kind == "heading":
        return [nodes.heading(token["attrs"]["level"], _inline(token["children"]))]
    if kind == "block_code":
        return [_code(token)]
    if kind == "list":
        return [_list(token, 0)]
    if kind == "block_quote":
        return [nodes.quote(_lines(token["children"]))]
    if kind == "table":
        return [_table(token)]
    if kind == "thematic_break":
        return [nodes.horizontal_rule()]
    if kind == "block_math":
        return [nodes.paragraph([nodes.equation(token["raw"].strip(), inline=False)])]
    if kind == "block_html" and _IMAGE.match(token["raw"]):
        return [nodes.paragraph([_html_image(token["raw"])])]
    if kind == "block_html":
        return [nodes.paragraph(_plain(token["raw"].strip("\n"), 0))]
    return []  # blank lines


def _html_image(raw: str) -> Node:
    """An image that is written as HTML."""
    found = {name.lower(): _unescaped("".join(value)) for name, *value in _ATTRIBUTE.findall(raw)}
    width, height = (_pixels(found.get(key, "")) for key in ("width", "height"))
    src, alt, caption = (found.get(key, "") for key in ("src", "alt", "title"))
    return nodes.image(src, alt, width, height, caption)


def _pixels(length: str) -> int:
    """A size as an attribute says it; 0 for one in other units."""
    said = re.fullmatch(r"(\d+)(?:px)?/?", length.strip())
    return int(said.group(1)) if said else 0


def _code(token: Token) -> Node:
    info = str(token.get("attrs", {}).get("info") or "").strip()
    source = token["raw"].removesuffix("\n")
    if runs := RUNS.match(info):
        return nodes.jupyter_input(source, runs.group(1) or "python")
    return nodes.code(source, info.split()[0] if info else None)


def _list(token: Token, indent: int) -> Node:
    attrs, tokens = token["attrs"], token["children"]
    kind = "number" if attrs["ordered"] else "bullet"
    if any(each["type"] == "task_list_item" for each in tokens):
        kind = "check"
    start = attrs.get("start") or 1
    items: list[Node] = []
    value = start
    for each in tokens:
        checked = bool(each.get("attrs", {}).get("checked")) if kind == "check" else None
        parts = [part for part in each["children"] if part["type"] != "list"]
        lists = [part for part in each["children"] if part["type"] == "list"]
        items.append(nodes.list_item(_lines(parts), indent=indent, value=value, checked=checked))
        value += 1
        for nested in lists:
            inner = [_list(nested, indent + 1)]
            unchecked = None if checked is None else False
            items.append(nodes.list_item(inner, indent=indent, value=value, checked=unchecked))
    return nodes.list_(kind, items, start)


def _table(token: Token) -> Node:
    rows: list[list[Token]] = []
    for part in token["children"]:
        if part["type"] == "table_head":
            rows.append(part["children"])
        else:
            rows += [row["children"] for row in part["children"]]
    made = nodes.table([[_Inline(True).read(cell["children"]) for cell in row] for row in rows])
    for row, cells in zip(made["children"], rows, strict=True):
        for cell, each in zip(row["children"], cells, strict=True):
            cell["children"][0]["format"] = each["attrs"].get("align") or ""
    return made


def _lines(tokens: Sequence[Token]) -> list[Node]:
    """Blocks where Lexical has only inline nodes: one below the other, by line breaks."""
    found: list[Node] = []
    for token in tokens:
        if token["type"] == "blank_line":
            continue
        for block in _block(token):
            if found:
                found.append(nodes.line_break())
            if block["type"] in ("code", nodes.INPUT):
                found += _plain(nodes.source_of(block), nodes.CODE)
            elif block["type"] in ("list", "table"):
                found += _flat(block)
            else:
                found += nodes.children_of(block)
    return found


def _flat(block: Node) -> list[Node]:
    """A list or a table as lines."""
    lines: list[str] = []
    if block["type"] == "list":
        _list_lines(block, 0, lines)
    else:
        for row in block["children"]:
            lines.append(" | ".join(nodes.source_of(cell) for cell in row["children"]))
    return _plain("\n".join(lines), 0)


def _list_lines(block: Node, depth: int, lines: list[str]) -> None:
    for item in block["children"]:
        first = (item["children"] or [{}])[0]
        if first.get("type") == "list":
            _list_lines(first, depth + 1, lines)
            continue
        mark = f"{item['value']}." if block["listType"] == "number" else "-"
        lines.append(f"{'  ' * depth}{mark} {nodes.source_of(item)}")


def _plain(content: str, format: int) -> list[Node]:
    found: list[Node] = []
    for index, line in enumerate(content.split("\n")):
        if index:
            found.append(nodes.line_break())
        if line:
            found.append(nodes.text(line, format))
    return found


def _alike(one: Node, other: Node) -> bool:
    return bool(one["type"] == "text" and one["format"] == other["format"])


def _inline(tokens: Sequence[Token]) -> list[Node]:
    return _Inline().read(tokens)


class _Inline:
    """Inline tokens as nodes. ``format`` is what HTML elements have opened. In a cell of a table
    a bar is escaped, in code and equations, too."""

    def __init__(self, in_cell: bool = False) -> None:
        self.format = 0
        self._in_cell = in_cell

    def _raw(self, token: Token) -> str:
        raw = str(token["raw"])
        return raw.replace("\\|", "|") if self._in_cell else raw

    def read(self, tokens: Sequence[Token], format: int = 0) -> list[Node]:
        """The nodes, neighbours of one format as one."""
        found: list[Node] = []
        for token in tokens:
            for node in self._nodes(token, format):
                last = found[-1] if found else None
                is_text = node["type"] == "text"
                if is_text and last and _alike(last, node):
                    last["text"] += node["text"]
                elif not is_text or node["text"]:
                    found.append(node)
        return found

    def _nodes(self, token: Token, format: int) -> list[Node]:
        kind = token["type"]
        now = format | self.format
        if kind == "text":
            return [nodes.text(_unescaped(token["raw"]), now)]
        if kind in _MARKS:
            return self.read(token["children"], format | _MARKS[kind])
        if kind == "codespan":
            return [nodes.text(self._raw(token), now | nodes.CODE)]
        if kind == "linebreak":
            return [nodes.line_break()]
        if kind == "softbreak":
            return [nodes.text(" ", now)]
        if kind == "link":
            attrs = token["attrs"]
            inside = self.read(token["children"], format)
            title = attrs.get("title")
            title = title if title is None else _unescaped(title)
            return [nodes.link(attrs["url"], inside, title)]
        if kind == "image":
            alt = "".join(nodes.source_of(each) for each in self.read(token["children"]))
            return [nodes.image(token["attrs"]["url"], alt)]
        if kind == "inline_math":
            return [nodes.equation(self._raw(token), inline=True)]
        if kind == "block_math":
            return [nodes.equation(self._raw(token).strip(), inline=False)]
        if kind == "inline_html":
            return self._html(self._raw(token), now)
        return [nodes.text(str(token.get("raw", "")), now)]

    def _html(self, raw: str, now: int) -> list[Node]:
        tag = _TAG.match(raw)
        name = tag.group(2).lower() if tag else ""
        if tag is not None and name == "br":
            return [nodes.line_break()]
        if _IMAGE.match(raw):
            return [_html_image(raw)]
        if tag is None or name not in TAGS:
            return [nodes.text(raw, now)]
        if tag.group(1):
            self.format &= ~TAGS[name]
        else:
            self.format |= TAGS[name]
        return []


def _unescaped(text: str) -> str:
    """With the characters of its references, which in Markdown end in a semicolon: unlike HTML,
    which reads a sign of copyright in ``?a=1&copy=2``."""
    return _REFERENCE.sub(_character, text)


def _character(reference: re.Match[str]) -> str:
    decimal, hexadecimal, name = reference.groups()
    if name:
        return html5.get(f"{name};", reference[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0 < code <= sys.maxunicode and not 0xD800 <= code < 0xE000
    return chr(code) if is_character else "\ufffd"
