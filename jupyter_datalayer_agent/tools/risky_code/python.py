"""Cells of Python: by their syntax tree, or, where they cannot be parsed, line by line."""

from __future__ import annotations

import ast
import builtins
import re
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ...notebook.dataflow.ipython_source import Command, split_commands
from .action import Kind, RiskyAction
from .calls import Calls
from .magics import actions_of_command
from .place import Place
from .rules import FUNCTIONS, LAST_NAMES, METHODS
from .values import Values

# The syntax tree of a cell, and IPython's commands in it.


@lru_cache(maxsize=128)
def parsed(source: str) -> tuple[ast.Module | None, Sequence[Command]]:
    """The tree (None if the cell cannot be parsed) and the commands. The tree is cached: do not
    change it."""
    tree = _parse(source)
    if tree is not None:
        return tree, ()
    python, commands = split_commands(source)
    return _parse(python), commands


def _parse(source: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in somebody's cell
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


# The values that the notebook's other cells give a name: imports, constants, paths.


# If more cells assign a name, only the last of them are read.
_MOST_CELLS = 12
_LONGEST = 200_000
# A loop, a ``with … as``, a function, an import (in separate lines, too), an assignment.
_GIVING = (
    re.compile(r"\b(?:as|for|def|class|import)\s[^\n]*"),
    re.compile(r"\bimport \([^)]*"),
    re.compile(r"(?<![ \t,\w\[\]():])[ \t,\w\[\]():]+="),
)


class OtherCells:
    """The other cells of one notebook; each is parsed when a name is looked up that it may
    assign."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._sources = [each for each in sources if len(each) < _LONGEST]
        self._stars = [each for each in self._sources if "import *" in each]
        self._read: dict[str, Values | None] = {}
        self._parts: dict[str, str] = {}

    def giving(self, name: str) -> list[Values]:
        """The cells that may assign the name."""
        if not self._sources or hasattr(builtins, name):
            return []
        word = re.compile(rf"(?<![\w.]){re.escape(name)}\b")
        found = [
            each for each in self._sources if name in each and word.search(self._giving_part(each))
        ]
        sources = dict.fromkeys([*found[-_MOST_CELLS:], *self._stars[:_MOST_CELLS]])
        return [values for each in sources if (values := self._values(each)) is not None]

    def _giving_part(self, source: str) -> str:
        """What of a source may give names, one after the other."""
        if source not in self._parts:
            # With the character before, which says whether the first name is an attribute.
            self._parts[source] = "\n".join(
                source[max(0, match.start() - 1) : match.end()]
                for pattern in _GIVING
                for match in pattern.finditer(source)
            )
        return self._parts[source]

    def _values(self, source: str) -> Values | None:
        if source not in self._read:
            tree = parsed(source)[0]
            self._read[source] = None if tree is None else Values(tree, self.giving)
        return self._read[source]


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
    positives. A long source is not searched: that would take up to 60 ms for each megabyte."""
    return (
        len(source) > _LONGEST_PARSED
        or _COMMAND.search(source) is not None
        or not LAST_NAMES.isdisjoint(words(source))
    )


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
