"""A message's text, as it is compared with what may answer a question."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_EXCLUDED = re.compile(
    r"\b(?:not?|don['’]?t|never|without|except|but not|instead of|rather than|nicht|kein\w*|ohne"
    r"|statt|pas|sans|sauf|sin|excepto)\s+(?:\w+\s+){0,2}$",
    re.I,
)

_NEAR = 200
"""Characters before a word in which it may be excluded."""


@lru_cache(maxsize=64)
def plain(text: str) -> str:
    """In lower case, without accents; each character stays in its place."""
    folded = []
    for each in text.lower():
        base = unicodedata.normalize("NFKD", each)[0]
        folded.append(base if len(each) == 1 else each)
    return "".join(folded)


def is_excluded(before: str) -> bool:
    """Whether what follows this plain text is named as what is not meant: "without", "not the"."""
    return _EXCLUDED.search(before[-_NEAR:]) is not None
