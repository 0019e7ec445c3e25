"""Cells of Python: by their syntax tree, or, where they cannot be parsed, line by line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from ...notebook.dataflow.ipython_source import Command, split_commands
from .action import Kind, RiskyAction
from .calls import Calls
from .magics import actions_of_command
from .other_cells import OtherCells
from .parsing import parsed
from .place import Place
from .rules import FUNCTIONS, LAST_NAMES, METHODS
from .values import Values

# Parsing takes a second for each megabyte: longer cells are read line by line.
_LONGEST_PARSED = 200_000
_WORD = re.compile(r"[^\W\d]\w*")
_COMMAND = re.compile(
    r"^[ \t]*(?=\S)(?:!|%|[\w.,\[\]'\"*() \t]+=[ \t]*[!%]|(?:rm|mv|cp|pip3?|conda|mamba)[ \t])",
    re.MULTILINE,
)
_CALL = re.compile(r"(?<![\w.])([\w.]+)[ \t]{0,8}\(")
_SURE_METHODS = frozenset(METHODS) - {
    "rename", "replace", "save", "open", "query", "sql", "execute", "to_string", "to_html",
    "to_json", "to_latex", "to_markdown", "to_sql",
}  # fmt: skip


def may_be_risky(source: str) -> bool:
    """Whether the source contains any name or sign that risky code needs: quick, with false
    positives."""
    return _COMMAND.search(source) is not None or not LAST_NAMES.isdisjoint(words(source))


def actions_in_python(
    source: str, place: Place, others: OtherCells | None = None
) -> Iterator[RiskyAction]:
    """What a cell of Python does beyond the kernel.

    ``others`` are the cells of ``place``, shared when several cells are analysed.
    """
    if not may_be_risky(source):
        return
    if len(source) > _LONGEST_PARSED and not source.lstrip().startswith("%%"):
        yield from _by_lines(source, place)
        return
    tree, commands = parsed(source)
    for command in commands:
        yield from actions_of_command(command, place, actions_in_python)
    if tree is None:
        yield from _by_lines(source, place, commands)
        return
    values = Values(tree, (others or OtherCells(place.cells)).giving)
    yield from Calls(tree, values, place, actions_in_python).actions()


def _by_lines(
    source: str, place: Place, commands: Sequence[Command] | None = None
) -> Iterator[RiskyAction]:
    """Recognition without a tree: calls by unambiguous names."""
    done = {command.line for command in commands or ()}
    for number, line in enumerate(source.split("\n"), start=1):
        if number in done or line.lstrip().startswith("#"):
            continue
        if commands is None and _COMMAND.match(line):
            for command in split_commands(line)[1]:
                yield from actions_of_command(_at(command, number), place, actions_in_python)
        for call in _CALL.finditer(line):
            _, dot, method = call[1].rpartition(".")
            rule = FUNCTIONS.get(call[1])
            if rule is None and dot and method in _SURE_METHODS:
                rule = METHODS[method]
            if rule is not None and rule.what in ("remove", "move", "run", "send", "write"):
                kind: Kind = "runs code that cannot be checked"
                seen = not rule.is_native
                yield RiskyAction(kind, "calls", line.strip(), number, is_seen=seen)
                break


def _at(command: Command, line: int) -> Command:
    return Command(line, command.magic, command.text, command.body)


def words(source: str) -> set[str]:
    """The names in a source, those in texts and comments, too."""
    if not source.isascii():
        source = unicodedata.normalize("NFKC", source)  # as Python reads names
    return set(_WORD.findall(source))
