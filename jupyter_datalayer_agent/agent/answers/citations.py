"""The numbers by which a synthesis cites answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...protocol.answers import CitedAnswer

CODE = re.compile(r"(`{3,}|~{3,}).*?(?:\1|\Z)|(`+)[^`].*?\2", re.DOTALL)
# The same ones that the page makes links of (``citations.ts``).
NUMBER = re.compile(r"(?<![\w\\])\[(\d{1,2})\](?![\w(:])", re.ASCII)


def with_cited(sources: Sequence[CitedAnswer], text: str) -> list[CitedAnswer]:
    """The answers, each with whether the text cites it: "[1]", "[1][2]" outside of code."""
    prose = CODE.sub(" ", text)
    numbers = {int(number) for number in NUMBER.findall(prose)}
    return [each.model_copy(update={"cited": each.number in numbers}) for each in sources]
