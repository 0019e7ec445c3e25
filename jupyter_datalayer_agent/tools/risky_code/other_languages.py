"""Cells of other kernels: R and Julia by the names of their functions, shells by their commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...notebook.paths import name_set
from . import lists
from .action import Kind, RiskyAction
from .lists import SHELL_LANGUAGES, Language
from .place import Place
from .shell import actions_of

LANGUAGES = SHELL_LANGUAGES | lists.LANGUAGES.keys()

_FUNCTIONS = {
    language: {name: action for action, names in table.functions for name in name_set(names)}
    for language, table in lists.LANGUAGES.items()
}
# An escaped quote begins no string: each would be looked through to the end of its line.
_STRINGS = re.compile(
    r"(?<!\\)\"[^\"\\\n]*(?:\\.[^\"\\\n]*)*\"|(?<!\\)'[^'\\\n]*(?:\\.[^'\\\n]*)*'|`[^`\n]*`|#[^\n]*"
)
_FUNCTION = re.compile(r"(?<![\w.$@])(?<!::)(?:(?<!:)::+)?([\w.]+(?:::+[\w.]+)*)\s*\(")
_MARK = "\x02"


def actions_in_other(source: str, language: str, place: Place) -> Iterator[RiskyAction]:
    """What a cell of another language does beyond the kernel.

    In an unknown language everything counts as risky.
    """
    if language in SHELL_LANGUAGES:
        yield from actions_of(source, place, 1)
    elif language in lists.LANGUAGES:
        yield from _by_functions(source, language, place)
    elif source.strip():
        first = source.strip().splitlines()[0]
        kind: Kind = "runs code that cannot be checked"
        yield RiskyAction(kind, f"is in {language}, which is not checked:", first, 1)


def _by_functions(source: str, language: str, place: Place) -> Iterator[RiskyAction]:
    table, functions = lists.LANGUAGES[language], _FUNCTIONS[language]
    if table.commands:
        for number, text in enumerate(map(str.strip, source.split("\n")), start=1):
            if text[:1] in table.commands:
                kind, verb = table.commands[text[:1]]
                yield RiskyAction(kind, verb, text[1:].strip(), number)
    bare, strings = _without_strings(source)
    for call in _FUNCTION.finditer(bare):
        name = call[1]
        action = functions.get(name) or functions.get(name.rpartition("::")[2])
        if action is None:
            continue
        arguments = _arguments(bare, call.end())
        texts = [strings[int(each)] for each in re.findall(f"{_MARK}(\\d+){_MARK}", arguments)]
        whole = re.sub(f"{_MARK}(\\d+){_MARK}", lambda m: strings[int(m[1])], arguments)
        if not _counts(name, table, whole):
            continue
        line = bare.count("\n", 0, call.start()) + 1
        target = _target(action, texts, whole, place)
        if target is not None:
            yield RiskyAction(action[0], action[1], target, line)


def _counts(name: str, table: Language, arguments: str) -> bool:
    needed = table.only_with.get(name)
    return needed is None or any(each in arguments for each in needed.split())


def _target(action: tuple[Kind, str], texts: list[str], arguments: str, place: Place) -> str | None:
    """The target of the action, as text; None if nothing is lost."""
    plain = [text[1:-1] for text in texts]
    if action[0] != "overwrites files":
        return arguments.strip() if len(plain) != 1 else plain[0]
    named = [text for text in plain if "." in text or "/" in text]
    if named:
        there = [text for text in named if place.look(text) not in ("new",)]
        return there[0] if there else None
    # Without a name: with one argument they print, with more the second may be a file.
    return f"a file ({arguments.strip()})" if "," in arguments and not plain else None


def _without_strings(source: str) -> tuple[str, list[str]]:
    """The source without comments, and with each string replaced by its number between marks."""
    strings: list[str] = []

    def mark(match: re.Match[str]) -> str:
        if match[0].startswith("#"):
            return ""
        strings.append(match[0])
        return f"{_MARK}{len(strings) - 1}{_MARK}"

    return _STRINGS.sub(mark, source), strings


def _arguments(bare: str, start: int) -> str:
    depth = 1
    for at in range(start, min(len(bare), start + 5000)):
        depth += {"(": 1, ")": -1}.get(bare[at], 0)
        if depth == 0:
            return bare[start:at]
    return bare[start : start + 5000]
