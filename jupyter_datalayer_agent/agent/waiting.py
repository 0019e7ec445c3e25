"""What waits for the person: approvals and questions."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Literal

Audience = Literal["page", "stream", "none"]
"""Who can answer: a page (waits for ever), a program that listens, or nobody (`POST chat`)."""

STREAM_WAIT_SECONDS = 600.0

Answer = tuple[Literal["approve", "approve_for_session", "deny", "expired"], str | None]


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
    """The open questions of a session by id, and what was approved for the whole session."""

    approved_tools: set[str] = field(default_factory=set)
    _approvals: dict[str, asyncio.Future[Answer]] = field(default_factory=dict)
    _questions: dict[str, asyncio.Future[str]] = field(default_factory=dict)

    async def approval(self, approval_id: str, audience: Audience) -> Answer:
        """The person's decision with their reason; ``expired`` where none came in time."""
        future = asyncio.get_running_loop().create_future()
        self._approvals[approval_id] = future
        try:
            return await asyncio.wait_for(future, patience(audience))
        except asyncio.TimeoutError:
            return "expired", None
        finally:
            self._approvals.pop(approval_id, None)

    async def answer(self, request_id: str, audience: Audience) -> str | None:
        """The person's answer, or None where none came in time."""
        future = asyncio.get_running_loop().create_future()
        self._questions[request_id] = future
        try:
            return await asyncio.wait_for(future, patience(audience))
        except asyncio.TimeoutError:
            return None
        finally:
            self._questions.pop(request_id, None)

    def decide(self, approval_id: str, answer: Answer) -> bool:
        """Settle an approval; False when it is not open (any more)."""
        return _settle(self._approvals.get(approval_id), answer)

    def reply(self, request_id: str, answer: str) -> bool:
        """Answer a question; False when it is not open (any more)."""
        return _settle(self._questions.get(request_id), answer)
