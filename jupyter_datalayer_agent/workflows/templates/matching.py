"""Matches a message to what needs no model: a workflow by its name, a close one, or the quality
report of a notebook.

Only a name starts a workflow, so the message must ask for nothing else; close ones are offered. A
message about something that exists (a cell, "the plot", "this notebook") matches none: workflows
write a new notebook.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ...protocol.compared import MOST_CHARACTERS
from ..template import Template
from . import phrases

THRESHOLD = 2
"""What a template must score to be close: one distinctive keyword, or a common one ("plot",
"notebook") and another sign, such as a data file."""
MARGIN = 1
"""The lead with which the best is offered alone."""
MOST = 2
"""The most that are offered; a message that is as close to more matches none."""


@dataclass(frozen=True)
class Match:
    """``asked``: the message names the one template; ``close``: it resembles these; ``quality``: it
    asks how good a notebook is."""

    kind: Literal["asked", "close", "quality", "nothing"]
    templates: tuple[Template, ...] = ()


NOTHING = Match("nothing")
PUNCTUATION = frozenset(",.;:?!")
_FILES = {
    "<notebook>": re.compile(r"\S+\.ipynb\b"),
    "<data>": re.compile(
        r"\S+\.(?:csv|tsv|tab|parquet|pq|xlsx?|jsonl|feather)(?:\.(?:gz|bz2|xz|zip|zst))?\b"
    ),
}


def match(message: str, templates: Iterable[Template]) -> Match:
    """Match a message."""
    if len(message) > MOST_CHARACTERS:
        return NOTHING
    words = split_words(message)
    sentence = " ".join(word for word in words if word not in PUNCTUATION)
    if not sentence or _changes_what_exists(sentence, words):
        return NOTHING
    if phrases.QUALITY.search(sentence):
        return Match("quality")
    known = list(templates)
    asked = [template for template in known if _asks_for(template, words)]
    if len(asked) == 1:
        return Match("asked", (asked[0],))
    close = _closest(known, words)
    return Match("close", close) if close else NOTHING


def split_words(text: str) -> list[str]:
    """The words in lower case and without accents; names of files as ``<data>``, ``<notebook>``;
    punctuation marks."""
    plain = unicodedata.normalize("NFKD", text.replace("’", "'").casefold())
    plain = "".join(each for each in plain if not unicodedata.combining(each))
    plain = plain.replace("n't", " not").replace("visualis", "visualiz")
    for name, pattern in _FILES.items():
        plain = pattern.sub(f" {name} ", plain)
    return re.findall(r"<(?:data|notebook)>|[^\W_]+|[,.;:?!]", plain)


def _changes_what_exists(sentence: str, words: Sequence[str]) -> bool:
    """Whether the message is negated, or about a cell or a change to something that exists."""
    if phrases.CELL.search(sentence) or phrases.NEGATION.search(sentence):
        return True
    return any(_is_one_of(word, phrases.CHANGES) for word in words)


def _is_one_of(word: str, stems: frozenset[str]) -> bool:
    return word in stems or any(f"{word[:end]}*" in stems for end in range(2, len(word) + 1))


# -- by name -------------------------------------------------------------------------------------


def _asks_for(template: Template, words: Sequence[str]) -> bool:
    """Whether the message only asks for the template: with words of asking before its name, and its
    subject after."""
    names = {tuple(split_words(template.name)), tuple(split_words(template.id.replace("-", " ")))}
    return any(
        _are_asking(words[:start], words[start + len(name) :])
        for name in names
        for start in _places(words, name)
    )


def _are_asking(before: Sequence[str], after: Sequence[str]) -> bool:
    if not all(word in phrases.ASKING for word in before):
        return False
    if after and after[0] not in phrases.AFTER_A_NAME and not after[0].startswith("<"):
        return False
    # "Run the data analysis notebook" means one that exists, "the … workflow" does not.
    definite = any(word in phrases.DEFINITE for word in before)
    made = any(word in phrases.MAKING for word in before)
    workflow = {"workflow", "template"}.intersection([*before, *after[:1]])
    return not definite or made or bool(workflow)


# -- what is close ---------------------------------------------------------------------------------


def _closest(templates: Sequence[Template], words: Sequence[str]) -> tuple[Template, ...]:
    scores = [(score, template) for template in templates if (score := _score(template, words))]
    best = max((score for score, _ in scores), default=0)
    near = [template for score, template in scores if best - score < MARGIN]
    return tuple(near) if best >= THRESHOLD and len(near) <= MOST else ()


def _score(template: Template, words: Sequence[str]) -> int:
    """The sum of keywords and other signs; 0 for a question, or a message about something that
    exists."""
    found = [
        (start, len(keyword), keyword)
        for keyword in (tuple(split_words(each)) for each in template.keywords)
        for start in _places(words, keyword)[:1]
    ]
    if not found:
        return 0
    first = min(start for start, _, _ in found)
    points = sum(_weight(keyword) for _, _, keyword in found)
    covered = {start + i for start, length, _ in found for i in range(length)}
    if _is_question(words, covered) or _means_what_exists(words, first, points):
        return 0
    names_data = any(word in phrases.DATA for word in words)
    makes = any(word in phrases.MAKING for word in words)
    if points < THRESHOLD and _needs_data(template) and not names_data:
        return 0
    return points + names_data + makes


def _weight(keyword: Sequence[str]) -> int:
    return 1 if " ".join(keyword) in phrases.COMMON else max(2, len(keyword) ** 2)


def _needs_data(template: Template) -> bool:
    data = template.parameters.model_fields.get("data")
    return data is not None and data.is_required()


def _is_question(words: Sequence[str], covered: set[int]) -> bool:
    """Whether it asks a question; a keyword such as "how often" is no question."""
    if words[0] in phrases.FIRST_OF_QUESTION and 0 not in covered:
        return True
    return any(word in phrases.WHY for word in words)


def _means_what_exists(words: Sequence[str], first: int, points: int) -> bool:
    """Whether it is about "the plot", "this notebook", or asks to explain or add something before
    the first keyword. Where a thing is to be done, as in "in this notebook", is no such thing."""
    if any(_is_one_of(word, phrases.EXPLAINING) for word in words[:first]):
        return True
    for place, word in enumerate(words):
        if word not in phrases.DEFINITE:
            continue
        where = place > first and words[place - 1] in phrases.PREPOSITIONS and points >= THRESHOLD
        if not where and any(
            _is_one_of(each, phrases.THINGS) for each in words[place + 1 : place + 4]
        ):
            return True
    return False


def _places(words: Sequence[str], phrase: Sequence[str]) -> list[int]:
    """Where the phrase begins; words match by their beginnings ("plots" for "plot"), those of up to
    three letters as a whole."""
    return [
        start
        for start in range(len(words) - len(phrase) + 1)
        if phrase and all(_meets(words[start + i], part) for i, part in enumerate(phrase))
    ]


def _meets(word: str, part: str) -> bool:
    return word == part or (len(part) >= 4 and word.startswith(part))
