"""The letters and pairs of letters of texts: what queries of one or two characters are found by.

The trigram index cannot find these. One row for each block of ``BLOCK`` texts says which characters
and pairs stand anywhere in the block, so that a block that is looked through holds at least one hit
(unless that was deleted since).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import pairwise

BLOCK = 64
"""Texts in a block, by their numbers: block 1 has the texts 1 to 64."""


def fold(text: str) -> str:
    """The text in lower case, with every character where it was."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := each.lower()) == 1 else each for each in text)


def spellings(query: str) -> tuple[str, ...]:
    """The query as given, and with its accents apart or joined: text may have either."""
    forms = (query, unicodedata.normalize("NFC", query), unicodedata.normalize("NFD", query))
    return tuple(dict.fromkeys(fold(form) for form in forms))


def gram(text: str) -> str:
    """One or two characters as a word that the index keeps as it is."""
    return "x".join(f"{ord(each):x}" for each in text)


def grams(texts: Iterable[str]) -> str:
    """The characters and pairs of a block's texts, as words; none with white space."""
    found: set[str] = set()
    for text in texts:
        folded = fold(text)
        found.update(folded)
        found.update(map("".join, pairwise(folded)))
    return " ".join(gram(each) for each in found if not any(map(str.isspace, each)))
