"""IPython's commands (``!``, ``%pip``, ``%%writefile``) and what they do beyond the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ...notebook.dataflow.ipython_source import Command
from .action import Kind, RiskyAction
from .calls import of_sql
from .lists import (
    FILE_MAGICS,
    PACKAGE_MAGICS,
    PROCESS_MAGICS,
    READING_PACKAGES,
    SHELL_MAGICS,
    SQL_MAGICS,
)
from .other_languages import LANGUAGES, actions_in_other
from .place import Place
from .shell import actions_of


def actions_of_command(
    command: Command, place: Place, in_python: Callable[[str, Place], Iterator[RiskyAction]]
) -> Iterator[RiskyAction]:
    """The actions of one command; ``in_python`` reads the body of a cell in Python."""
    name = command.magic.lstrip("%") if command.magic != "!" else "!"
    text, line = command.text, command.line
    if name in SHELL_MAGICS:
        yield from _shell(command, place)
    elif name in PACKAGE_MAGICS:
        if text.split(maxsplit=1)[:1] and text.split()[0] not in READING_PACKAGES:
            shown = f"{command.magic} {text}"
            kind: Kind = "installs or removes packages"
            yield RiskyAction(
                kind, "installs or removes packages:", shown, line, command=f"{name} {text}"
            )
    elif name in FILE_MAGICS or not name:
        yield from actions_of(f"{name} {text}", place, line)
    elif name in ("writefile", "file"):
        yield from _seen(_written(command, place))
    elif name in ("save", "notebook", "history", "hist", "logstart"):
        yield from _seen(_saved(name, command, place))
    elif name in SQL_MAGICS:
        yield from of_sql(f"{text}\n;{command.body}", place, line)
    elif name.lower() in LANGUAGES or name in ("R", "julia"):
        yield from _moved(
            actions_in_other(f"{text}\n{command.body}", name.lower(), place), line - 1
        )
    elif command.body:
        for action in _moved(in_python(command.body, place), line):
            # The guard is not in the processes that these start.
            yield replace(action, is_seen=False) if name in PROCESS_MAGICS else action


def _shell(command: Command, place: Place) -> Iterator[RiskyAction]:
    """A shell command: always risky; one that loses something is named by what it loses."""
    text = command.body if command.magic.startswith("%%") else command.text
    shown = f"{command.magic} {command.text}".strip() if command.body else f"!{command.text}"
    first = command.line + 1 if command.body else command.line
    found = list(actions_of(text, place, first))
    if not found:
        found = [RiskyAction("runs a shell command", "runs a shell command:", shown, command.line)]
    run = _program(command)
    for action in found:
        action = replace(action, command=run)
        if action.kind == "runs a shell command" and not command.body:
            action = replace(action, target=shown)
        yield action


def _program(command: Command) -> str:
    """The command that IPython runs for a shell line, or for a cell of a shell."""
    if not command.body:
        return command.text.strip()
    name = command.magic.lstrip("%")
    return command.text.strip() if name == "script" else f"{name} {command.text}".strip()


def _seen(actions: Iterator[RiskyAction]) -> Iterator[RiskyAction]:
    return (replace(action, is_seen=True) for action in actions)


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
        yield replace(action, line=action.line + by)
