"""What waits for the person: approvals and questions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

Audience = Literal["page", "stream", "none"]
"""Who can answer: a page (waits for ever), a program that listens, or nobody (`POST chat`)."""

STREAM_WAIT_SECONDS = 600.0

Answer = tuple[Literal["approve", "approve_for_session", "deny", "expired"], str | None]


T = TypeVar("T")


def patience(audience: Audience) -> float | None:
    """Seconds to wait for an answer, or None for as long as it takes."""
    return STREAM_WAIT_SECONDS if audience == "stream" else None


def _settle(future: asyncio.Future[Any] | None, answer: Any) -> bool:
    if future is None or future.done():
        return False
    future.set_result(answer)
    return True


@dataclass
class WaitingRoom:
    """The open questions of a session by id, and what was approved for the whole session.

    ``changed`` is called when one is opened or closed.
    """

    approved_tools: set[str] = field(default_factory=set)
    _approvals: dict[str, asyncio.Future[Answer]] = field(default_factory=dict)
    _questions: dict[str, asyncio.Future[str | None]] = field(default_factory=dict)
    changed: Callable[[], None] = lambda: None

    @property
    def has_open(self) -> bool:
        """Whether an approval or a question waits for its answer."""
        approvals = any(not future.done() for future in self._approvals.values())
        return approvals or any(not future.done() for future in self._questions.values())

    def open_approval(self, approval_id: str) -> None:
        """Open an approval; opened twice it is the same one, with the answer that it may have."""
        if approval_id not in self._approvals:
            self._approvals[approval_id] = asyncio.get_running_loop().create_future()
            self.changed()

    def open_question(self, request_id: str) -> None:
        """Open a question, in the same way."""
        if request_id not in self._questions:
            self._questions[request_id] = asyncio.get_running_loop().create_future()
            self.changed()

    def drop(self, request_id: str) -> None:
        """Nobody is asked this any more."""
        self._approvals.pop(request_id, None)
        self._questions.pop(request_id, None)
        self.changed()

    def approval(self, approval_id: str, audience: Audience) -> Coroutine[Any, Any, Answer]:
        """Open an approval now; await what is returned for the decision with its reason.

        ``expired`` where none came in time.
        """
        self.open_approval(approval_id)
        late: Answer = ("expired", None)
        return self._settled(self._approvals, approval_id, audience, late)

    def answer(self, request_id: str, audience: Audience) -> Coroutine[Any, Any, str | None]:
        """Open a question now; await what is returned for the answer, None if none came in time."""
        self.open_question(request_id)
        return self._settled(self._questions, request_id, audience, None)

    def decide(self, approval_id: str, answer: Answer) -> bool:
        """Settle an approval; False when it is not open (any more)."""
        return _settle(self._approvals.get(approval_id), answer)

    def reply(self, request_id: str, answer: str) -> bool:
        """Answer a question; False when it is not open (any more)."""
        return _settle(self._questions.get(request_id), answer)

    async def _settled(
        self, where: dict[str, asyncio.Future[T]], key: str, audience: Audience, late: T
    ) -> T:
        try:
            return await asyncio.wait_for(where[key], patience(audience))
        except asyncio.TimeoutError:
            return late
        finally:
            where.pop(key, None)
            self.changed()
