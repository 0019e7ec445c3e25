"""What the benchmark runs, a case or a task, and what became of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


@dataclass
class Result:
    """What became of a case or a task in one run. ``problems`` say what was wrong: none, it was
    right. ``proposed``: an action was proposed by the message alone. ``offered``: the user
    was asked which action they mean; where the right one is offered, the rest is of that one."""

    problems: list[str] = field(default_factory=list)
    service: str | None = None
    subcommand: str | None = None
    answer: str = ""
    proposed: bool = False
    offered: bool = False
    calls: int = 0
    tokens: int = 0
    cost: float | None = None
    seconds: float = 0

    @property
    def right(self) -> bool:
        """Whether all that is expected was so."""
        return not self.problems


@dataclass(frozen=True)
class Item:
    """A case of a service or (``group`` tasks) a task. ``target`` is what is right, in words."""

    group: str
    id: str
    kind: str
    message: str
    target: str
    run: Callable[[], Awaitable[Result]]
