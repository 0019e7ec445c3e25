"""Slash commands at the beginning of a message."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

# "/data" and "/data, please"; not "/home/me/cars.csv" nor "/2".
_COMMAND = re.compile(r"^\s*/([A-Za-z][A-Za-z0-9-]*)(?![\w/.])[,:]?\s*(.*)$", re.DOTALL)


@dataclass(frozen=True)
class Command:
    """A slash command: its name in lower case, and the text after it."""

    name: str
    text: str


def command_in(message: str) -> Command | None:
    """The command with which a message begins, whether it is known or not."""
    match = _COMMAND.match(message)
    return Command(match[1].lower(), match[2].strip()) if match else None


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Up to three known names, the nearest first: those that begin so, and those that are spelt
    much alike."""
    names = list(known)
    begin = [each for each in names if each.startswith(name) or name.startswith(each)]
    alike = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    return list(dict.fromkeys([*begin, *alike]))[:3]
