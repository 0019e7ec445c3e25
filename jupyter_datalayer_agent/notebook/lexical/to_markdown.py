"""Lexical nodes to Markdown, such that ``from_markdown`` gives them back where Markdown can say
them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any

from . import nodes
from .editor_state import Node

_WRAPS = [
    (nodes.UNDERLINE, "u"), (nodes.SUBSCRIPT, "sub"), (nodes.SUPERSCRIPT, "sup"),
    (nodes.HIGHLIGHT, "mark"),
]  # fmt: skip
_MARKS = [(nodes.STRIKE, "~~", "s"), (nodes.BOLD, "**", "strong"), (nodes.ITALIC, "*", "em")]
# Only between two letters or digits an underscore marks nothing.
_SPECIAL = re.compile(r"([\\`*\[\]$]|<(?=[a-zA-Z/!?])|~(?=~)|(?<=~)~|(?<![^\W_])_|_(?![^\W_]))")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_BLOCK_START = re.compile(r"^(#{1,6}(?=\s|$)|>|[-+](?=\s|$)|=+\s*$|-{2,}\s*$|~~~|:?-+:?\s*\|)")
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_INLINE = frozenset(["text", "link", "autolink", "linebreak", "tab", "image", "equation"])


def markdown_of(node: Node) -> str:
    """A block as Markdown. A node of an unknown type is an HTML comment with its plain text."""
    kind = node["type"]
    children = nodes.children_of(node)
    if kind == "paragraph":
        if len(children) == 1 and _is_display(children[0]):
            return f"$$\n{children[0].get('equation', '')}\n$$"
        return _lines(inline(children))
    if kind == "heading":
        level = str(node.get("tag", "h1"))[1:]
        said = inline(children, breaks="<br>")
        # Closing hashes are no text.
        said = re.sub(r"(?<!#)(#+)$", r"\\\1", said)
        return f"{'#' * int(level if level.isdigit() else 1)} {said}".rstrip()
    if kind == "quote":
        return "\n".join(f"> {line}".rstrip() for line in _lines(inline(children)).split("\n"))
    if kind == "list":
        return "\n".join(_items(node, ""))
    if kind in ("code", nodes.INPUT):
        return _fence(nodes.source_of(node), _info(node))
    if kind == "table":
        return _table(node)
    if kind == "horizontalrule":
        return "---"
    if kind == "equation":
        return f"$$\n{node.get('equation', '')}\n$$"
    if kind == nodes.OUTPUT:
        return ""
    if kind in _INLINE:
        return _lines(inline([node]))
    shown = nodes.source_of(node)
    return f"<!-- {kind} -->" + (f"\n\n{_lines(_escaped(shown))}" if shown else "")


def kind_of(node: Node) -> str:
    """The type of a block as users name it: a paragraph with nothing but an image is an image."""
    children = nodes.children_of(node)
    if node["type"] == "paragraph" and len(children) == 1:
        only = children[0]
        if only.get("type") == "image" or _is_display(only):
            return str(only["type"])
    return str(node["type"])


def _is_display(node: Node) -> bool:
    return node.get("type") == "equation" and not node.get("inline")


def inline(children: Sequence[Node], breaks: str = "\\\n") -> str:
    """Inline nodes as Markdown; ``breaks`` is what a line break becomes."""
    return _Inline(breaks).write(children)


class _Inline:
    """Writes text runs by delimiters where these are sure to be read as such, else by HTML."""

    def __init__(self, breaks: str) -> None:
        self.breaks = breaks

    def write(self, children: Sequence[Node]) -> str:
        parts = list(self._parts(children))
        written = ""
        for index, (content, format) in enumerate(parts):
            if format is None:
                written += content
                continue
            following = parts[index + 1] if index + 1 < len(parts) else ("", 0)
            after = following[0][:1] if not following[1] else "*"
            if written.endswith("$") and content[:1].isdigit() and not format:
                # An equation does not end before a digit.
                written += f"&#{ord(content[0])};"
                content = content[1:]
            written += _formatted(content, format, written[-1:], after)
        return written

    def _parts(self, children: Sequence[Node]) -> Iterator[tuple[str, int | None]]:
        """Texts with their formats; Markdown that is ready has the format None."""
        for node in _joined(children):
            kind = node.get("type")
            if kind == "linebreak":
                yield self.breaks, None
            elif kind in ("link", "autolink"):
                yield _link(node, self.write(nodes.children_of(node))), None
            elif kind == "image":
                yield _image(node), None
            elif kind == "equation":
                latex = str(node.get("equation", "")).strip()
                yield (f"${latex}$" if node.get("inline") else f"$${latex}$$"), None
            elif isinstance(node.get("text"), str):
                lines = node["text"].split("\n")
                format = node.get("format")
                for index, line in enumerate(lines):
                    if index:
                        yield self.breaks, None
                    yield line, format if isinstance(format, int) else 0
            else:
                yield self.write(nodes.children_of(node)), None


def _joined(children: Sequence[Node]) -> Iterator[Node]:
    """Neighbouring texts of one format as one: Markdown has no border between them."""
    last: Node | None = None
    for node in children:
        is_text = node.get("type") in ("text", "tab", "code-highlight", nodes.CODE_TEXT)
        if is_text and last is not None and last.get("format") == node.get("format"):
            last = {**last, "text": str(last["text"]) + str(node.get("text", ""))}
            continue
        if last is not None:
            yield last
        last = node if is_text else None
        if not is_text:
            yield node
    if last is not None:
        yield last


def _formatted(content: str, format: int, before: str, after: str) -> str:
    core = content.strip()
    if not format or not core:
        return _escaped(content)
    head = content[: len(content) - len(content.lstrip())]
    tail = content[len(content.rstrip()) :]
    before, after = head[-1:] or before, tail[:1] or after
    said = _code(core) if format & nodes.CODE else _escaped(core)
    # Where a delimiter touches a letter or another one, its reading depends on both sides.
    plain = not (before.strip() or after.strip()) and core[0].isalnum() and core[-1].isalnum()
    if not plain and not format & nodes.CODE:
        plain = _opens(before) and _opens(after) and core[0].isalnum() and core[-1].isalnum()
    for bit, mark, tag in _MARKS:
        if format & bit:
            said = f"{mark}{said}{mark}" if plain else f"<{tag}>{said}</{tag}>"
    for bit, tag in _WRAPS:
        if format & bit:
            said = f"<{tag}>{said}</{tag}>"
    return f"{head}{said}{tail}"


def _opens(character: str) -> bool:
    return not character.strip() or character in ".,;:!?()\"'"


def _code(content: str) -> str:
    longest = max((len(run) for run in re.findall("`+", content)), default=0)
    marks = "`" * (longest + 1)
    room = " " if content.startswith("`") or content.endswith("`") else ""
    return f"{marks}{room}{content}{room}{marks}"


def _escaped(content: str) -> str:
    return _ENTITY.sub("&amp;", _SPECIAL.sub(r"\\\1", content))


def _lines(written: str) -> str:
    """Inline Markdown as a block of its own: no line of it begins another kind of block."""
    lines = []
    for line in written.split("\n"):
        inner = line.lstrip()
        room = line[: len(line) - len(inner)]
        inner = _BLOCK_START.sub(lambda found: "\\" + found.group(), inner)
        inner = _NUMBERED.sub(r"\1\\\2", inner)
        lines.append("&#32;" * len(room) + inner)
    return "\n".join(lines)


def _image(node: Node) -> str:
    """An image; one with a size or a caption as HTML, which can say them."""
    src, alt = str(node.get("src", "")), str(node.get("altText", "")).replace("\n", " ")
    more = {key: node.get(key) for key in ("width", "height")}
    said = {key: str(value) for key, value in more.items() if isinstance(value, int) and value > 0}
    if node.get("showCaption") and (caption := _caption(node)):
        said["title"] = caption
    if not said:
        return f"![{_escaped(alt)}]({_address(src)})"
    attributes = {"src": src, "alt": alt} | said
    written = (f'{key}="{html.escape(value)}"' for key, value in attributes.items())
    return f"<img {' '.join(written)}>"


def _caption(node: Node) -> str:
    found: Any = node.get("caption")
    for key in ("editorState", "root"):
        found = found.get(key) if isinstance(found, dict) else None
    return " ".join(nodes.source_of(found).split()) if isinstance(found, dict) else ""


def _link(node: Node, shown: str) -> str:
    title = node.get("title")
    quoted = _ENTITY.sub("&amp;", str(title)).replace('"', "&quot;")
    said = f' "{quoted}"' if title else ""
    return f"[{shown}]({_address(str(node.get('url', '')))}{said})"


def _address(url: str) -> str:
    url = _ENTITY.sub("&amp;", url)
    if not url or re.search(r"[\s()<>\\]", url):
        return "<" + re.sub(r"[<>\n]", lambda found: f"%{ord(found.group()):02X}", url) + ">"
    return url


def _info(node: Node) -> str:
    language = node.get("language")
    named = language if isinstance(language, str) else ""
    return f"{{code-cell}} {named or 'python'}" if node["type"] == nodes.INPUT else named


def _fence(source: str, info: str) -> str:
    longest = max((len(run) for run in re.findall("`+", source)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{info}\n{source}\n{marks}"


def _items(node: Node, room: str) -> Iterator[str]:
    kind = node.get("listType")
    start = node.get("start")
    value = start if isinstance(start, int) else 1
    width = 2
    for item in nodes.children_of(node):
        children = nodes.children_of(item)
        if children and children[0].get("type") == "list":
            for nested in children:
                yield from _items(nested, room + " " * width)
            continue
        mark = f"{value}." if kind == "number" else "-"
        width = len(mark) + 1
        if kind == "check":
            mark += " [x]" if item.get("checked") else " [ ]"
        value += 1
        said = _lines(inline(children)).replace("\n", f"\n{room}{' ' * width}")
        yield f"{room}{mark} {said}".rstrip()


def _table(node: Node) -> str:
    rows = [_row(row) for row in nodes.children_of(node)]
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    lines = []
    for index, row in enumerate(rows):
        cells = [said for said, _ in row] + [""] * (width - len(row))
        lines.append(f"| {' | '.join(cells)} |")
        if not index:
            aligned = [_RULES.get(format, "---") for _, format in row]
            lines.append(f"| {' | '.join(aligned + ['---'] * (width - len(row)))} |")
    return "\n".join(lines)


def _in_cell(node: Node) -> Node:
    """An inline node whose bars no reader of tables takes for the end of a cell, nor an equation's
    for double ones, since it may have been taken out before the table is read."""
    latex = node.get("equation")
    if node.get("type") != "equation" or not isinstance(latex, str) or r"\begin" in latex:
        return node
    return {**node, "equation": latex.replace(r"\|", r"\Vert ").replace("|", r"\vert ")}


_RULES = {"left": ":---", "center": ":---:", "right": "---:"}


def _row(row: Node) -> list[tuple[str, Any]]:
    cells = []
    for cell in nodes.children_of(row):
        inside = nodes.children_of(cell)
        said = "<br>".join(
            inline([*map(_in_cell, nodes.children_of(each))], breaks="<br>") for each in inside
        )
        span = cell.get("colSpan")
        cells.append((said.replace("|", "\\|"), inside[0].get("format") if inside else None))
        cells += [("", None)] * (min(span, 50) - 1 if isinstance(span, int) else 0)
    return cells
