"""Answers to questions by matching what a message says with what may answer them: no model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..protocol.limits import compared
from ..workflows.templates.parameters import target_in
from .action import ActionContext
from .questions import Answer, Question

# A message's text, as it is compared with what may answer a question.


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


# Values that a message names by the word for their parameter: "the container reports", "reports
# as the branch", "im Container „reports“". No model, and nothing that is not nearly sure.


# Words of any parameter: "a file name", "the text file".
_OF_NO_ONE = frozenset({"name", "value", "text", "title", "id", "type", "kind", "key"})
_NAMING = (
    r"(?:called|named|namens|genannt|nommee?|appelee?|llamad[oa]"
    r"|(?:with|by) the name(?: of)?|mit (?:dem )?namen?|avec le nom|con el nombre)"
)
_QUOTE = r"[“\"«„'‘`]\s*([^“”\"«»„'‘’`\n]+?)\s*[”\"»“'’`]"
_VALUE = r"(\w(?:[\w./@-]*\w)?)"
# Words that may follow such a value: "the container reports in Azure", "… reports hoch".
_FOLLOWS = re.compile(
    r"in|into|to|from|on|of|for|as|at|by|with|and|or|but|then|please|now|via|using|too|also|if"
    r"|when|before|after|instead|within|under|again|im|ins|aus|von|vom|zu|zum|zur|nach|mit|als"
    r"|und|oder|dann|bitte|jetzt|auf|hoch|herunter|runter|hinauf|fur|loschen|leeren|anlegen"
    r"|erstellen|hochladen|herunterladen|runterladen|kopieren|auflisten|anzeigen|dans|de|du"
    r"|des|vers|au|aux|en|et|ou|puis|maintenant|comme|pour|avec|sur|svp|s|del|al|hacia|y|o"
    r"|luego|por|para|con|como|ahora"
)
# What follows the word for a parameter and is no value of it: "the container that …", "container
# names", "den Container öffnen", "le conteneur privé".
_NO_VALUE = re.compile(
    r"the|an|my|our|your|his|her|their|this|that|these|those|it|its|is|are|was|were|be|has"
    r"|have|had|contains|holds|which|who|whose|where|what|how|why|so|there|here|only|itself"
    r"|alone|not|no|first|last|next|new|old|empty|full|private|public|same|other|names?|lists?"
    r"|size|level|access|contents?|type|images?|registry|apps?|instances?|der|die|das|den|dem"
    r"|ist|sind|hat|nicht|neu|leer|offnen|umbenennen|entfernen|zeigen|le|la|les|un|une|qui|que"
    r"|est|privee?|vide|nouveau|el|los|las|una|es|privad[oa]|vacio|nuevo"
)
# "… den Container reports an."
_END = re.compile(r"(?:\s+(?:an|ab|ein|um))?\s*(?:[.,;:!?)]|$)")
_VERB = re.compile(r"\w+(?:laden|legen|stellen|zeigen|listen|benennen|schreiben)")
_INDEFINITE = re.compile(
    r"(?:\ba|\ban|\bany|\bsome|\banother|\bevery|\beach|\bno|\bnew|\bein(?:e[nmrs]?)?|\bune?|\buna)"
    r"\s+$"
)


def named_value(question: Question, message: str) -> Answer | None:
    """The value that the message names for a text by its title, its name or what else it is called;
    none where it names several."""
    text = plain(message)
    found: dict[str, Answer] = {}
    for word in _words(question):
        for start, end, value in _spans(word, text, may_be_new=question.kind == "name"):
            if not is_excluded(text[:start]):
                named = message[slice(*value)]
                found.setdefault(named, Answer(named, message[start:end]))
    return next(iter(found.values())) if len(found) == 1 else None


def _words(question: Question) -> Iterable[str]:
    words = [question.prompt, question.name.replace("_", " "), *question.also_called]
    folded = dict.fromkeys(" ".join(plain(each).split()) for each in words)
    return [each for each in folded if each and each not in _OF_NO_ONE]


def _spans(word: str, text: str, *, may_be_new: bool) -> Iterator[tuple[int, int, tuple[int, int]]]:
    """Where the text names a value: its begin and end with the word, and those of the value."""
    word = r"(?<!\w)" + r"\s+".join(map(re.escape, word.split()))
    for pattern in (
        rf"{word}(?:\s+{_NAMING})?\s*[:=]?\s*{_QUOTE}",
        rf"{_QUOTE}\s+{word}(?!\w)",
        rf"{word}\s+{_NAMING}\s+{_VALUE}",
        # "the sales_2024 container"; "the old container" may be any.
        rf"(?<![\w./-])((?=[a-z]\w*[\d_])\w+)\s+{word}(?!\w)",
    ):
        for match in re.finditer(pattern, text):
            yield (*match.span(), match.span(1))
    for match in re.finditer(rf"{word}(?:\s+|\s*[:=]\s*){_VALUE}", text):
        indefinite = not may_be_new and _INDEFINITE.search(text[: match.start()])
        if not indefinite and _is_value(match[1]) and _ends(text[match.end() :]):
            yield (*match.span(), match.span(1))


def _is_value(word: str) -> bool:
    refused = (_FOLLOWS, _NO_VALUE, _VERB)
    return len(word) > 1 and not any(each.fullmatch(word) for each in refused)


def _ends(rest: str) -> bool:
    """Whether the value ends before ``rest``: what is longer than a word is a text, and where that
    ends nobody knows."""
    if _END.match(rest):
        return True
    following = re.match(r"\s*([^\W\d_]+)", rest)
    return following is not None and _FOLLOWS.fullmatch(following[1]) is not None


_QUOTED = re.compile(r"[“\"«„]([^“”\"«»„]+)[”\"»“]|(?<!\w)['‘`]([^'‘’`]+)['’`](?!\w)")
_CALLED = re.compile(
    r"\b(?:called|named|namens|genannt|nomm[ée]e?|appel[ée]e?|llamad[oa])\s+([\w./-]*\w)", re.I
)
_TARGET = (
    r"(?:to|as|into|called|named|(?:name|call) it|new (?:file|notebook)"
    r"|neue[ns]? (?:datei|notebook)|nouveau (?:fichier|notebook|carnet)|nach|als|vers|en|como|a)"
)
"""The words before a path that is to be written."""
_PATH = re.compile(r"[\w.~/\\-]*\w\.[A-Za-z0-9]{1,8}\b")
_READ = ("data", "notebook", "path", "remote-path")
_BETWEEN = r"[\W_]+"
_DATE = re.compile(r"(?<![a-z])(date|time|day|week|month|quarter|year|datum|fecha|jour)s?(?![a-z])")
_ANY_STEM = frozenset({"data", "dataset", "table", "file", "notebook", "sample", "report", "model"})
"""Such a word in a message ("convert the data") names no file (data.csv)."""
_DATA_ENDS = frozenset({"csv", "tsv", "tab", "parquet", "pq", "xlsx", "xlsm", "xls", "json"}) | {
    "jsonl",
    "ndjson",
}


class Matcher:
    """Finds what is nearly sure: a choice that the message has, a file that it names, a text in
    quotes. Where two answers are as good, there is none."""

    def __init__(self, context: ActionContext) -> None:
        self._context = context

    async def fill(
        self, questions: Sequence[Question], message: str, known: Mapping[str, Any]
    ) -> dict[str, Answer]:
        """See ``Filler``."""
        message = compared(message)
        found = await self._files_in_order(questions, message)
        for question in questions:
            if question.name in found:
                continue
            answer = await self._answer(question, message, questions)
            if answer is not None:
                found[question.name] = answer
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
        """The only data file that the message names to be read and that is not there."""
        if question.kind != "data":
            return None
        message = compared(message)
        files = await self._context.files()
        missing = [
            each
            for each in dict.fromkeys(_PATH.findall(message))
            if each.rpartition(".")[2].lower() in _DATA_ENDS
            and not _is_target(each, message)
            and not any(_place_of(file, each) for file in files)
        ]
        return missing[0] if len(missing) == 1 else None

    async def _answer(
        self, question: Question, message: str, questions: Sequence[Question]
    ) -> Answer | None:
        if question.kind in ("data", "notebook", "path"):
            return await self._file(question, message)
        if question.kind == "remote-path" and question.options is not None:
            return await self._file(question, message)
        if question.kind == "column" and question.options is not None:
            column = target_in(message, [str(each.value) for each in question.options])
            if column is not None:
                return Answer(column, column)
        if question.kind == "date-column" and question.options is not None:
            return _date_column(question, message)
        if question.options is not None:
            return _chosen(question, message)
        if question.kind == "new-path":
            reads = any(each.kind in _READ for each in questions)
            return _new_path(question, message, await self._context.files(), reads)
        if question.kind == "packages":
            return _packages(message)
        if question.type == "number":
            return _number(question, message, questions)
        if question.type != "text":
            return None
        found = named_value(question, message)
        if found is None and question.kind == "name":
            return _named(message)
        if found is None and question.kind == "remote-path":
            return _only_path(message)
        return found

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
        # Of two files, one "into" the other, the first is read.
        named = [each for each in named if not _is_target(each[1], message)] or named
        most = max((len(place) for _, place in named), default=0)
        best = [(each, place) for each, place in named if len(place) == most]
        # Of several files of that name: the one that is active, else the one at the path itself.
        for only in ([e for e in best if e[0] == active], [e for e in best if e[0] == e[1]], best):
            if len(only) == 1:
                return Answer(*only[0])
        if question.kind == "notebook" and not best and active is not None:
            return Answer(active, "the active notebook")
        if question.kind == "data" and not best:
            found = _in_order(files, message)
            if len(found) == 1:
                return found[0]
            if len(files) == 1 and not _names_a_file(message):
                return Answer(files[0], "the only data file")
        return None


def _in_order(files: Sequence[str], message: str) -> list[Answer]:
    """The files that a message names by their path, their name or what is before its suffix, in
    the order of the message; none where such a name is that of several."""
    found: dict[str, tuple[int, Answer]] = {}
    for path in files:
        place = _place_of(path, message)
        if not place:
            stem = path.rpartition("/")[2].partition(".")[0]
            if len(stem) < 3 or stem.lower() in _ANY_STEM:
                continue
            pattern = rf"(?<![\w/.-]){re.escape(plain(stem))}(?![\w/-]|\.\w)"
            match = re.search(pattern, plain(message))
            if match is None:
                continue
            place = message[match.start() : match.end()]
        if place in found:
            return []
        found[place] = (message.index(place), Answer(path, place))
    return [answer for _, answer in sorted(found.values(), key=lambda each: each[0])]


def _names_a_file(message: str) -> bool:
    """Whether it names some file: one that is not there is not to be taken for another."""
    return any(each.rpartition(".")[2].lower() in _DATA_ENDS for each in _PATH.findall(message))


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
        for name in {option.text, str(option.value), *option.aliases}:
            words = [re.escape(each) for each in re.findall(r"[^\W_]+", plain(name))]
            if not words:
                continue
            for match in re.finditer(rf"(?<!\w){_BETWEEN.join(words)}(?!\w)", text):
                if not is_excluded(text[: match.start()]):
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


def _date_column(question: Question, message: str) -> Answer | None:
    """The column that the message has and that is one of dates, by its name or by the message: the
    column to predict is named there, too."""
    text = plain(message)
    dated = [
        each
        for each in question.options or ()
        if _DATE.search(plain(str(each.value)))
        or re.search(rf"\b(date|time) column\W+{re.escape(plain(str(each.value)))}(?!\w)", text)
    ]
    return _chosen(replace(question, options=tuple(dated)), message) if dated else None


def _named(message: str) -> Answer | None:
    quoted = [first or second for first, second in _QUOTED.findall(message)]
    names = list(dict.fromkeys(quoted or _CALLED.findall(message)))
    return Answer(names[0], names[0]) if len(names) == 1 else None


def _only_path(message: str) -> Answer | None:
    """The only path that the message names and that is not to be written."""
    paths = [e for e in dict.fromkeys(_PATH.findall(message)) if not _is_target(e, message)]
    if len(paths) != 1:
        return None
    before = message[: message.index(paths[0])]
    # "2024/q 1.csv": not all of it is known to be the path.
    if is_excluded(plain(before)) or re.search(r"[/\\]\S*\s+$", before):
        return None
    return Answer(paths[0], paths[0])


def _is_target(path: str, message: str) -> bool:
    """Whether the message names the path as one to be written: "into cars.csv"."""
    target = rf"\b{_TARGET}[\s,:]+[`'\"]?{re.escape(path)}(?![\w/])"
    return re.search(target, message, re.I) is not None


def _new_path(question: Question, message: str, files: Sequence[str], reads: bool) -> Answer | None:
    """A path that the message names after "to", "as" or "into", or the only one with the right
    suffix that is not there. Where a file is read (``reads``), one alone that is there is that."""
    paths = list(dict.fromkeys(_PATH.findall(message)))
    if reads and len(paths) == 1 and paths[0] in files:
        return None
    if question.suffixes:
        paths = [each for each in paths if each.lower().endswith(question.suffixes)]
    names = [each for each in paths if _is_target(each, message)]
    if not names and question.suffixes:
        names = [
            each
            for each in paths
            if each not in files and not is_excluded(plain(message[: message.index(each)]))
        ]
    return Answer(names[0], names[0]) if len(names) == 1 else None


_PACKAGES = re.compile(
    r"\b(?:install|uninstall|remove|add|upgrade|update|downgrade|need|desinstall\w*|deinstall\w*"
    r"|entfern\w*|installier\w*|installe\w*|ajoute\w*|supprime\w*|instala\w*|desinstala\w*"
    r"|elimina\w*|with|mit|avec)\s+(?:-U\s+)?(.*)",
    re.I | re.S,
)
_PACKAGE = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[\w, .-]*\])?(?:\s*(?:[=!<>~]=?=?)\s*[\w.*]+,?)*")
_BESIDES = re.compile(
    r"the|an?|packages?|library|libraries|modules?|latest|version|of|and|und|et|y|please|bitte|also"
    r"|again|newest|les?|las?|els?|los|das|die|der|paquete?s?|pakete?|pip",
    re.I,
)
_AFTER = re.compile(
    r"in|into|for|to|from|on|so|then|because|it|this|that|them|everything|all|if|with|which|using"
    r"|als|fur|pour|para|dans|en|here|now|aus|im|von|del?|out|my|our|me|us|what|more|another",
    re.I,
)


def _packages(message: str) -> Answer | None:
    """The names after a verb of installing or removing, with their versions."""
    match = _PACKAGES.search(message)
    if match is None or is_excluded(plain(message[: match.start()])):
        return None
    names = []
    for found in _PACKAGE.finditer(match[1].replace("`", " ").replace('"', " ").replace("'", " ")):
        name = found[0].rstrip(".,")
        if _AFTER.fullmatch(plain(name)):
            break
        if not _BESIDES.fullmatch(plain(name)):
            names.append("".join(name.split()))
    return Answer(names, ", ".join(names)) if names else None


def _number(question: Question, message: str, questions: Sequence[Question]) -> Answer | None:
    """The number beside a word of the prompt, or the only number for the only such question."""
    number = r"(?<![\w.])(\d{1,3}(?:,\d{3})+|\d+(?:[.,]\d+)?)(?![\w.]*\w)"
    text = plain(message)
    if "percent" in plain(question.prompt) and (match := re.search(rf"{number}\s*%", text)):
        return _as_number(match[1], match[0], question)
    for word in re.findall(r"[^\W\d_]{3,}", plain(question.prompt)):
        stem = re.escape(word[: max(3, len(word) - 1)])
        for pattern in (rf"{number}\s*(?:\w+\s+)?{stem}", rf"{stem}\w*\W+(?:\w+\W+)?{number}"):
            match = re.search(pattern, text)
            if match:
                return _as_number(match[1], message[match.start() : match.end()].strip(), question)
    return None


def _as_number(text: str, source: str, question: Question) -> Answer:
    grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+", text)
    value = float(text.replace(",", "" if grouped else "."))
    whole = question.schema.get("type") == "integer" or value.is_integer()
    return Answer(int(value) if whole else value, source)
