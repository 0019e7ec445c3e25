"""Which encoding the words of a text have that is not Unicode, as far as it can be known."""

from __future__ import annotations

from dataclasses import dataclass

from .languages import IDEOGRAPH, likelihood

NAMES = {
    "cp1252": "Windows-1252 (Western European)",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp1257": "Windows-1257 (Baltic)",
    "cp1258": "Windows-1258 (Vietnamese)",
    "cp874": "Windows-874 (Thai)",
    "koi8_r": "KOI8-R (Cyrillic)",
    "iso8859_2": "ISO 8859-2 (Central European)",
    "iso8859_5": "ISO 8859-5 (Cyrillic)",
    "iso8859_15": "ISO 8859-15 (Western European)",
    "gb18030": "GBK (simplified Chinese)",
    "big5": "Big5 (traditional Chinese)",
    "cp932": "Shift-JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "cp949": "EUC-KR (Korean)",
    "mac_roman": "Mac Roman",
    "cp850": "DOS 850 (Western European)",
    "cp852": "DOS 852 (Central European)",
    "cp866": "DOS 866 (Cyrillic)",
}
"""The encodings that are considered, by Python's names, with names for users."""
_OLD = {"mac_roman", "cp850", "cp852", "cp866", "iso8859_5", "koi8_r"}
_WIDE = {"gb18030", "big5", "cp932", "euc_jp", "cp949"}
_RARELY = 7.0
"""By how much the logarithm of the probability of an old encoding is less."""
_CERTAIN = 8.0
"""By how much that of the right one is to be greater than that of any other."""
_CERTAIN_OF_WIDE = 0.15
_FEW = 5 * IDEOGRAPH
"""So few characters may be Chinese, Japanese and Korean alike."""
_PREVIEW = 60
_MOST_CHOICES = 8


@dataclass(frozen=True)
class Candidate:
    """An encoding, how the words read in it, the logarithm of the probability that they do, and
    how well ``charset-normalizer`` thinks that it fits."""

    encoding: str
    preview: str
    likelihood: float
    score: float

    @property
    def label(self) -> str:
        """As an option for a user: ``gb18030: 北京, 上海``."""
        return f"{self.encoding}: {self.preview}"


def candidates(words: bytes) -> list[Candidate]:
    """The encodings that words, one a line, may have, the likeliest first; of those in which they
    read the same, the most frequent one."""
    from charset_normalizer import from_bytes

    matches = from_bytes(
        words,
        cp_isolation=list(NAMES),
        threshold=1.0,
        preemptive_behaviour=False,
        enable_fallback=False,
    )
    scores = {
        encoding: each.coherence - each.chaos
        for each in matches
        for encoding in each.could_be_from_charset
    }
    found: dict[str, Candidate] = {}
    for encoding in NAMES:
        try:
            text = words.decode(encoding)
        except UnicodeDecodeError:
            continue
        if text not in found:
            probable = likelihood(text) - _RARELY * (encoding in _OLD)
            score = scores.get(encoding, -1.0)
            found[text] = Candidate(encoding, preview(text), probable, score)
    ranked = sorted(found.values(), key=lambda each: -each.likelihood)
    if ranked and ranked[0].encoding in _WIDE:
        # Which of these it is, letters alone do not say.
        ranked.sort(key=lambda each: (each.encoding not in _WIDE, -each.score))
    return ranked[:_MOST_CHOICES]


def certain(found: list[Candidate]) -> bool:
    """Whether the first is clearly the likeliest."""
    if not found:
        return False
    first, *others = found
    if first.encoding not in _WIDE:
        return all(first.likelihood - each.likelihood >= _CERTAIN for each in others)
    if first.score < 0 or first.likelihood > _FEW:
        return False
    return all(
        first.score - each.score >= _CERTAIN_OF_WIDE
        if each.encoding in _WIDE
        else first.likelihood - each.likelihood >= _CERTAIN
        for each in others
    )


def name_of(encoding: str) -> str:
    """The encoding for a user."""
    return NAMES.get(encoding, encoding.upper())


def preview(text: str) -> str:
    """The first of the words, in one line."""
    shown = ", ".join(dict.fromkeys(text.split("\n")))
    return f"{shown[: _PREVIEW - 1]}…" if len(shown) > _PREVIEW else shown
