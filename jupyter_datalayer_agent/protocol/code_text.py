"""Code as models write it: in a Markdown fence, or below a line that names its language."""

from __future__ import annotations

import re

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
