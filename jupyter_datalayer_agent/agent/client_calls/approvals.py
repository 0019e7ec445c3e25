"""Asking the user of another program: there first, else in the panel, else the act is denied."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ...protocol import events
from ...tools.call_approval import ApprovalRequest, Decision
from ..approvals.broker import ApprovalBroker
from ..approvals.pending import Audience, PendingRequests
from .client import Client


class ClientApprovals(ApprovalBroker):
    """Asks the program's user. Where it cannot ask, ``audience`` says who can: a request is
    shown in an open page for 10 minutes ("stream"), else it is denied ("none")."""

    def __init__(
        self,
        client: Client,
        waiting: PendingRequests,
        audience: Audience,
        emit: Callable[[events.BaseEvent], Awaitable[None]],
    ) -> None:
        super().__init__(waiting, audience, emit)
        self._client = client
        self._remembered = waiting.approved_tools

    async def approve(self, request: ApprovalRequest) -> Decision:
        """See ``ApprovalBroker.approve``."""
        if any(self.has_approved(each) for each in (request.remember_as, *request.covered_by)):
            return Decision(True, earlier=True)
        decision = await self._client.decide(request)
        if decision is None:
            return await super().approve(request)
        if decision.for_session:
            self._remembered.update(request.remember_as.split())
        return decision

    async def ask(self, question: str, options: list[str] | None) -> str:
        """See ``ApprovalBroker.ask``."""
        answer = await self._client.answer(question, options)
        return await super().ask(question, options) if answer is None else answer
