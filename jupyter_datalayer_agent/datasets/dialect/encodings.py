"""Which encoding the words of a text have that is not Unicode, as far as it can be known."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

NAMES = {
    "cp1252": "Windows-1252 (Western European)",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp1257": "Windows-1257 (Baltic)",
    "cp874": "Windows-874 (Thai)",
    "koi8_r": "KOI8-R (Cyrillic)",
    "gb18030": "GBK (simplified Chinese)",
    "big5": "Big5 (traditional Chinese)",
    "cp932": "Shift-JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "cp949": "EUC-KR (Korean)",
    "mac_roman": "Mac Roman",
    "cp850": "DOS 850 (Western European)",
}
"""The encodings that are considered, by Python's names, with names for users."""
_OLD = {"mac_roman", "cp850"}
_ALPHABETS = ("ARABIC", "CYRILLIC", "GREEK", "HEBREW", "THAI")
_CERTAIN = 0.15
_PREVIEW = 60
_MOST_CHOICES = 8


@dataclass(frozen=True)
class Candidate:
    """An encoding, how the words read in it, and how well that fits a language."""

    encoding: str
    preview: str
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
        score = scores.get(encoding, -1.0) - (encoding in _OLD) - _mixed(text)
        found.setdefault(text, Candidate(encoding, preview(text), score))
    return sorted(found.values(), key=lambda each: -each.score)[:_MOST_CHOICES]


def certain(found: list[Candidate]) -> bool:
    """Whether the first is clearly the likeliest."""
    if not found or found[0].score < 0:
        return False
    return len(found) == 1 or found[0].score - found[1].score >= _CERTAIN


def _mixed(text: str) -> float:
    """The share of words in which Latin letters stand beside those of another alphabet."""
    words = text.split()
    mixed = 0
    for word in words:
        letters = (unicodedata.name(letter, "").split(" ")[0] for letter in word)
        mixed += len({"LATIN", *_ALPHABETS} & set(letters)) > 1
    return mixed / max(len(words), 1)


def name_of(encoding: str) -> str:
    """The encoding for a user."""
    return NAMES.get(encoding, encoding.upper())


def preview(text: str) -> str:
    """The first of the words, in one line."""
    shown = ", ".join(dict.fromkeys(text.split("\n")))
    return f"{shown[: _PREVIEW - 1]}…" if len(shown) > _PREVIEW else shown
