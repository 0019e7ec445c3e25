"""The cost of a turn's model calls."""

from __future__ import annotations

from collections.abc import Sequence

from ...protocol import events
from ...protocol.requests import Usage
from ..budget import add_usage
from ..events.buffer import EventBuffer
from ..state import SessionState


class TurnUsage:
    """Counts a turn's calls, for the session too; ``total`` is their sum."""

    def __init__(self, session: SessionState, buffer: EventBuffer) -> None:
        self.total = Usage()
        self._session = session
        self._buffer = buffer

    def count(self, call: Usage, model: str) -> None:
        """Count a call, and report it."""
        self.total = self._session.count(self.total, call)
        self._buffer.add(
            events.TokenUsage(usage=self.total.model_copy(), call=call), usage=call, model=model
        )

    def include(self, answers: Sequence[Usage]) -> None:
        """Add what a comparison's answers cost, which the session has counted."""
        for usage in answers:
            self.total = add_usage(self.total, usage, 0)
        self.total.session_tokens = self._session.tokens
        self.total.session_cost = self._session.cost
