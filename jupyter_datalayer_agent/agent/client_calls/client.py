"""Another program whose model calls our tools, as the calls see it."""

from __future__ import annotations

from typing import Protocol

from ...tools.call_approval import ApprovalRequest, Decision


class Client(Protocol):
    """The program at the other end, for the time of one call."""

    async def decide(self, request: ApprovalRequest) -> Decision | None:
        """Its user's decision on an act; None where the program cannot ask."""
        ...

    async def answer(self, question: str, options: list[str] | None) -> str | None:
        """Its user's answer to a question; None where the program cannot ask."""
        ...

    async def status(self, message: str) -> None:
        """Report the current activity of the call."""
        ...
