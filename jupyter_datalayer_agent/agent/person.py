"""Asking the person in the middle of a turn: approvals and questions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ..protocol import events
from ..protocol.base import new_id
from ..tools.context import ToolFailure
from ..tools.dispatch import ApprovalRequest, Decision
from .waiting import Audience, WaitingRoom

NOBODY = "needs a person's approval, and over this route nobody can give it."


class Person:
    """Whoever can answer for this turn, as far as ``audience`` lets anybody."""

    def __init__(
        self,
        waiting: WaitingRoom,
        audience: Audience,
        emit: Callable[[events.BaseEvent], Awaitable[None]],
    ) -> None:
        self._waiting = waiting
        self._audience: Audience = audience
        self._emit = emit

    async def approve(self, request: ApprovalRequest) -> Decision:
        """The person's decision on a call; denied at once where nobody is there to decide."""
        if request.tool.name in self._waiting.approved_tools:
            return Decision(True)
        if self._audience == "none":
            return Decision(False, f"{request.reason}: this {NOBODY}")
        approval_id = new_id("approval")
        answer = self._waiting.approval(approval_id, self._audience)
        await self._emit(
            events.ApprovalRequested(
                approval_id=approval_id,
                call_id=request.call_id,
                name=request.tool.name,
                arguments=request.arguments,
                reason=request.reason,
                destructive=request.destructive,
                changes=request.changes,
            )
        )
        try:
            decision, feedback = await answer
        except asyncio.CancelledError:
            await self._emit(events.ApprovalResolved(approval_id=approval_id, decision="aborted"))
            raise
        if decision == "approve_for_session":
            self._waiting.approved_tools.add(request.tool.name)
        await self._emit(events.ApprovalResolved(approval_id=approval_id, decision=decision))
        if decision == "expired":
            feedback = "Nobody answered in time."
        return Decision(decision in ("approve", "approve_for_session"), feedback)

    async def ask(self, question: str, options: list[str] | None) -> str:
        """The person's answer; ``ToolFailure`` where nobody can give one, or did in time."""
        if self._audience == "none":
            raise ToolFailure(
                "not_allowed",
                "Nobody can answer over this route.",
                "Decide with what is known, and say what you assumed.",
            )
        request_id = new_id("question")
        answer = self._waiting.answer(request_id, self._audience)
        await self._emit(
            events.UserInputRequested(request_id=request_id, question=question, options=options)
        )
        text = await answer
        if text is None:
            raise ToolFailure("timeout", "Nobody answered in time.", "Decide with what is known.")
        return text
