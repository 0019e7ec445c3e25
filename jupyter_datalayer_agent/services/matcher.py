"""Answers to questions by what a message has exactly: no model, and no reading of sentences.

A message has values in forms that are the same in every language: a choice, the name of a file
that is there, a text in quotes, a number, and ``name: value``. Where two answers are as good, there
is none. What is not found is asked for.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..protocol.limits import compared
from ..workflows.templates.data_files import data_files_read
from .action import ActionContext
from .questions import Answer, Question

_QUOTED = re.compile(r"[“\"«„]([^“”\"«»„\n]+)[”\"»“]|(?<!\w)['‘`]([^'‘’`\n]+)['’`](?!\w)")
_PATH = re.compile(r"[\w.~/\\-]*\w\.[A-Za-z0-9]{1,8}\b")
_NUMBER = r"(?<![\w.])(\d{1,3}(?:,\d{3})+|\d+(?:[.,]\d+)?)(?![\w.]*\w)"
# What pip takes: "polars", "polars[all]>=1.0".
_PACKAGE = re.compile(
    r"[A-Za-z0-9](?:[\w.-]*\w)?(?:\[[\w, .-]*\])?((?:\s*[=!<>~]=?=?\s*[\w.*]+,?)*)"
)
_BETWEEN = r"[\W_]+"
_READ = ("data", "notebook", "path", "remote-path")
_DATA_ENDS = frozenset({"csv", "tsv", "tab", "parquet", "pq", "xlsx", "xlsm", "xls", "json"}) | {
    "jsonl",
    "ndjson",
}
# Words that may be any parameter's: "type: x" gives a value to none.
_OF_NO_ONE = frozenset({"value", "text", "title", "id", "type", "kind", "key"})


@lru_cache(maxsize=64)
def plain(text: str) -> str:
    """In lower case, without accents; each character stays in its place."""
    folded = []
    for each in text.lower():
        base = unicodedata.normalize("NFKD", each)[0]
        folded.append(base if len(each) == 1 else each)
    return "".join(folded)


class Matcher:
    """Finds what a message has exactly. ``is_arguments``: it is all that follows an action's name,
    so that a word alone may be a package."""

    def __init__(self, context: ActionContext, *, is_arguments: bool = False) -> None:
        self._context = context
        self._is_arguments = is_arguments

    async def fill(
        self, questions: Sequence[Question], message: str, known: Mapping[str, Any]
    ) -> dict[str, Answer]:
        """See ``Filler``."""
        message = compared(message)
        found: dict[str, Answer] = {}
        rest = message
        # What is said of one parameter is said of no other.
        asked = {each.name for each in questions}
        for name, value in known.items():
            if name not in asked and isinstance(value, str) and value:
                rest = re.sub(rf"(?<![\w./-]){re.escape(value)}(?![\w/-])", " ", rest)
        for question in questions:
            named = _named_value(question, message)
            if named is not None:
                answer, (start, end) = named
                found[question.name] = answer
                rest = rest[:start] + " " * (end - start) + rest[end:]
        found = {**await self._files_in_order(questions, rest), **found}
        for question in questions:
            if question.name not in found:
                matched = await self._answer(question, rest, questions)
                if matched is not None:
                    found[question.name] = matched
        return found

    async def without_message(
        self, questions: Sequence[Question], known: Mapping[str, Any]
    ) -> dict[str, Answer]:
        """What is nearly sure of a form that was opened without a message: the notebook."""
        notebooks = [
            each
            for each in questions
            if each.kind == "notebook" and each.type != "many" and each.name not in known
        ]
        return await self.fill(notebooks, "", known)

    async def missing_file(self, question: Question, message: str) -> str | None:
        """The only data file that the message names and that is not there."""
        if question.kind != "data":
            return None
        message = compared(message)
        files = await self._context.files()
        missing = [
            each
            for each in _paths(message)
            if _is_data(each) and not any(_place_of(file, each) for file in files)
        ]
        return missing[0] if len(missing) == 1 else None

    async def _answer(
        self, question: Question, message: str, questions: Sequence[Question]
    ) -> Answer | None:
        if question.kind in ("data", "notebook", "path"):
            return await self._file(question, message)
        if question.kind == "remote-path":
            if question.options is not None:
                return await self._file(question, message)
            return _only(_quoted(message)) or _only_path(message)
        if question.kind == "date-column":
            return None  # a column that the message has may be any of them
        if question.options is not None:
            return _chosen(question, message)
        if question.kind == "new-path":
            reads = any(each.kind in _READ for each in questions)
            return _new_path(question, message, await self._context.files(), reads)
        if question.kind == "packages":
            # A text in quotes is rather a name, where one is asked for.
            is_name = any(each.kind == "name" for each in questions)
            return _packages([] if is_name else _quoted(message), message, self._is_arguments)
        if question.type == "number":
            return _number(question, message)
        return _only(_quoted(message)) if question.kind == "name" else None

    async def _files_in_order(
        self, questions: Sequence[Question], message: str
    ) -> dict[str, Answer]:
        """Several data files are asked for: those that the message names, in its order."""
        files = [each for each in questions if each.kind == "data"]
        if len(files) < 2:
            return {}
        named = _in_order(await self._candidates(files[0]), message)
        return dict(zip((each.name for each in files), named, strict=False))

    async def _candidates(self, question: Question) -> list[str]:
        every = (
            [str(each.value) for each in question.options]
            if question.options is not None
            else await self._context.files()
        )
        return [
            each
            for each in every
            if not question.suffixes or each.lower().endswith(question.suffixes)
        ]

    async def _file(self, question: Question, message: str) -> Answer | None:
        files = await self._candidates(question)
        if question.kind == "notebook":
            files = [each for each in files if each.lower().endswith(".ipynb")]
        active = self._context.notebook
        named = [(each, place) for each in files if (place := _place_of(each, message))]
        # Of "cars.csv" and "big/cars.csv" at one place the longer one is meant.
        best = [e for e in named if not any(e[1] != p and e[1] in p for _, p in named)]
        # Of several files of that name: the one that is active, else the one at the path itself.
        for only in ([e for e in best if e[0] == active], [e for e in best if e[0] == e[1]], best):
            if len(only) == 1:
                return Answer(*only[0])
        if best:
            return None
        if question.kind == "notebook" and active is not None:
            return Answer(active, "the active notebook")
        if question.kind == "data" and not any(map(_is_data, _paths(message))):
            return await self._only_data(files)
        return None

    async def _only_data(self, files: Sequence[str]) -> Answer | None:
        """The data file that is meant where none is named: the only one that the active notebook
        reads, else the only one beside it, else the only one."""
        if len(files) == 1:
            return Answer(files[0], "the only data file")
        active = self._context.notebook
        folder = posixpath.dirname(active or "")
        if active is not None:
            sources = [text for kind, text in await self._context.sources() if kind == "code"]
            read = data_files_read(sources, folder, files)
            if read:
                return Answer(read[0], "read by the active notebook") if len(read) == 1 else None
        beside = [each for each in files if posixpath.dirname(each) == folder]
        where = "beside the notebook" if active is not None else "in the top folder"
        return Answer(beside[0], f"the only data file {where}") if len(beside) == 1 else None


# -- ``name: value`` -------------------------------------------------------------------------------


def _named_value(question: Question, message: str) -> tuple[Answer, tuple[int, int]] | None:
    """The value that the message gives by the parameter's title, its name or what else it is
    called, and where: "container: reports", 'container "old reports"', "container=x"; None where it
    gives several, or one that is not to be chosen."""
    text = plain(message)
    found: dict[str, tuple[Answer, tuple[int, int]]] = {}
    for word in _words(question):
        for start, end, value in _spans(word, text, message):
            answer = Answer(value, message[start:end])
            if question.options is not None:
                chosen = _chosen(question, value)
                if chosen is None:
                    continue
                answer = Answer(chosen.value, message[start:end])
            elif question.type == "number":
                number = _number(question, f"{question.prompt} {value}")
                if number is None:
                    continue
                answer = Answer(number.value, message[start:end])
            elif question.type not in ("text", "one"):
                continue
            found.setdefault(repr(answer.value), (answer, (start, end)))
    return next(iter(found.values())) if len(found) == 1 else None


def _words(question: Question) -> Iterable[str]:
    words = [question.prompt, question.name.replace("_", " "), *question.also_called]
    folded = dict.fromkeys(" ".join(plain(each).split()) for each in words)
    return [each for each in folded if each and each not in _OF_NO_ONE]


def _spans(word: str, text: str, message: str) -> Iterator[tuple[int, int, str]]:
    """Where the text gives a value: its begin and end with the word, and the value."""
    named = r"(?<!\w)" + r"\s+".join(map(re.escape, word.split()))
    for pattern in (
        rf"{named}(?:\s*[:=])?\s*(?:{_QUOTED.pattern})",
        rf"(?:{_QUOTED.pattern})\s+{named}(?!\w)",
        rf"{named}\s*[:=]\s*([\w./@-]*\w)(?![\w“\"«„'‘`])",
    ):
        for match in re.finditer(pattern, text):
            group = next(n for n, each in enumerate(match.groups(), 1) if each is not None)
            yield (*match.span(), message[slice(*match.span(group))].strip())


# -- files -----------------------------------------------------------------------------------------


def _paths(message: str) -> list[str]:
    return list(dict.fromkeys(_PATH.findall(message)))


def _is_data(path: str) -> bool:
    return path.rpartition(".")[2].lower() in _DATA_ENDS


def _in_order(files: Sequence[str], message: str) -> list[Answer]:
    """The files that a message names by their path or name, in the order of the message; none where
    such a name is that of several."""
    found: dict[str, tuple[int, Answer]] = {}
    for path in files:
        place = _place_of(path, message)
        if place in found:
            return []
        if place:
            found[place] = (message.index(place), Answer(path, place))
    return [answer for _, answer in sorted(found.values(), key=lambda each: each[0])]


def _place_of(path: str, message: str) -> str:
    """The text by which a message names a file: its path, its name; else nothing."""
    text = plain(message)
    for name in (path, path.rpartition("/")[2]):
        match = re.search(rf"(?<![\w/.-]){re.escape(plain(name))}(?![\w/])", text)
        if match:
            return message[match.start() : match.end()]
    return ""


def _only_path(message: str) -> Answer | None:
    """The only path that the message names."""
    paths = _paths(message)
    # "2024/q 1.csv": not all of it is known to be the path.
    if len(paths) == 1 and not re.search(r"[/\\]\S*\s+$", message[: message.index(paths[0])]):
        return Answer(paths[0], paths[0])
    return None


def _new_path(question: Question, message: str, files: Sequence[str], reads: bool) -> Answer | None:
    """The only path that the message names, has the right suffix and is not there. Where a file is
    read (``reads``) and any suffix is right, one alone may be meant for that."""
    there = [place for each in files if (place := _place_of(each, message))]
    for place in sorted(there, key=len, reverse=True):
        message = message.replace(place, " ")
    new = _paths(message)
    if question.suffixes:
        new = [each for each in new if each.lower().endswith(question.suffixes)]
    elif reads and not there:
        return None
    return _only(new)


# -- what else is exact ----------------------------------------------------------------------------


def _quoted(message: str) -> list[str]:
    texts = (first or second for first, second in _QUOTED.findall(message))
    return [each for each in dict.fromkeys(text.strip() for text in texts) if each]


def _only(values: Sequence[str]) -> Answer | None:
    return Answer(values[0], values[0]) if len(values) == 1 else None


def _chosen(question: Question, message: str) -> Answer | None:
    """The option, or for a list of them the options, that the message has."""
    assert question.options is not None
    text = plain(message)
    spans: list[tuple[int, int, Any]] = []
    for option in question.options:
        for name in {option.text, str(option.value), *option.aliases}:
            words = [re.escape(each) for each in re.findall(r"[^\W_]+", plain(name))]
            if words:
                pattern = rf"(?<!\w){_BETWEEN.join(words)}(?!\w)"
                spans += [(*match.span(), option.value) for match in re.finditer(pattern, text)]
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


def _packages(quoted: Sequence[str], message: str, is_arguments: bool) -> Answer | None:
    """The packages that are in quotes or given with a version; of arguments also a single name, and
    names with commas between them."""
    parts = re.split(r"\s*,\s*(?=[A-Za-z])", message.strip().rstrip("."))
    if is_arguments and all(_PACKAGE.fullmatch(each) for each in parts):
        return Answer(["".join(each.split()) for each in parts], message.strip())
    quoted = [each for each in quoted if _PACKAGE.fullmatch(each)]
    versions = [match[0].rstrip(",") for match in _PACKAGE.finditer(message) if match[1]]
    found = list(dict.fromkeys([*quoted, *versions]))
    return Answer(["".join(each.split()) for each in found], ", ".join(found)) if found else None


def _number(question: Question, message: str) -> Answer | None:
    """The number beside a word of the prompt."""
    text = plain(message)
    if "percent" in plain(question.prompt) and (match := re.search(rf"{_NUMBER}\s*%", text)):
        return _as_number(match[1], match[0], question)
    for word in re.findall(r"[^\W\d_]{3,}", plain(question.prompt)):
        stem = re.escape(word[: max(3, len(word) - 1)])
        for pattern in (rf"{_NUMBER}\s*(?:\w+\s+)?{stem}", rf"{stem}\w*\W+(?:\w+\W+)?{_NUMBER}"):
            match = re.search(pattern, text)
            if match:
                return _as_number(match[1], message[match.start() : match.end()].strip(), question)
    return None


def _as_number(text: str, source: str, question: Question) -> Answer:
    grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+", text)
    value = float(text.replace(",", "" if grouped else "."))
    whole = question.schema.get("type") == "integer" or value.is_integer()
    return Answer(int(value) if whole else value, source)
