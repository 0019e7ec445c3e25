"""What waits for the user: approvals and questions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

from ...protocol.forms import FormAnswer

Audience = Literal["page", "stream", "none"]
"""Who can answer: a page (waits forever), a program that listens, or nobody (`POST chat`)."""

STREAM_WAIT_SECONDS = 600.0

Answer = tuple[Literal["approve", "approve_for_session", "deny", "expired"], str | None]


Check = Callable[[dict[str, Any]], str | None]
"""What is wrong with the values of a form, None if nothing is."""

T = TypeVar("T")


class Reply(NamedTuple):
    """What the user answered to a question, or why nobody answers."""

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
    """The open questions of a session by id, and what was approved for the whole session.

    ``changed`` is called when one is opened or closed.
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
        """Whether something waits that cannot be asked again: a form, or code that runs."""
        return _any_open(self._forms) or bool(self._during_runs)

    def open_approval(self, approval_id: str, during_run: bool = False) -> None:
        """Open an approval; opened twice it is the same one, with the answer that it may have.

        It stays open until it is dropped, even when nobody awaits its answer any more. One
        ``during_run`` is of code that has begun to run, and ends with the server.
        """
        if during_run:
            self._during_runs.add(approval_id)
        self._open(self._approvals, approval_id)

    def open_question(self, request_id: str) -> None:
        """Open a question, in the same way."""
        self._open(self._questions, request_id)

    def open_form(self, request_id: str, check: Check) -> None:
        """Open a form, in the same way; only an answer that ``check`` finds nothing wrong with
        settles it."""
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
        """The decision on an open approval, with its reason; ``expired`` if none came in time."""
        late: Answer = ("expired", None)
        return await self._settled(self._approvals[approval_id], audience, late)

    async def answer(self, request_id: str, audience: Audience) -> Reply | None:
        """The answer to an open question; None if none came in time."""
        return await self._settled(self._questions[request_id], audience, None)

    async def form(self, request_id: str) -> FormAnswer:
        """The answer to an open form, however long it takes."""
        return await self._forms[request_id]

    def decide(self, approval_id: str, answer: Answer) -> bool:
        """Settle an approval; False when it is not open (any more)."""
        return _settle(self._approvals.get(approval_id), answer)

    def reply(self, request_id: str, answer: Reply) -> bool:
        """Answer a question; False when it is not open (any more)."""
        return _settle(self._questions.get(request_id), answer)

    def problem_of(self, request_id: str, answer: FormAnswer) -> str | None:
        """What is wrong with an answer to a form, None if nothing is."""
        check = self._checks.get(request_id)
        return None if check is None or answer.action != "accept" else check(answer.values)

    def fill_in(self, request_id: str, answer: FormAnswer) -> bool:
        """Answer a form; False when it is not open (any more)."""
        return _settle(self._forms.get(request_id), answer)

    async def _settled(self, answered: asyncio.Future[T], audience: Audience, late: T) -> T:
        try:
            return await asyncio.wait_for(answered, approval_timeout(audience))
        except asyncio.TimeoutError:
            return late
