"""Asking the user in the middle of a turn: approvals, questions and forms."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ...protocol import events
from ...protocol.base import new_id
from ...protocol.forms import FormAnswer, InputForm
from ...tools.call_approval import ApprovalRequest, Decision
from ...tools.context import ToolFailure
from .pending import Audience, Check, PendingRequests

DECIDE = "Decide with what is known, and say what you assumed."
NOBODY = "needs a user's approval, and nobody can give it over this route."


class ApprovalBroker:
    """Asks whoever can answer for this turn, as ``audience`` allows."""

    def __init__(
        self,
        waiting: PendingRequests,
        audience: Audience,
        emit: Callable[[events.BaseEvent], Awaitable[None]],
    ) -> None:
        self._waiting = waiting
        self._audience: Audience = audience
        self._emit = emit
        self._asked: dict[str, Any] | None = None
        self.leaving = False

    def restore(self, wait: dict[str, Any]) -> None:
        """The event of an approval or a question that was open when the server ended. It is opened
        again, and answers an identical request."""
        if wait["type"] == "approval_requested":
            self._waiting.open_approval(wait["approvalId"])
            self._asked = wait
        elif wait["type"] == "user_input_requested":
            self._waiting.open_question(wait["requestId"])
            self._asked = wait

    async def _take_restored(self, **same: Any) -> dict[str, Any] | None:
        """The restored event, if it is about this request; any other is dropped."""
        asked, self._asked = self._asked, None
        if asked is None or all(asked.get(name) == value for name, value in same.items()):
            return asked
        self._waiting.drop(asked.get("approvalId") or asked["requestId"])
        if "approvalId" in asked:
            await self._emit(
                events.ApprovalResolved(approval_id=asked["approvalId"], decision="aborted")
            )
        return None

    async def approve(self, request: ApprovalRequest) -> Decision:
        """The user's decision on a call; denied at once if there is no one to decide."""
        if any(self.has_approved(each) for each in (request.remember_as, *request.covered_by)):
            return Decision(True, earlier=True)
        if self._audience == "none":
            return Decision(False, undecided=f"{request.reason}: this {NOBODY}")
        asked = None
        if not request.during_run:
            asked = await self._take_restored(
                name=request.name,
                arguments=request.arguments,
                share=None if request.share is None else request.share.to_wire(),
                basis=request.basis,
            )
        approval_id = asked["approvalId"] if asked else new_id("approval")
        self._waiting.open_approval(approval_id, during_run=request.during_run)
        try:
            if asked is None:
                await self._emit(request.as_event(approval_id))
            decision, feedback = await self._waiting.approval(approval_id, self._audience)
        except asyncio.CancelledError:
            if not self.leaving:
                await self._emit(
                    events.ApprovalResolved(approval_id=approval_id, decision="aborted")
                )
            raise
        finally:
            # Also if the request could not be written; otherwise the session would wait forever.
            self._waiting.drop(approval_id)
        if decision == "approve_for_session":
            self._waiting.approved_tools.update(request.remember_as.split())
        await self._emit(events.ApprovalResolved(approval_id=approval_id, decision=decision))
        if decision == "expired":
            return Decision(False, undecided=feedback or "Nobody answered in time.")
        return Decision(decision in ("approve", "approve_for_session"), feedback)

    def has_approved(self, what: str) -> bool:
        """Whether the user approved all of this for the session: names of tools, say."""
        return self._waiting.approved_tools.issuperset(what.split())

    async def ask(self, question: str, options: list[str] | None) -> str:
        """The user's answer. Raises ``ToolFailure`` if nobody can answer, or none came in time."""
        if self._audience == "none":
            raise ToolFailure(
                "not_allowed",
                "Nobody can answer over this route.",
                DECIDE,
            )
        asked = await self._take_restored(question=question)
        request_id = asked["requestId"] if asked else new_id("question")
        self._waiting.open_question(request_id)
        try:
            if asked is None:
                await self._emit(
                    events.UserInputRequested(
                        request_id=request_id, question=question, options=options
                    )
                )
            reply = await self._waiting.answer(request_id, self._audience)
        finally:
            self._waiting.drop(request_id)
        if reply is None:
            raise ToolFailure("timeout", "Nobody answered in time.", "Decide with what is known.")
        if reply.unanswered is not None:
            raise ToolFailure("not_allowed", reply.unanswered)
        return reply.text

    async def ask_form(self, message: str, form: InputForm, check: Check) -> FormAnswer:
        """The user's answer to a form of an MCP server; ``cancel`` where no page shows it, and when
        the wait is cancelled, in which case the cancellation goes on."""
        if self._audience != "page":
            return FormAnswer(action="cancel")
        request_id = new_id("form")
        self._waiting.open_form(request_id, check)
        answer = FormAnswer(action="cancel")
        try:
            await self._emit(
                events.UserInputRequested(request_id=request_id, question=message, form=form)
            )
            answer = await self._waiting.form(request_id)
        finally:
            self._waiting.drop(request_id)
            await self._emit(events.UserInputResolved(request_id=request_id, action=answer.action))
        return answer
