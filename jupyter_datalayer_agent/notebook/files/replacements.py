"""Replacing pieces of a text: each names text that occurs exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ...protocol.cells import line_feeds
from .text_state import TextState

# Of a longer text no nearest lines are looked for: that would take seconds.
_MOST_LINES = 20_000
_LONGEST_LINE = 200
_MOST_SHOWN = 30
_NEAR = 0.6


@dataclass(frozen=True)
class Replacement:
    """One piece and what comes in its place."""

    old: str
    new: str
    all: bool = False


class NoMatch(Exception):
    """A piece does not occur, or several times. ``lines`` are the numbers of the first lines of
    where it occurs; ``closest`` is the text that is most like it, with its first line's number."""

    def __init__(
        self,
        index: int,
        lines: Sequence[int] = (),
        closest: tuple[int, str] | None = None,
    ) -> None:
        super().__init__(f"edits[{index}]")
        self.index = index
        self.lines = list(lines)
        self.closest = closest


def replaced(state: TextState, replacements: Sequence[Replacement]) -> TextState:
    """The text after the replacements, each of which sees what those before it made.

    Raises ``NoMatch``; then none was made.
    """
    for index, each in enumerate(replacements):
        # Line ends of the file are not the model's to know.
        old, new = line_feeds(each.old), line_feeds(each.new)
        starts = occurrences(state.content, old)
        if not starts:
            raise NoMatch(index, closest=closest(state.content, old))
        if len(starts) > 1 and not each.all:
            raise NoMatch(index, [state.content.count("\n", 0, at) + 1 for at in starts])
        state = state.with_spans([(at, at + len(old), new) for at in starts])
    return state


def occurrences(content: str, wanted: str) -> list[int]:
    """Where the text occurs, without overlaps."""
    found, at = [], content.find(wanted)
    while at >= 0:
        found.append(at)
        at = content.find(wanted, at + len(wanted))
    return found


def closest(content: str, wanted: str) -> tuple[int, str] | None:
    """The lines that are most like the wanted ones, with the number of the first of them: the
    longest wanted line is looked for, and the lines around it are taken along."""
    lines = content.split("\n")
    targets = wanted.strip("\n").split("\n")
    anchor = max(targets, key=lambda line: len(line.strip()))
    sought = anchor.strip()[:_LONGEST_LINE]
    if len(lines) > _MOST_LINES or not sought:
        return None
    matcher = SequenceMatcher(None, b=sought, autojunk=False)
    best, place = _NEAR, None
    for number, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:_LONGEST_LINE])
        if matcher.real_quick_ratio() <= best or matcher.quick_ratio() <= best:
            continue
        if (ratio := matcher.ratio()) > best:
            best, place = ratio, number
    if place is None:
        return None
    first = max(0, place - targets.index(anchor))
    return first + 1, "\n".join(lines[first : first + min(len(targets), _MOST_SHOWN)])
