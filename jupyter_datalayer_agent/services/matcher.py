"""Answers to questions by matching what a message says with what may answer them: no model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from .action import ActionContext
from .questions import Answer, Question

_QUOTED = re.compile(r"[“\"«„]([^“”\"«»„]+)[”\"»“]|(?<!\w)['‘`]([^'‘’`]+)['’`](?!\w)")
_CALLED = re.compile(
    r"\b(?:called|named|namens|genannt|nomm[ée]e?|appel[ée]e?|llamad[oa])\s+([\w./-]*\w)", re.I
)
_PATH = re.compile(r"[\w.~/\\-]*\w\.[A-Za-z0-9]{1,8}\b")
_BETWEEN = r"[\W_]+"
_NOT = re.compile(
    r"\b(?:not?|never|without|except|but not|instead of|rather than|nicht|kein\w*|ohne|statt|pas"
    r"|sans|sauf|sin|excepto)\s+(?:\w+\s+){0,2}$",
    re.I,
)


class Matcher:
    """Finds what is nearly sure: a choice that the message has, a file that it names, a text in
    quotes. Where two answers are as good, there is none."""

    def __init__(self, context: ActionContext) -> None:
        self._context = context

    async def fill(
        self, questions: Sequence[Question], message: str, known: Mapping[str, Any]
    ) -> dict[str, Answer]:
        """See ``Filler``."""
        found: dict[str, Answer] = {}
        for question in questions:
            answer = await self._answer(question, message, questions)
            if answer is not None:
                found[question.name] = answer
        return found

    async def _answer(
        self, question: Question, message: str, questions: Sequence[Question]
    ) -> Answer | None:
        if question.kind in ("data", "notebook", "path"):
            return await self._file(question, message)
        if question.options is not None:
            return _chosen(question, message)
        if question.kind == "new-path":
            return _new_path(question, message)
        if question.kind == "name":
            return _named(message)
        if question.type == "number":
            return _number(question, message, questions)
        return None

    async def _file(self, question: Question, message: str) -> Answer | None:
        every = (
            [str(each.value) for each in question.options]
            if question.options is not None
            else await self._context.files()
        )
        files = [
            each
            for each in every
            if not question.suffixes or each.lower().endswith(question.suffixes)
        ]
        if question.kind == "notebook":
            files = [each for each in files if each.lower().endswith(".ipynb")]
        active = self._context.notebook
        named = [(each, place) for each in files if (place := _place_of(each, message))]
        most = max((len(place) for _, place in named), default=0)
        best = [(each, place) for each, place in named if len(place) == most]
        # Of several files of that name: the one that is active, else the one at the path itself.
        for only in ([e for e in best if e[0] == active], [e for e in best if e[0] == e[1]], best):
            if len(only) == 1:
                return Answer(*only[0])
        if question.kind == "notebook" and not best and active is not None:
            return Answer(active, "the active notebook")
        return None


def plain(text: str) -> str:
    """In lower case, without accents; each character stays in its place."""
    folded = []
    for each in text.lower():
        base = unicodedata.normalize("NFKD", each)[0]
        folded.append(base if len(each) == 1 else each)
    return "".join(folded)


def _place_of(path: str, message: str) -> str:
    """The text by which a message names a file: its path, its name; else nothing."""
    text = plain(message)
    for name in (path, path.rpartition("/")[2]):
        match = re.search(rf"(?<![\w/.-]){re.escape(plain(name))}(?![\w/])", text)
        if match:
            return message[match.start() : match.end()]
    return ""


def _chosen(question: Question, message: str) -> Answer | None:
    """The option, or for a list of them the options, that the message has and does not exclude."""
    assert question.options is not None
    text = plain(message)
    spans: list[tuple[int, int, Any]] = []
    for option in question.options:
        for name in {option.text, str(option.value)}:
            words = [re.escape(each) for each in re.findall(r"[^\W_]+", plain(name))]
            if not words:
                continue
            for match in re.finditer(rf"(?<!\w){_BETWEEN.join(words)}(?!\w)", text):
                if not _NOT.search(text[: match.start()]):
                    spans.append((match.start(), match.end(), option.value))
    # Of "Excel" and "Excel workbook" at one place the longer one is meant.
    outer = [
        span
        for span in spans
        if not any(o[0] <= span[0] and span[1] <= o[1] and o[:2] != span[:2] for o in spans)
    ]
    # By text: a value may be a list or an object.
    values: dict[str, tuple[Any, str]] = {}
    for start, end, value in sorted(outer, key=lambda span: span[:2]):
        values.setdefault(repr(value), (value, message[start:end]))
    found = list(values.values())
    if question.type == "many" and found:
        return Answer([value for value, _ in found], ", ".join(text for _, text in found))
    return Answer(*found[0]) if len(found) == 1 else None


def _named(message: str) -> Answer | None:
    quoted = [first or second for first, second in _QUOTED.findall(message)]
    names = list(dict.fromkeys(quoted or _CALLED.findall(message)))
    return Answer(names[0], names[0]) if len(names) == 1 else None


def _new_path(question: Question, message: str) -> Answer | None:
    """A path that the message names after "to", "as" or "into", or with the right suffix."""
    paths = _PATH.findall(message)
    if question.suffixes:
        paths = [each for each in paths if each.lower().endswith(question.suffixes)]
    after = [
        each
        for each in paths
        if re.search(
            rf"\b(?:to|as|into|called|named|nach|als|vers|en|como|a)\s+[`'\"]?{re.escape(each)}",
            message,
            re.I,
        )
    ]
    names = list(dict.fromkeys(after))
    return Answer(names[0], names[0]) if len(names) == 1 else None


def _number(question: Question, message: str, questions: Sequence[Question]) -> Answer | None:
    """The number beside a word of the prompt, or the only number for the only such question."""
    number = r"(?<![\w.])(\d+(?:[.,]\d+)?)(?![\w.]*\w)"
    text = plain(message)
    for word in re.findall(r"[^\W\d_]{3,}", plain(question.prompt)):
        stem = re.escape(word[: max(3, len(word) - 1)])
        for pattern in (rf"{number}\s*(?:\w+\s+)?{stem}", rf"{stem}\w*\W+(?:\w+\W+)?{number}"):
            match = re.search(pattern, text)
            if match:
                return _as_number(match[1], message[match.start() : match.end()].strip(), question)
    return None


def _as_number(text: str, source: str, question: Question) -> Answer:
    value = float(text.replace(",", "."))
    whole = question.schema.get("type") == "integer" or value.is_integer()
    return Answer(int(value) if whole else value, source)
