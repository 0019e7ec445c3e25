"""Who sends a request, and whether they may decide for the user.

Code that the model wrote runs in kernels and may find the server's token. So a token alone decides
nothing. Decisions come from a page, whose user sees what is decided, or from the program that
started the turn, which asks its own user.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..protocol import ops
from ..protocol.errors import AgentError

CLIENT_HEADER = "X-Datalayer-Agent-Client"

PAGES_ONLY = (
    "A token alone cannot decide this, since code in a kernel may have it, too. Do it in "
    "JupyterLab. (If this is JupyterLab, its page is disconnected or signed out: reload it.)"
)
PAGES_AND_STARTERS = (
    "A token alone cannot decide this, since code in a kernel may have it, too. Decide in "
    f"JupyterLab, or from the program that started the turn: it sends a secret of its own as "
    f"{CLIENT_HEADER} with the message, and the same one with the decision."
)

DECISIONS = (
    ops.ApprovalDecision,
    ops.PlanDecision,
    ops.Resume,
    ops.RunAction,
    ops.UserInputAnswer,
    ops.Undo,
    ops.Keep,
    ops.GoBack,
)
"""Ops with which the user decides about what the agent did or is about to do."""

MOST_TURNS = 1000
KINDS = Literal["page", "program", "kernel"]


@dataclass(frozen=True)
class Asker:
    """Who sent a request: a ``page`` in the user's browser, a ``program`` with a token, or code in
    a ``kernel`` with the kernel's own token. ``key`` is the hash of a secret that it made for
    itself and that identifies it."""

    kind: KINDS
    key: str | None = None

    def require_page(self) -> None:
        """Raises ``AgentError`` ``forbidden`` for anything but a page."""
        if self.kind != "page":
            raise AgentError("forbidden", PAGES_ONLY)


PAGE = Asker("page")
"""The user, asked by the agent's own code on the server."""


@dataclass
class Starters:
    """Which clients started a session and its turns, by their keys. Kept in memory only: after a
    restart of the server, only pages decide."""

    session: str | None = None
    turns: dict[str, str | None] = field(default_factory=dict)

    @property
    def latest(self) -> str | None:
        """The client that started the newest turn."""
        return next(reversed(self.turns.values()), None)

    def started(self, turn_id: str, key: str | None) -> None:
        """Record who started a turn."""
        self.turns[turn_id] = key
        if len(self.turns) > MOST_TURNS:
            del self.turns[next(iter(self.turns))]

    def check(self, op: ops.Op, asker: Asker) -> None:
        """Raises ``AgentError`` ``forbidden`` if the asker may not take this decision."""
        if not isinstance(op, DECISIONS) or asker.kind == "page":
            return
        if asker.kind == "kernel" and isinstance(op, ops.Undo):
            return  # for a turn that the magic started there; the token's own check covers that
        if asker.key is None or any(each != asker.key for each in self._concerned(op)):
            raise AgentError("forbidden", PAGES_AND_STARTERS)

    def _concerned(self, op: ops.Op) -> list[str | None]:
        """Who started the turns that the op decides about."""
        if not isinstance(op, ops.TurnOp):
            return [self.latest]
        if not isinstance(op, ops.GoBack):
            return [self.turns.get(op.turn_id)]
        known = list(self.turns)
        later = known[known.index(op.turn_id) :] if op.turn_id in known else []
        return [self.turns[each] for each in later] or [None]

    def check_settings(self, loosened: Mapping[str, object], asker: Asker) -> None:
        """Raises ``AgentError`` ``forbidden`` if the asker relaxes settings of another client's
        session; ``loosened`` are those settings."""
        if not loosened or asker.kind == "page":
            return
        if asker.key is None or asker.kind == "kernel" or asker.key != self.session:
            names = ", ".join(loosened)
            raise AgentError("forbidden", f"{names}: {PAGES_ONLY}", {"settings": list(loosened)})
