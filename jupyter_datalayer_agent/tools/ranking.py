"""Ranks texts by their similarity to a message: BM25 on stems, without a model."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_K1, _B = 1.2, 0.5


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOP = _words(
    """a an and any are as at be been but by can could did do does doing for from had has have i if
    in into is it its just let like may me might my need now of off on onto or our out over please
    shall should so some such than that the their them then there these they this those to too up
    us was we were want what when where which while will with would you your
    bitte das dem den der des die ein eine einen einer es fur ich im ist kann mein meine mir mit
    mochte und von wie will zu zum zur
    au aux avec ce ces cette dans de du est et j je l la le les ma mes moi mon pour que qui sur un
    une veux
    con el en esta este los las mi para por quiero se uno y"""
)
_SUFFIX = re.compile(r"(?:ations?|ings?|ers?|ed|es|s|e|en|n)$")


_ANYWHERE = _words(
    """notebook notebooks data dataset file files code python table column columns row rows run show
    make create write new use using get add all first last value values number name open read
    change different work one two"""
)
"""Words of most messages in a notebook, which say little about what is wanted."""


@dataclass(frozen=True)
class Ranked:
    """A text by its key. ``confidence``, 0 to 1, is the share of the message's weight that the text
    has; terms that no text has count fully against it, common words little. ``distinctive`` is the
    number of shared terms that are not common words."""

    key: str
    score: float
    confidence: float
    distinctive: int


class Ranking:
    """BM25 over a few short texts, prepared once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._terms = {key: Counter(terms(text)) for key, text in texts.items()}
        sizes = [sum(counts.values()) for counts in self._terms.values()]
        self._average = sum(sizes) / len(sizes) if sizes else 1.0
        self._frequencies = Counter(term for counts in self._terms.values() for term in counts)

    def rank(self, message: str, *, by_common: bool = False) -> list[Ranked]:
        """The texts that share a term with the message, best first; with ``by_common`` also those
        that share only common words."""
        asked = list(dict.fromkeys(terms(message)))
        weight = sum(map(self._idf, asked))
        ranked = []
        for key, counts in self._terms.items():
            found = [term for term in asked if term in counts]
            distinctive = sum(term not in _COMMON for term in found)
            if distinctive or (by_common and found):
                score = sum(self._score(term, counts) for term in found)
                confidence = sum(map(self._idf, found)) / weight
                ranked.append(Ranked(key, score, confidence, distinctive))
        return sorted(ranked, key=lambda each: -each.score)

    def _idf(self, term: str) -> float:
        if term in _COMMON:
            return _COMMON_WEIGHT
        among = self._frequencies[term]
        return 1 + math.log(1 + (len(self._terms) - among + 0.5) / (among + 0.5))

    def _score(self, term: str, counts: Counter[str]) -> float:
        size = sum(counts.values()) / self._average
        often = counts[term]
        return self._idf(term) * often * (_K1 + 1) / (often + _K1 * (1 - _B + _B * size))


def terms(text: str) -> list[str]:
    """The stems of a text's words: in lower case, without accents and common endings."""
    folded = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(each for each in folded if not unicodedata.combining(each))
    words: Sequence[str] = re.findall(r"[a-z][a-z0-9+#]*|\d+", plain)
    return [stem(word) for word in words if word not in _STOP]


def stem(word: str) -> str:
    """The word without a common ending, where enough of it is left."""
    if len(word) <= 4:
        return word
    short = _SUFFIX.sub("", word)
    return short if len(short) >= 4 else word


_COMMON = frozenset(stem(word) for word in _ANYWHERE)
_COMMON_WEIGHT = 0.3
