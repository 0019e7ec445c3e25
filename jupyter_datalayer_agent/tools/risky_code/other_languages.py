"""Cells of other kernels: R and Julia by the names of their functions, shells by their commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...notebook.name_set import name_set
from .action import Kind, RiskyAction
from .place import Place
from .shell import actions_of

_SHELLS = name_set("bash sh zsh shell")
LANGUAGES = _SHELLS | {"r", "julia"}

_REMOVES: tuple[Kind, str] = ("removes or moves files", "removes")
_MOVES: tuple[Kind, str] = ("removes or moves files", "moves")
_WRITES: tuple[Kind, str] = ("overwrites files", "overwrites")
_RUNS: tuple[Kind, str] = ("runs a shell command", "runs a program:")
_INSTALLS: tuple[Kind, str] = ("installs or removes packages", "installs or removes packages:")
_SENDS: tuple[Kind, str] = ("sends data to another machine", "sends data to another machine:")
_TABLES: tuple[Kind, str] = ("changes a database", "removes a table:")


@dataclass(frozen=True)
class _Language:
    functions: dict[str, tuple[Kind, str]]
    # Functions that write only with one of these in their arguments.
    only_with: dict[str, str]
    commands: re.Pattern[str] | None = None


def _named(*groups: tuple[str, tuple[Kind, str]]) -> dict[str, tuple[Kind, str]]:
    return {name: action for names, action in groups for name in name_set(names)}


_TABLE = {
    "r": _Language(
        _named(
            ("unlink file.remove file_delete dir_delete", _REMOVES),
            ("file.rename file_move", _MOVES),
            ("system system2 shell shell.exec processx::run", _RUNS),
            ("install.packages remove.packages update.packages install_github", _INSTALLS),
            ("POST PUT PATCH DELETE httr::POST httr::PUT pin_write", _SENDS),
            ("dbRemoveTable", _TABLES),
            ("write.csv write.csv2 write.table write.xlsx writeLines write_csv write_tsv "
             "write_delim write_rds write_xlsx write_parquet write_feather write_json saveRDS save "
             "save.image sink ggsave pdf png jpeg svg tiff fwrite cat dput dump file.create "
             "file.copy file.append download.file file writexl::write_xlsx", _WRITES),
        ),
        {"file.copy": "overwrite", "cat": "file", "dput": "file", "file": "\"w"},
    ),
    "julia": _Language(
        _named(
            ("rm Base.rm", _REMOVES),
            ("mv Base.mv", _MOVES),
            ("run pipeline success", _RUNS),
            ("Pkg.add Pkg.rm Pkg.update Pkg.develop Pkg.build", _INSTALLS),
            ("HTTP.post HTTP.put HTTP.patch HTTP.delete", _SENDS),
            ("write CSV.write open savefig save cp jldsave serialize Arrow.write download "
             "writedlm", _WRITES),
        ),
        {"open": "\"w \"a w+ a+ r+", "cp": "force", "run": "`", "pipeline": "`", "success": "`",
         "rm": "\" '", "mv": "\" '"},
        re.compile(r"^\s*([;\]])(.*)$"),
    ),
}  # fmt: skip
_STRINGS = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`\n]*`|#[^\n]*")
_FUNCTION = re.compile(r"(?<![\w.$@])((?:\w+(?:\.|::))*[\w.]+)\s*\(")
_MARK = "\x02"


def actions_in_other(source: str, language: str, place: Place) -> Iterator[RiskyAction]:
    """What a cell of another language does beyond the kernel.

    In an unknown language everything counts as risky.
    """
    if language in _SHELLS:
        yield from actions_of(source, place, 1)
    elif language in _TABLE:
        yield from _by_functions(source, _TABLE[language], place)
    elif source.strip():
        first = source.strip().splitlines()[0]
        kind: Kind = "runs code that cannot be checked"
        yield RiskyAction(kind, f"is in {language}, which is not checked:", first, 1)


def _by_functions(source: str, language: _Language, place: Place) -> Iterator[RiskyAction]:
    if language.commands is not None:
        for number, text in enumerate(source.split("\n"), start=1):
            if match := language.commands.match(text):
                kind, verb = _INSTALLS if match[1] == "]" else _RUNS
                yield RiskyAction(kind, verb, match[2].strip(), number)
    bare, strings = _without_strings(source)
    for call in _FUNCTION.finditer(bare):
        name = call[1]
        action = language.functions.get(name) or language.functions.get(name.rpartition("::")[2])
        if action is None:
            continue
        arguments = _arguments(bare, call.end())
        texts = [strings[int(each)] for each in re.findall(f"{_MARK}(\\d+){_MARK}", arguments)]
        whole = re.sub(f"{_MARK}(\\d+){_MARK}", lambda m: strings[int(m[1])], arguments)
        if not _counts(name, language, whole):
            continue
        line = bare.count("\n", 0, call.start()) + 1
        target = _target(action, texts, whole, place)
        if target is not None:
            yield RiskyAction(action[0], action[1], target, line)


def _counts(name: str, language: _Language, arguments: str) -> bool:
    needed = language.only_with.get(name)
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
