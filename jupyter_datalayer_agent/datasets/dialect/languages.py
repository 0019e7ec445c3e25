"""How well words read in the languages of the single-byte encodings.

Pairs of letters are counted in the names of countries, languages, currencies, cities and months
that CLDR has (``babel``). Runs in the server's environment only.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

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
