"""An action beyond the kernel, and the reason for asking that several of them make."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import starmap
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

# A target is shown whole, many long paths too; of a longer one a part is, which approves nothing.
_LONGEST_TARGET = 40_000


@dataclass(frozen=True)
class RiskyAction:
    """What a line of code does beyond the kernel: ``verb`` ("overwrites") and ``target``
    ("cars.csv") as text, and the line, from 1.

    ``is_seen``: the guard of a Python kernel sees it happen, and asks then. ``command`` is the
    whole shell command that does it, as IPython runs it.
    """

    kind: Kind
    verb: str
    target: str
    line: int
    is_seen: bool = False
    command: str | None = None

    @property
    def description(self) -> str:
        """Verb and target, on one line."""
        return f"{self.verb} {self.named}".strip()

    @property
    def named(self) -> str:
        """The target on one line."""
        target = " ".join(self.target.split())
        if len(target) <= _LONGEST_TARGET:
            return target
        return f"{target[:_LONGEST_TARGET]}… ({len(target):,} characters)"

    @property
    def is_shown_whole(self) -> bool:
        """Whether the message shows the target as it is."""
        return self.named == self.target


@dataclass(frozen=True)
class Reason:
    """Why a call needs approval: a message, and the kinds of action.

    ``kinds`` ("runs a shell command") are what an approval for the session covers; ``targets`` and
    ``commands`` are those that the message shows, and ``folder`` is what they are relative to, None
    where it is not known. ``subjects`` name the codes that it is about.
    """

    message: str
    kinds: tuple[str, ...]
    targets: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()
    folder: str | None = None
    subjects: frozenset[str] = frozenset()


def reason(found: Iterable[tuple[str, RiskyAction]], folder: str | None = None) -> Reason | None:
    """The reason for these (subject, action) together; None without any."""
    all_found = list(dict.fromkeys(found))
    if not all_found:
        return None
    by_kind: dict[str, dict[tuple[str, str], dict[str, list[int]]]] = {}
    for subject, action in all_found:
        groups = by_kind.setdefault(action.kind, {})
        lines = groups.setdefault((subject, action.verb), {}).setdefault(action.named, [])
        if action.line not in lines:
            lines.append(action.line)
    sentences = [
        f"{subject} {verb} {', '.join(starmap(_with_lines, targets.items()))}"
        for groups in by_kind.values()
        for (subject, verb), targets in groups.items()
    ]
    actions = [action for _, action in all_found]
    return Reason(
        "; ".join(sentences),
        tuple(by_kind),
        frozenset(each.target for each in actions if each.is_shown_whole),
        frozenset(each.command for each in actions if each.command is not None),
        folder,
        frozenset(subject for subject, _ in all_found),
    )


def _with_lines(target: str, lines: list[int]) -> str:
    numbers = ", ".join(map(str, lines))
    return f"{target} (line{'' if len(lines) == 1 else 's'} {numbers})".strip()
