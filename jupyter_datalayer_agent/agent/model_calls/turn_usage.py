"""The cost of a turn's model calls."""

from __future__ import annotations

from ...protocol import events
from ...protocol.requests import Usage
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
