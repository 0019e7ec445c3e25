"""Fenced blocks of Markdown, as CommonMark has them: found line by line, in one pass.

As a regular expression, an opening fence that nothing closes is looked for again from every later
one, which takes time in the square of the text's length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

# https://spec.commonmark.org/0.31.2/#fenced-code-blocks
_SHORTEST = 3
_INDENT = 3


@dataclass(frozen=True)
class Fence:
    """A block, by where it begins and ends in its text. ``info`` is what the opening line says, and
    ``code`` the lines below it with their line breaks. One that is not closed ends with the text.
    """

    start: int
    end: int
    info: str
    code: str
    is_closed: bool


def fenced(text: str) -> str:
    """The text as a block that nothing in it can close."""
    fence = "`" * _SHORTEST
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def fences(text: str) -> Iterator[Fence]:
    """The blocks of a text, in order."""
    opened: tuple[str, str] | None = None
    start = below = at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = _fence(text, at, end)
        if opened is None and line is not None:
            opened, start, below = line, at, min(end + 1, len(text))
        elif opened is not None and line is not None and _closes(line, opened):
            yield Fence(start, end, opened[1], text[below:at], is_closed=True)
            opened = None
        at = end + 1
    if opened is not None:
        yield Fence(start, len(text), opened[1], text[below:], is_closed=False)


def _closes(line: tuple[str, str], opened: tuple[str, str]) -> bool:
    return not line[1] and line[0].startswith(opened[0])


def _fence(text: str, at: int, end: int) -> tuple[str, str] | None:
    """The marks of a line that is a fence, and what follows them."""
    begin = at
    while at < end and text[at] == " " and at - begin < _INDENT:
        at += 1
    sign = text[at : at + 1]
    if sign not in ("`", "~") or not text.startswith(sign * _SHORTEST, at):
        return None
    line = text[at:end]
    info = line.lstrip(sign)
    if sign == "`" and sign in info:
        return None  # a code span
    return line[: len(line) - len(info)], info.strip()
