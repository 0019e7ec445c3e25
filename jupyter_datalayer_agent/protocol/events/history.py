"""Events that change what the conversation consists of: rewinding, further answers."""

from __future__ import annotations

from typing import Literal

from ..answers import CitedAnswer, Usage
from ..errors import ErrorCode
from ..provenance import Provenance
from .base import BaseEvent


class WentBack(BaseEvent):
    """The user went back to the turn ``to_turn_id``, or with ``include_turn`` to before its
    message: the turns ``withdrawn`` (in order) are not sent any more.

    ``documents``: whether their changes were to be reverted; each ``changes_undone`` was
    emitted before. ``left`` are those of the turns of which changes remain: kept by the user
    before, or in conflict.
    """

    type: Literal["went_back"] = "went_back"
    to_turn_id: str
    include_turn: bool
    withdrawn: list[str]
    documents: bool
    left: list[str] = []


class AnswerStarted(BaseEvent):
    """A model begins to answer the message of the turn, beside others: of one that has ended, or of
    a comparison. With ``sources`` it writes a synthesis of these answers."""

    type: Literal["answer_started"] = "answer_started"
    answer_id: str
    model: str
    sources: list[CitedAnswer] | None = None


class AnswerStatus(BaseEvent):
    """The current activity of such an answer, as text for a user."""

    type: Literal["answer_status"] = "answer_status"
    answer_id: str
    message: str


class AnswerDelta(BaseEvent):
    """A delta of such an answer; an ``item_discarded`` discards an item of it."""

    type: Literal["answer_delta"] = "answer_delta"
    answer_id: str
    item_id: str
    delta: str


class AnswerFinished(BaseEvent):
    """Such an answer ended. ``text`` is the whole of it, empty if it is not complete:
    what was shown of it stays, and is not kept as an answer. ``usage`` is what it cost, all its
    calls of the model together; ``duration_ms`` the time from its start."""

    type: Literal["answer_finished"] = "answer_finished"
    answer_id: str
    model: str
    status: Literal["completed", "stopped", "failed"]
    text: str = ""
    code: ErrorCode | None = None
    message: str | None = None
    usage: Usage | None = None
    duration_ms: float | None = None
    provenance: Provenance | None = None
    sources: list[CitedAnswer] | None = None


class AnswerChosen(BaseEvent):
    """The conversation continues from this answer of the turn; without one, from its first."""

    type: Literal["answer_chosen"] = "answer_chosen"
    answer_id: str | None = None
