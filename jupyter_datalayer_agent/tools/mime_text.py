"""The best text of a MIME bundle, for a model: what a reader would see of the output."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from html import unescape
from typing import Any

HTML_CHARACTERS = 200_000
CODE_CHARACTERS = 500
"""Characters of JavaScript that are shown: a model can only use it to recognise what it draws."""
SPEC_CHARACTERS = 1_500
SPEC_ITEMS = 3
SPEC_DEPTH = 6
SPEC_STRING = 100

# Control sequences, hyperlinks and titles, single escapes.
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
# ``<Figure size 640x480 with 1 Axes>``, ``<pandas.io.formats.style.Styler at 0x7f…>``,
# ``[<matplotlib.lines.Line2D at 0x7f…>]``, ``<__main__.f.<locals>.A object at 0x7f…>``; Vega-Lite's
# has an explanation below it.
_BARE = re.compile(r"\s*[\[(]?<[A-Za-z_][^\n<>]*(?:<\w{1,20}>[^\n<>]*)*>[\])]?\s*(?:\n\n|$)")
# Of those, the forms that name a class and say nothing about the object.
_ONLY_CLASS = re.compile(
    r"\s*<[A-Za-z_][\w.]*(?:<\w{1,20}>[\w.]*)*(?: object| at 0x[0-9a-fA-F]+){1,2}>\s*"
)
_SPEC = re.compile(r"application/(?:vnd\.(?!jupyter\.widget-|dataresource)[^\s]+\+|geo\+)json")
_TAG_NAME = re.compile(r"/?[A-Za-z][\w:.-]*")
_TAG_END = re.compile(r"([^<>]*)>")
_SPACES = re.compile(r"\s+")
_ABOUT = re.compile(
    r"\b(?:alt|src)\s*=\s*(?:\"(?!data:)([^\"]+)\"|'(?!data:)([^']+)')", re.IGNORECASE
)
_EMBEDS = {
    "img": "image",
    "iframe": "page",
    "embed": "page",
    "video": "video",
    "audio": "audio",
    "source": "source",
}
"""Elements that show the content of another address, and what that content is."""


def plain(text: str) -> str:
    """The text without terminal colours and other escape sequences."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def text_of(value: Any) -> str:
    """A MIME value: nbformat allows a string, a list of lines, or JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def best_text(data: Mapping[str, Any]) -> str:
    """The text that says most about the output in the fewest characters.

    Charts and maps are summarised from their specification. Otherwise it is ``text/plain``, which
    libraries write for terminals, unless that is only the ``repr`` of an object; then what the
    object shows: Markdown, LaTeX, JSON, the text of HTML.
    """
    if spec := next(filter(is_spec, data), None):
        return _summary(spec, data[spec])
    said = plain(text_of(data.get("text/plain", "")))
    if said.strip() and not _BARE.match(said):
        return said
    for mime, render in _RICH.items():
        if mime in data and (text := render(data[mime])).strip():
            return text
    others = [mime for mime in data if mime != "text/plain"]
    named = f"[output of type {', '.join(sorted(others))}]" if others else ""
    return " ".join(filter(None, [said.strip(), named])) or "[output of type none]"


def beside_picture(data: Mapping[str, Any]) -> str:
    """The text that the other types of a picture's bundle add to it."""
    if not data:
        return ""
    said = best_text(data)
    return "" if _ONLY_CLASS.fullmatch(said) else said


def is_spec(mime: str) -> bool:
    """Whether it is the specification of a chart or a map, which contains its data."""
    return _SPEC.fullmatch(mime) is not None


def html_text(html: str) -> str:
    """The text of HTML: a line for each block, and for each row of a table with `` | `` between its
    cells. Takes linear time for any HTML."""
    reader = _HtmlReader()
    html = _without_comments(html[:HTML_CHARACTERS])
    begin = at = 0
    while (start := html.find("<", at)) >= 0:
        at = start + 1
        name = _TAG_NAME.match(html, at)
        end = name and _TAG_END.match(html, name.end())
        if not name or not end:
            continue  # a "<" in a text
        reader.text_of(html[begin:start])
        begin = at = end.end()
        tag = name[0].lower()
        if tag in _VERBATIM:
            closing = re.compile(f"</{tag}", re.IGNORECASE).search(html, at)
            begin = at = closing.start() if closing else len(html)
        elif tag.startswith("/"):
            reader.end_of(tag[1:])
        else:
            shown = _EMBEDS.get(tag)
            if shown and (about := _ABOUT.search(end[1][:SPEC_CHARACTERS])):
                reader.text_of(f"[{shown}: {about[1] or about[2]}]")
            reader.start_of(tag)
    reader.text_of(html[begin:])
    return reader.text()


def _without_comments(html: str) -> str:
    kept, at = [], 0
    while (start := html.find("<!--", at)) >= 0:
        kept.append(html[at:start])
        end = html.find("-->", start)
        at = len(html) if end < 0 else end + 3
    return "".join([*kept, html[at:]])


_HIDDEN = frozenset(["head", "template", "noscript"])
_VERBATIM = frozenset(["script", "style"])
"""The content of these elements is not HTML."""
_CELLS = frozenset(["td", "th"])
_BLOCKS = frozenset(
    """address article blockquote br caption dd details div dl dt figure footer h1 h2 h3 h4 h5 h6
    header hr li main nav ol p pre section summary table tbody text tfoot thead title tr
    ul""".split()  # noqa: SIM905 - ``text`` and ``title`` are SVG's
)


class _HtmlReader:
    def __init__(self) -> None:
        self._lines: list[list[str]] = [[]]
        self._hidden = 0
        self._verbatim = 0

    def start_of(self, tag: str) -> None:
        """Begin a line for a block, a column for a cell."""
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag == "pre":
            self._verbatim += 1
        if tag in _BLOCKS:
            self._lines.append(["- "] if tag == "li" else [])
        elif tag in _CELLS:
            # An empty first cell counts, too.
            self._lines[-1].append(" | " if self._lines[-1] else "")

    def end_of(self, tag: str) -> None:
        """End a block's line."""
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag == "pre":
            self._verbatim = max(0, self._verbatim - 1)
        if tag in _BLOCKS:
            self._lines.append([])

    def text_of(self, html: str) -> None:
        """Add text without tags; line ends are kept only where they are displayed."""
        data = unescape(html)
        if self._hidden or not data or ("\n" in data and data.isspace() and not self._verbatim):
            return
        if self._verbatim:
            first, *others = data.split("\n")
            self._lines[-1].append(first)
            self._lines += [[line] for line in others]
        else:
            text = _SPACES.sub(" ", data)
            # Lines do not begin with a space.
            self._lines[-1].append(text if self._lines[-1] else text.lstrip())

    def text(self) -> str:
        """The lines with text."""
        lines = ("".join(pieces).rstrip() for pieces in self._lines)
        return "\n".join(line for line in lines if line.strip(" -|"))


def _code(value: Any) -> str:
    code = text_of(value).strip()
    more = len(code) - CODE_CHARACTERS
    shown = f"{code[:CODE_CHARACTERS]}\n… {more} more characters" if more > 0 else code
    return f"[JavaScript]\n{shown}" if code else ""


def _svg(value: Any) -> str:
    labels = html_text(text_of(value))
    return f"[SVG picture]\n{labels}" if labels else ""


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


_RICH: dict[str, Callable[[Any], str]] = {
    "text/markdown": lambda value: plain(text_of(value)),
    "text/latex": text_of,
    "application/json": _json,
    "text/html": lambda value: html_text(text_of(value)),
    "image/svg+xml": _svg,
    "application/javascript": _code,
    "text/javascript": _code,
}


def _summary(mime: str, spec: Any) -> str:
    """The specification of a chart or a map without its data."""
    written = json.dumps(_elided(spec, SPEC_DEPTH), ensure_ascii=False, default=str)
    more = len(written) - SPEC_CHARACTERS
    shown = f"{written[:SPEC_CHARACTERS]} … {more} more characters" if more > 0 else written
    return f"[{mime}] {shown}"


def _elided(value: Any, depth: int) -> Any:
    if isinstance(value, str) and len(value) > SPEC_STRING:
        return f"{value[:SPEC_STRING]}… {len(value) - SPEC_STRING} more characters"
    if isinstance(value, dict | list) and value and depth == 0:
        return f"… {len(value)} items"
    if isinstance(value, dict):
        return {
            # A theme says nothing about the data, and plotly's is longer than most charts.
            str(key): "…" if key in ("template", "config") else _elided(each, depth - 1)
            for key, each in list(value.items())[: 20 * SPEC_ITEMS]
        }
    if isinstance(value, list):
        kept = [_elided(each, depth - 1) for each in value[:SPEC_ITEMS]]
        more = len(value) - SPEC_ITEMS
        return [*kept, f"… {more} more"] if more > 0 else kept
    return value
