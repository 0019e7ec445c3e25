"""Text of a model, made safe for the output of a cell, and for a terminal.

JupyterLab renders the Markdown of a cell that the user ran without sanitising it: HTML in it
would run in the page, with the user's rights, and an image would call another server. So nothing
that could be HTML, an image or a link to a program leaves here as it came, wherever in the text it
is: to decide whether something is inside of code would take the very parser that renders it,
and JupyterLab takes formulas out before it parses. What is code, as far as can be seen, is written
as HTML of our own with every sign as an entity, so that it reads as it was meant.
"""

from __future__ import annotations

import html
import re

from ..protocol.fences import Fence, fences

SCHEMES = ("http", "https", "mailto")

# The start of a tag, a comment or an autolink; an image; a link in a formula.
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_IMAGE = re.compile(r"!(?=\[)")
_FORMULA_LINK = re.compile(r"\\(?=href\b)")
# The target of a link, and of a definition of one, as far as its title.
_LINK = re.compile(r"\](?P<opened>[(:])(?=\s*(?P<target>[^])\n\"']*))")
_LANGUAGE = re.compile(r"[\w+#.-]*")
_SPAN = re.compile(r"(?<!`)`(?P<code>[^`\n]+)`(?!`)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Special characters of Markdown, HTML and formulas, within a line and at its end.
_SIGN = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\\`*_{}\[\]<>&$~|#]")


def safe(text: str) -> str:
    """The Markdown with nothing active in it. Text without tags, images and odd links is returned
    unchanged."""
    if not _acts(text):
        return text
    pieces: list[str] = []
    end = 0
    for block in fences(text):
        pieces += [_prose(text[end : block.start]), _block(block, text[block.start : block.end])]
        end = block.end
    return "".join([*pieces, _prose(text[end:])])


def printable(text: str) -> str:
    """Text for a terminal, without escape sequences."""
    return _CONTROL.sub("", text)


def escaped(text: str) -> str:
    """Text escaped for Markdown and HTML."""
    return _SIGN.sub(lambda sign: _entity(sign[0]), text)


def _acts(text: str) -> bool:
    opens = any(pattern.search(text) for pattern in (_TAG, _IMAGE, _FORMULA_LINK))
    return opens or not all(_is_address(link["target"]) for link in _LINK.finditer(text))


def _is_address(target: str) -> bool:
    """Whether a link's target is an address or a path, as a browser reads it: with entities,
    escapes and control characters decoded."""
    read = re.sub(r"[\x00-\x20\\]", "", html.unescape(target)).lstrip("<")
    scheme = re.match(r"[^/?#]*?:", read)
    return scheme is None or scheme[0][:-1].lower() in SCHEMES


def _block(block: Fence, written: str) -> str:
    if not _acts(written):
        return written
    code = escaped(block.code.rstrip("\n"))
    language = _LANGUAGE.match(block.info)
    named = escaped(language[0] if language else "")
    return f'<pre><code class="language-{named}">{code}</code></pre>\n'


def _prose(text: str) -> str:
    pieces: list[str] = []
    end = 0
    for match in _SPAN.finditer(text):
        pieces += [_inert(text[end : match.start()]), _span(match)]
        end = match.end()
    return "".join([*pieces, _inert(text[end:])])


def _span(span: re.Match[str]) -> str:
    return f"<code>{escaped(span['code'])}</code>" if _acts(span[0]) else span[0]


def _inert(text: str) -> str:
    text = _LINK.sub(
        lambda link: link[0] if _is_address(link["target"]) else f"]{_entity(link['opened'])}", text
    )
    for pattern, instead in ((_TAG, "&lt;"), (_IMAGE, _entity("!")), (_FORMULA_LINK, "&#92;")):
        text = pattern.sub(instead, text)
    return text


def _entity(sign: str) -> str:
    return f"&#{ord(sign)};"
