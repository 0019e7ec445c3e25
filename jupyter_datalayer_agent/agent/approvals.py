"""Asks the user in the middle of a turn, and decides what may be sent to the model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

from ..protocol import events
from ..protocol.base import Audience, new_id
from ..protocol.mcp import FormAnswer, InputForm
from ..tools.call_approval import ApprovalRequest, Decision
from ..tools.context import ToolFailure

# Requests that wait for the user: approvals, questions and forms.


STREAM_WAIT_SECONDS = 600.0

Answer = tuple[Literal["approve", "approve_for_session", "deny", "expired"], str | None]


Check = Callable[[dict[str, Any]], str | None]
"""Returns what is wrong with the values of a form, None if nothing is."""

T = TypeVar("T")


class Reply(NamedTuple):
    """What the user answered to a question, or why there is no answer."""

    text: str
    unanswered: str | None = None


def approval_timeout(audience: Audience) -> float | None:
    """Seconds to wait for an answer, or None for as long as it takes."""
    return STREAM_WAIT_SECONDS if audience == "stream" else None


def _settle(future: asyncio.Future[Any] | None, answer: Any) -> bool:
    if future is None or future.done():
        return False
    future.set_result(answer)
    return True


def _any_open(futures: dict[str, asyncio.Future[Any]]) -> bool:
    return any(not future.done() for future in futures.values())


@dataclass
class PendingRequests:
    """The open requests of a session by id, and what was approved for the whole session.

    ``changed`` is called when a request is opened or closed.
    """

    approved_tools: set[str] = field(default_factory=set)
    _approvals: dict[str, asyncio.Future[Answer]] = field(default_factory=dict)
    _questions: dict[str, asyncio.Future[Reply | None]] = field(default_factory=dict)
    _forms: dict[str, asyncio.Future[FormAnswer]] = field(default_factory=dict)
    _checks: dict[str, Check] = field(default_factory=dict)
    _during_runs: set[str] = field(default_factory=set)
    changed: Callable[[], None] = lambda: None

    @property
    def has_open(self) -> bool:
        """Whether an approval, a question or a form waits for its answer."""
        approvals, questions, forms = self._approvals, self._questions, self._forms
        return _any_open(approvals) or _any_open(questions) or _any_open(forms)

    @property
    def ends_with_server(self) -> bool:
        """Whether something waits that cannot be asked again: a form, or running code."""
        return _any_open(self._forms) or bool(self._during_runs)

    def open_approval(self, approval_id: str, during_run: bool = False) -> None:
        """Open an approval; opened again, it is the same one, with any answer that it has.

        It stays open until it is dropped, even if its answer is no longer awaited. With
        ``during_run``, it is for code that already runs, and ends with the server.
        """
        if during_run:
            self._during_runs.add(approval_id)
        self._open(self._approvals, approval_id)

    def open_question(self, request_id: str) -> None:
        """Open a question, in the same way."""
        self._open(self._questions, request_id)

    def open_form(self, request_id: str, check: Check) -> None:
        """Open a form, in the same way; an answer settles it only if ``check`` finds no problem."""
        self._checks[request_id] = check
        self._open(self._forms, request_id)

    def _open(self, where: dict[str, asyncio.Future[T]], key: str) -> None:
        if key not in where:
            where[key] = asyncio.get_running_loop().create_future()
            self.changed()

    def drop(self, request_id: str) -> None:
        """Close the request without an answer."""
        self._approvals.pop(request_id, None)
        self._questions.pop(request_id, None)
        self._forms.pop(request_id, None)
        self._checks.pop(request_id, None)
        self._during_runs.discard(request_id)
        self.changed()

    async def approval(self, approval_id: str, audience: Audience) -> Answer:
        """The decision on an open approval, with its reason; ``expired`` after the timeout."""
        late: Answer = ("expired", None)
        return await self._settled(self._approvals[approval_id], audience, late)

    async def answer(self, request_id: str, audience: Audience) -> Reply | None:
        """The answer to an open question; None after the timeout."""
        return await self._settled(self._questions[request_id], audience, None)

    async def form(self, request_id: str) -> FormAnswer:
        """The answer to an open form, however long it takes."""
        return await self._forms[request_id]

    def decide(self, approval_id: str, answer: Answer) -> bool:
        """Settle an approval; False if it is not open."""
        return _settle(self._approvals.get(approval_id), answer)

    def reply(self, request_id: str, answer: Reply) -> bool:
        """Answer a question; False if it is not open."""
        return _settle(self._questions.get(request_id), answer)

    def problem_of(self, request_id: str, answer: FormAnswer) -> str | None:
        """What is wrong with an answer to a form, None if nothing is."""
        check = self._checks.get(request_id)
        return None if check is None or answer.action != "accept" else check(answer.values)

    def fill_in(self, request_id: str, answer: FormAnswer) -> bool:
        """Answer a form; False if it is not open."""
        return _settle(self._forms.get(request_id), answer)

    async def _settled(self, answered: asyncio.Future[T], audience: Audience, late: T) -> T:
        try:
            return await asyncio.wait_for(answered, approval_timeout(audience))
        except asyncio.TimeoutError:
            return late


# Asks the user in the middle of a turn: approvals, questions and forms.


DECIDE = "Decide with what you know, and say what you assumed."
NOBODY = "needs a user's approval, and no user is available."


class ApprovalBroker:
    """Asks whoever can answer for this turn, according to ``audience``."""

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
        """Open an approval or a question again that was open when the server ended, from its event.
        It then answers an identical request."""
        if wait["type"] == "approval_requested":
            self._waiting.open_approval(wait["approvalId"])
            self._asked = wait
        elif wait["type"] == "user_input_requested":
            self._waiting.open_question(wait["requestId"])
            self._asked = wait

    async def _take_restored(self, **same: Any) -> dict[str, Any] | None:
        """The restored event, if it is for this request; any other is dropped."""
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
        """The user's decision on a call; a denial at once if no one can decide."""
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
            # Also if the request could not be stored, or the session would wait forever.
            self._waiting.drop(approval_id)
        if decision == "approve_for_session":
            self._waiting.approved_tools.update(request.remember_as.split())
        await self._emit(events.ApprovalResolved(approval_id=approval_id, decision=decision))
        if decision == "expired":
            return Decision(False, undecided=feedback or "No one answered in time.")
        return Decision(decision in ("approve", "approve_for_session"), feedback)

    def has_approved(self, what: str) -> bool:
        """Whether the user approved all of these keys for the session: names of tools, say."""
        return self._waiting.approved_tools.issuperset(what.split())

    async def ask(self, question: str, options: list[str] | None) -> str:
        """The user's answer. Raises ``ToolFailure`` if no one can answer, or none came in time."""
        if self._audience == "none":
            raise ToolFailure(
                "not_allowed",
                "No user is available to answer.",
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
            raise ToolFailure("timeout", "No one answered in time.", "Decide with what you know.")
        if reply.unanswered is not None:
            raise ToolFailure("not_allowed", reply.unanswered)
        return reply.text

    async def ask_form(self, message: str, form: InputForm, check: Check) -> FormAnswer:
        """The user's answer to a form of an MCP server; ``cancel`` if no page shows it. If the wait
        is cancelled, the form is, too."""
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
