"""IPython's commands (``!``, ``%pip``, ``%%writefile``) and what they do beyond the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...notebook.dataflow.ipython_source import Command
from ...notebook.name_set import name_set
from .action import RiskyAction
from .calls import of_sql
from .other_languages import LANGUAGES, actions_in_other
from .place import Place
from .shell import actions_of

_SHELLS = name_set("! sx system bash sh script zsh cmd powershell perl ruby")
_PACKAGES = name_set("pip conda mamba micromamba uv")
_FILES = name_set("rm rmdir mv cp")
_SQL = name_set("sql duckdb bigquery read_sql")
_READS = name_set("list show freeze info check search config help debug cache index")


def actions_of_command(
    command: Command, place: Place, in_python: Callable[[str, Place], Iterator[RiskyAction]]
) -> Iterator[RiskyAction]:
    """The actions of one command; ``in_python`` reads the body of a cell in Python."""
    name = command.magic.lstrip("%") if command.magic != "!" else "!"
    text, line = command.text, command.line
    if name in _SHELLS:
        yield from _shell(command, place)
    elif name in _PACKAGES:
        if text.split(maxsplit=1)[:1] and text.split()[0] not in _READS:
            shown = f"{command.magic} {text}"
            yield RiskyAction(
                "installs or removes packages", "installs or removes packages:", shown, line
            )
    elif name in _FILES or not name:
        yield from actions_of(f"{name} {text}", place, line)
    elif name in ("writefile", "file"):
        yield from _written(command, place)
    elif name in ("save", "notebook", "history", "hist", "logstart"):
        yield from _saved(name, command, place)
    elif name in _SQL:
        yield from of_sql(f"{text}\n;{command.body}", place, line)
    elif name.lower() in LANGUAGES or name in ("R", "julia"):
        yield from _moved(
            actions_in_other(f"{text}\n{command.body}", name.lower(), place), line - 1
        )
    elif command.body:
        yield from _moved(in_python(command.body, place), line)


def _shell(command: Command, place: Place) -> Iterator[RiskyAction]:
    """A shell command: always risky; one that loses something is named by what it loses."""
    text = command.body if command.magic.startswith("%%") else command.text
    shown = f"{command.magic} {command.text}".strip() if command.body else f"!{command.text}"
    first = command.line + 1 if command.body else command.line
    found = list(actions_of(text, place, first))
    if not found:
        found = [RiskyAction("runs a shell command", "runs a shell command:", shown, command.line)]
    for action in found:
        if action.kind == "runs a shell command" and not command.body:
            yield RiskyAction(action.kind, action.verb, shown, action.line)
        else:
            yield action


def _written(command: Command, place: Place) -> Iterator[RiskyAction]:
    options = [each for each in command.text.split() if each.startswith("-")]
    target = command.text.removeprefix(" ".join(options)).strip().strip("'\"")
    if target and place.look(target) != "new":
        verb = "appends to" if {"-a", "--append"} & set(options) else "overwrites"
        yield RiskyAction("overwrites files", verb, target, command.line)


def _saved(name: str, command: Command, place: Place) -> Iterator[RiskyAction]:
    """``%save file lines``, ``%history -f file``, ``%notebook file``."""
    parts = command.text.split()
    targets = [each for each in parts if not each.startswith("-")][:1]
    if name in ("history", "hist"):
        targets = parts[parts.index("-f") + 1 :][:1] if "-f" in parts else []
    for target in targets:
        if place.look(target) != "new" or place.look(f"{target}.py") != "new":
            yield RiskyAction("overwrites files", "overwrites", target, command.line)


def _moved(actions: Iterator[RiskyAction], by: int) -> Iterator[RiskyAction]:
    for action in actions:
        yield RiskyAction(action.kind, action.verb, action.target, action.line + by)
