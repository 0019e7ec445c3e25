"""The token limit for calls that run at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..budget import check_budget
from ..state import SessionState


class SharedBudget:
    """What calls that run are about to use counts for each other, so that their sum keeps within
    the session's ``limit``."""

    def __init__(self, session: SessionState, limit: int | None) -> None:
        self._session = session
        self._limit = limit
        self._open = 0

    @contextmanager
    def call(self, size: int) -> Iterator[None]:
        """A call of about ``size`` tokens. Raises ``AgentError`` ``token_limit``."""
        check_budget(self._limit, self._session.tokens + self._open, size)
        self._open += size
        try:
            yield
        finally:
            self._open -= size
