"""Events of a turn: its start, what the model streams, its end."""

from __future__ import annotations

from typing import Literal

from ..base import Mode, NotebookMode
from ..errors import ErrorCode
from ..history import Citation
from ..plans import WorkflowCall
from ..requests import Incomplete, Usage
from ..tools import NotDone, TurnFacts
from ..workflows import WorkflowOffer
from .base import BaseEvent


class TurnStarted(BaseEvent):
    """A turn began; ``tools`` are the names that the model is sent.

    ``workflow`` is the ready workflow that the user asked for, so that it can be asked for again.
    ``compare`` are the models of a comparison: each answers with events of its own.
    """

    type: Literal["turn_started"] = "turn_started"
    mode: Mode
    notebook_mode: NotebookMode
    tools: list[str]
    message: str = ""
    model: str | None = None
    target: str | None = None
    op_id: str | None = None
    workflow: WorkflowCall | None = None
    compare: list[str] | None = None


class Status(BaseEvent):
    """The current activity, as text for a user."""

    type: Literal["status"] = "status"
    message: str


class ModelStarted(BaseEvent):
    """A model call began; ``attempt`` counts from 1."""

    type: Literal["model_started"] = "model_started"
    model: str
    attempt: int


class TextDelta(BaseEvent):
    """More text of an answer."""

    type: Literal["text_delta"] = "text_delta"
    item_id: str
    delta: str


class ReasoningDelta(BaseEvent):
    """More of the model's reasoning summary."""

    type: Literal["reasoning_delta"] = "reasoning_delta"
    item_id: str
    delta: str


class ItemDiscarded(BaseEvent):
    """What was shown of this item is taken back, since a stream is retried; or for this ``reason``:
    its text turned out to be reasoning, which follows."""

    type: Literal["item_discarded"] = "item_discarded"
    item_id: str
    reason: Literal["reasoning"] | None = None


class TokenUsage(BaseEvent):
    """The turn's tokens so far; ``call`` is the part of the model call that has just ended."""

    type: Literal["token_usage"] = "token_usage"
    usage: Usage
    call: Usage | None = None


class ContextCompacted(BaseEvent):
    """Older turns are no longer sent whole: counts of whole turns before and after.

    ``how``: they were summarised (``summary`` is what is sent instead), or dropped since there was
    no summary to be had. Tokens are estimates of the history. Nothing is deleted.
    """

    type: Literal["context_compacted"] = "context_compacted"
    before: int
    after: int
    how: Literal["summary", "dropped"] = "dropped"
    tokens_before: int = 0
    tokens_after: int = 0
    summary: str | None = None


class Warning_(BaseEvent):
    """Something the user should know that does not end the turn."""

    type: Literal["warning"] = "warning"
    code: str
    message: str


class FinalReply(BaseEvent):
    """The turn's whole answer. ``citations`` are the turns that the Strategist's links name.
    ``not_done`` is to be shown above the answer, whatever that says, and ``facts`` below it, of a
    turn in Agent mode. ``incomplete``: the answer was cut off, of which a ``warning`` has informed
    the user."""

    type: Literal["final_reply"] = "final_reply"
    text: str
    citations: list[Citation] | None = None
    not_done: NotDone | None = None
    facts: TurnFacts | None = None
    incomplete: Incomplete | None = None


class ErrorEvent(BaseEvent):
    """A failure that is shown to the user.

    ``opId`` is the op that was refused, where it is about one: a message that has no turn then.
    ``itemId`` is the text that the failure cut off: what was shown of it stays.
    """

    type: Literal["error"] = "error"
    code: ErrorCode
    message: str
    retryable: bool = False
    op_id: str | None = None
    item_id: str | None = None


class WorkflowsOffered(BaseEvent):
    """No model could answer, and these workflows are close to the message; none was started.
    ``message`` says so in Markdown, with how to have one run."""

    type: Literal["workflows_offered"] = "workflows_offered"
    offers: list[WorkflowOffer]
    message: str


class TurnCompleted(BaseEvent):
    """The turn ended. Times in ms; the time to the first token from the turn's start."""

    type: Literal["turn_completed"] = "turn_completed"
    duration_ms: float
    time_to_first_token_ms: float | None = None
    usage: Usage


class TurnAborted(BaseEvent):
    """The turn was aborted. ``durationMs``: how long it worked, in ms; the time for which
    the server was gone is none of it."""

    type: Literal["turn_aborted"] = "turn_aborted"
    reason: Literal["interrupted", "replaced", "token_limit", "tool_limit", "shutdown", "error"]
    duration_ms: float | None = None
