"""Fenced blocks of Markdown, as CommonMark has them: found line by line, in one pass.

As a regular expression, an opening fence that nothing closes is looked for again from every later
one, which takes time in the square of the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Code as models write it: in a Markdown fence, or below a line that names its language.


# https://spec.commonmark.org/0.31.2/#fenced-code-blocks, with `{r}` and `{.python}` as in documents
# of R Markdown and Pandoc.
_OPENING = re.compile(
    r"(?P<indent> {0,3})(?P<fence>`{3,}|~{3,})[ \t]*\{?\.?(?P<language>[\w+#.-]*)[^`\n]*$"
)
_PYTHON_NAMES = frozenset({"python", "python3", "ipython", "ipython3"})


def unfenced(text: str) -> tuple[str, str | None]:
    """The content and language of the one fenced block that a text is, whose closing fence may be
    missing; any other text as it is, and None."""
    lines = text.strip("\n").rstrip().split("\n")
    opening = _OPENING.match(lines[0])
    if opening is None:
        return text, None
    fence = opening["fence"]
    closing = re.compile(rf" {{0,3}}{fence}{fence[0]}*[ \t]*$")
    ends = [number for number, line in enumerate(lines) if number and closing.match(line)]
    if ends and ends != [len(lines) - 1]:
        return text, None
    inner = lines[1 : ends[0] if ends else None]
    indent = re.compile(rf"^ {{0,{len(opening['indent'])}}}")
    return "\n".join(indent.sub("", line) for line in inner), opening["language"] or None


def names_python(source: str) -> bool:
    """Whether the first line of a source is ``python`` alone, above other code.

    As Python it would be a variable, whose value nobody would see there.
    """
    first, _, rest = source.lstrip("\n").partition("\n")
    code = (line.strip() for line in rest.split("\n"))
    return first.strip().lower() in _PYTHON_NAMES and any(
        line and not line.startswith("#") for line in code
    )


def plain_code(source: str, language: str | None = None) -> str:
    """The code of a code cell in ``language`` (None: not known), without a fence around it and
    without a first line that names Python."""
    code, named = unfenced(source)
    if (language or named or "python").lower() in _PYTHON_NAMES and names_python(code):
        code = code.lstrip("\n").partition("\n")[2]
    return code


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
