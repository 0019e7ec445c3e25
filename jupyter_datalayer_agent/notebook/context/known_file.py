"""The changes of a text file since the model was sent it, by hashes of its lines."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from ...protocol.context import FileContext
from .known_notebook import digest
from .notebook_context import fenced, file_line

SAID = ", changed; numbers of lines are those from before"


def line_hashes(content: str) -> list[str]:
    """A short hash of each line."""
    return [digest(line) for line in content.split("\n")]


def file_changes(context: FileContext, before: Sequence[str]) -> str:
    """The changed lines, by their numbers at the time of these hashes."""
    lines = context.content.split("\n")
    blocks = [file_line(context, SAID)]
    matcher = SequenceMatcher(None, before, line_hashes(context.content))
    for kind, first, last, new_first, new_last in matcher.get_opcodes():
        if kind == "equal":
            continue
        where = f"Line {last}" if last - first == 1 else f"Lines {first + 1}-{last}"
        if kind == "insert":
            where = f"After line {first}" if first else "Before line 1"
        if kind == "delete":
            blocks.append(f"{where}: removed.")
        else:
            word = ":" if kind == "insert" else " now:"
            blocks.append(f"{where}{word}\n{fenced(chr(10).join(lines[new_first:new_last]))}")
    return "\n".join(blocks)
