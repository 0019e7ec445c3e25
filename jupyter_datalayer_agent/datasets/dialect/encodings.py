"""Which encoding the words of a text have that is not Unicode, as far as it can be known."""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ...opening import opened
from .file import EncodingScan, wide_encoding

# How well words read in the languages of the single-byte encodings.
#
# Pairs of letters are counted in the names of countries, languages, currencies, cities and months
# that CLDR has (``babel``). Runs in the server's environment only.


LANGUAGES = (
    *("af", "ar", "az", "be", "bg", "bs", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu"),
    *("fa", "fi", "fr", "gl", "he", "hr", "hu", "is", "it", "lt", "lv", "mk", "nb", "nl", "pl"),
    *("pt", "ro", "ru", "sk", "sl", "sq", "sr", "sv", "th", "tr", "uk", "vi"),
)
_FIELDS = ("territories", "languages", "currencies", "months", "days", "time_zones", "scripts")
_WORD = re.compile(r"[^\W\d_]+")
_BETWEEN = re.compile(r"[\x00-@\[-`{-\x7f]+")
"""What is between words, and the same in all of the encodings."""
_RARE = -12.0
"""The logarithm of the probability of a character that no language has there."""
_WRONG = 2 * _RARE
"""That of a sign that words do not have there, as a letter has two neighbours."""
_SIGN = -5.0
_CAPITAL = -0.5
_FOREIGN = -6.0
_MOST_WORDS = 400
IDEOGRAPH = -8.0
_SMOOTHING = 0.02
_ENDINGS = {
    "it": "è più già può perché città così sarà però giù né caffè ciò università lunedì qualità "
    "metà società libertà papà sì tivù là comò varietà tribù lì farò martedì età tè"
}
"""Words of a language whose names have few of its letters; each counts for ten."""
_UNITS = ("m²", "m³", "M²")
_CEDILLAS = str.maketrans("șțȘȚ", "şţŞŢ")
"""CLDR writes Romanian with commas, which Windows-1250 does not have."""


def likelihood(text: str) -> float:
    """The logarithm of the probability of the words of a text that are not ASCII, in the language
    in which they are the likeliest; a few words may have another one."""
    text = unicodedata.normalize("NFC", text)
    distinct = dict.fromkeys(each for each in _BETWEEN.split(text) if not each.isascii())
    words = list(distinct)[:_MOST_WORDS]
    other = 0.0
    languages = [0.0] * len(LANGUAGES)
    for word in words:
        if any(map(_is_ideograph, word)):
            other += sum(_of_ideograph(word, place) for place in range(len(word)))
            continue
        other += sum(_of_sign(word, place) for place in range(len(word)))
        each = _in_languages(word)
        least = max(each) + _FOREIGN
        languages = [sum_ + max(own, least) for sum_, own in zip(languages, each, strict=True)]
    return other + max(languages)


def _in_languages(word: str) -> list[float]:
    letters = "".join(each if _is_letter(each) else " " for each in word.lower())
    pairs = [pair for part in letters.split() for pair in itertools.pairwise(f" {part} ")]
    return [sum(_pairs(name).get(pair, _RARE) for pair in pairs) for name in LANGUAGES]


def _is_letter(character: str) -> bool:
    return character.isalpha() or unicodedata.category(character)[0] == "M"


def _is_ideograph(character: str) -> bool:
    return unicodedata.category(character) == "Lo" and (
        "\u3040" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3"
    )


def _of_ideograph(word: str, place: int) -> float:
    """The same in a word with Chinese, Japanese or Korean characters, whatever they say."""
    character = word[place]
    if _is_ideograph(character):
        beside = word[max(place - 1, 0) : place] + word[place + 1 : place + 2]
        return _WRONG if any(each.isascii() and each.isalpha() for each in beside) else IDEOGRAPH
    if character.isascii() or unicodedata.category(character)[0] in "PZ":
        return _SIGN
    return _WRONG


def _of_sign(word: str, place: int) -> float:
    """The same of a character that is no letter of a language, and of a capital within a word."""
    sign = word[place]
    before, after = word[place - 1 : place], word[place + 1 : place + 2]
    if _is_letter(sign):
        capital = sign.isupper() and before.isalpha()
        return (_CAPITAL if before.isupper() else _RARE) if capital else 0.0
    kind = unicodedata.category(sign).replace("Sc", "So" if sign == "¤" else "Sc")
    if before.isalpha() and after.isalpha():
        usual = sign in "’‘-–—·"
    elif before.isalpha():
        usual = kind in ("Pf", "Pd", "Zs", "Sc") or sign in "…“‘®™" or before + sign in _UNITS
    elif after.isalpha():
        usual = kind in ("Pi", "Ps", "Pd", "Zs", "Sc") or sign in "¿¡°©"
    else:
        usual = kind[0] in "PZ" or kind in ("Sc", "No") or sign in "°ªº×±®©™§"
    return _SIGN if usual else _WRONG


@cache
def _pairs(name: str) -> dict[tuple[str, str], float]:
    """The logarithm of the probability of each letter after another, in a language."""
    from babel import Locale

    locale = Locale.parse(name)
    counts: Counter[tuple[str, str]] = Counter()
    for field in _FIELDS:
        for text in _texts(getattr(locale, field)):
            for word in _WORD.findall(text.translate(_CEDILLAS)):
                counts.update(itertools.pairwise(f" {word.lower()} "))
    for word in _ENDINGS.get(name, "").split() * 10:
        counts.update(itertools.pairwise(f" {word} "))
    first: Counter[str] = Counter()
    for (letter, _), number in counts.items():
        first[letter] += number
    letters = {letter for pair in counts for letter in pair}
    known = {}
    for one in letters:
        total = first[one] + _SMOOTHING * len(letters)
        for other in letters:
            share = (counts[one, other] + _SMOOTHING) / total
            known[one, other] = max(math.log(share), _RARE)
    return known


def _texts(values: Any) -> Iterator[str]:
    if isinstance(values, str):
        yield values
    elif hasattr(values, "values"):
        for value in values.values():
            yield from _texts(value)


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


# The encoding of a text file by its beginning, before the whole of it is read.


HEAD_BYTES = 256 * 1024


def head_of(file: Path, encoding: str | None = None, root: str | None = None) -> str | None:
    """The text at the beginning, in whole lines; None if its encoding is neither given nor
    certain. With a ``root``, the file has to be in that directory."""
    head = _head(file, root)
    known = wide_encoding(head)
    if known is None:
        scan = _scanned(head)
        known = "utf-8" if scan.is_utf8 and not (encoding and head.isascii()) else encoding
        if known is None:
            found = candidates(b"\n".join(scan.words))
            if not certain(found):
                return None
            known = found[0].encoding
    return head.decode(known, errors="replace").lstrip("\ufeff")


def encoding_problem(file: Path, shown: str) -> str | None:
    """Why the encoding has to be given, with the choices; None if it does not."""
    head = _head(file)
    if wide_encoding(head) is not None or (scan := _scanned(head)).is_utf8:
        return None
    found = candidates(b"\n".join(scan.words))
    return None if certain(found) else uncertain(shown, found)


def uncertain(shown: str, found: list[Candidate]) -> str:
    """That none of the encodings is certain."""
    choices = "; ".join(each.label for each in found)
    return (
        f"The encoding of {shown} is not certain. Choose the one in which its words are right, "
        f"and give it as encoding: {choices}."
    )


def _scanned(head: bytes) -> EncodingScan:
    scan = EncodingScan()
    scan.feed(head)
    scan.feed(b"", final=True)
    return scan


def _head(file: Path, root: str | None = None) -> bytes:
    with opened(file, root) as found:
        head = found.read(HEAD_BYTES)
        whole = not found.read(1)
    return head if whole or b"\n" not in head else head[: head.rfind(b"\n") + 1]
