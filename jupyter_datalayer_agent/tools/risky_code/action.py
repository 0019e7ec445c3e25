"""An action beyond the kernel, and the reason for asking that several of them make."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "runs a shell command",
    "installs or removes packages",
    "removes or moves files",
    "overwrites files",
    "changes a database",
    "sends data to another machine",
    "runs code that cannot be checked",
]

# The most targets of one kind that a reason names.
_MOST_NAMED = 3
_LONGEST_TARGET = 100


@dataclass(frozen=True)
class RiskyAction:
    """What a line of code does beyond the kernel: ``verb`` ("overwrites") and ``target``
    ("cars.csv") as text, and the line, from 1."""

    kind: Kind
    verb: str
    target: str
    line: int

    @property
    def description(self) -> str:
        """Verb and target, on one line."""
        return f"{self.verb} {self.named}".strip()

    @property
    def named(self) -> str:
        """The target on one line, cut where it is long."""
        target = " ".join(self.target.split())
        return target if len(target) <= _LONGEST_TARGET else f"{target[: _LONGEST_TARGET - 1]}…"


@dataclass(frozen=True)
class Reason:
    """Why a call needs approval: a message, and the kinds of action.

    ``kinds`` ("runs a shell command") are what an approval for the session covers; ``targets`` are
    those that the message shows.
    """

    message: str
    kinds: tuple[str, ...]
    targets: frozenset[str] = frozenset()


def reason(found: Iterable[tuple[str, RiskyAction]]) -> Reason | None:
    """The reason for these (subject, action) together; None without any."""
    by_kind: dict[str, dict[tuple[str, str], list[RiskyAction]]] = {}
    for subject, action in found:
        by_kind.setdefault(action.kind, {}).setdefault((subject, action.verb), []).append(action)
    if not by_kind:
        return None
    sentences: list[str] = []
    targets: set[str] = set()
    for groups in by_kind.values():
        sentences += _sentences(groups, targets)
    return Reason("; ".join(sentences), tuple(by_kind), frozenset(targets))


def _sentences(groups: dict[tuple[str, str], list[RiskyAction]], shown: set[str]) -> list[str]:
    room = _MOST_NAMED
    sentences = []
    for (subject, verb), actions in groups.items():
        if room == 0:
            break
        named = ", ".join(
            f"{action.named} (line {action.line})".strip() for action in actions[:room]
        )
        sentences.append(f"{subject} {verb} {named}")
        shown.update(action.target for action in actions[:room] if action.named == action.target)
        room -= len(actions[:room])
    left = sum(map(len, groups.values())) - _MOST_NAMED
    if left > 0:
        sentences[-1] += f" and {left} more"
    return sentences
