"""The event queue: what a session emits to its listeners."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from .base import Mode, NotebookMode, Wire
from .datasets import Dataset
from .errors import ErrorCode
from .history import Citation
from .plans import PlanState, PlanStep, WorkflowCall
from .provenance import Provenance
from .quality import QualityReport
from .requests import SessionSettings, Usage
from .sharing import ShareKind, ShareRequest
from .tools import Change, MissingRequirement, NotDone, ToolCallStatus, ToolLabel
from .workflows import FixInfo, WorkflowOffer


class BaseEvent(Wire):
    """``seq`` increases within a session and is the SSE id; ``at`` is ms since 1970."""

    seq: int = 0
    turn_id: str | None = None
    at: int = 0


class SessionConfigured(BaseEvent):
    """The session's settings or title changed."""

    type: Literal["session_configured"] = "session_configured"
    settings: SessionSettings
    title: str | None = None


class OpQueued(BaseEvent):
    """A message is queued while another turn runs; ``message`` is the user's text."""

    type: Literal["op_queued"] = "op_queued"
    op_id: str
    message: str | None = None


class OpHeld(BaseEvent):
    """A queued message is held, since the turn was stopped, until the user sends or removes it."""

    type: Literal["op_held"] = "op_held"
    op_id: str


class OpDequeued(BaseEvent):
    """A queued message left the queue: its turn started, or the user removed it."""

    type: Literal["op_dequeued"] = "op_dequeued"
    op_id: str
    reason: Literal["started", "removed"]


class TurnStarted(BaseEvent):
    """A turn began; ``tools`` are the names that the model is sent.

    ``workflow`` is the ready workflow that the user asked for, so that it can be asked for again.
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
    """A retried stream discards what it had shown of this item."""

    type: Literal["item_discarded"] = "item_discarded"
    item_id: str


class PlanUpdated(BaseEvent):
    """The current plan. ``state`` only of a planned workflow, which the server carries out;
    without it the plan is the model's own list. ``workflow`` is the id of the template.
    ``required_tool_labels`` say what the required tools do, by their names."""

    type: Literal["plan_updated"] = "plan_updated"
    steps: list[PlanStep]
    explanation: str | None = None
    state: PlanState | None = None
    required_tools: list[str] | None = None
    required_tool_labels: dict[str, str] | None = None
    estimated_duration: str | None = None
    workflow: str | None = None


class StepStarted(BaseEvent):
    """A step of a planned workflow began; ``index`` counts from 0."""

    type: Literal["step_started"] = "step_started"
    index: int
    total: int
    description: str


class StepFinished(BaseEvent):
    """A step of a planned workflow ended."""

    type: Literal["step_finished"] = "step_finished"
    index: int
    success: bool
    message: str


class RecoveryStarted(BaseEvent):
    """A failed step is being repaired."""

    type: Literal["recovery_started"] = "recovery_started"
    index: int
    error: str
    attempt: int


class RecoveryFinished(BaseEvent):
    """The repair of a failed step ended."""

    type: Literal["recovery_finished"] = "recovery_finished"
    index: int
    success: bool
    message: str


class ToolCallStarted(BaseEvent):
    """The model began to write a call. As the tool declares: what it is called, whether it only
    reads, and whether its purpose is to run code. None of a tool that is not known."""

    type: Literal["tool_call_started"] = "tool_call_started"
    call_id: str
    name: str
    label: ToolLabel | None = None
    reads: bool | None = None
    runs: bool | None = None


class ToolCallArguments(BaseEvent):
    """The call's arguments, complete; a string where they were not valid JSON."""

    type: Literal["tool_call_arguments"] = "tool_call_arguments"
    call_id: str
    arguments: Any


class ToolCallOutput(BaseEvent):
    """What the call returned: ``output`` cut as the model was sent it, but with what was
    ``withheld`` from it; ``summary`` for a user. ``needs``: the gate refused it for this."""

    type: Literal["tool_call_output"] = "tool_call_output"
    call_id: str
    name: str
    status: ToolCallStatus
    output: Any = None
    truncated: bool = False
    duration_ms: float = 0
    summary: str | None = None
    withheld: list[ShareKind] | None = None
    needs: MissingRequirement | None = None


class ApprovalRequested(BaseEvent):
    """An action waits for approval. ``changes`` is what it would change, where that is known.

    With ``share`` the act is to send something to the model: the call is done, or (without a
    ``call_id``) a turn is about to begin. ``kinds`` are what code does beyond the kernel ("runs a
    shell command"): approved for the session, only calls of the same tool with these are covered.
    """

    type: Literal["approval_requested"] = "approval_requested"
    approval_id: str
    call_id: str
    name: str
    arguments: Any
    reason: str
    destructive: bool
    changes: list[Change] | None = None
    share: ShareRequest | None = None
    kinds: list[str] | None = None


class ApprovalResolved(BaseEvent):
    """The wait is over; ``expired`` when nobody answered in time."""

    type: Literal["approval_resolved"] = "approval_resolved"
    approval_id: str
    decision: Literal["approve", "approve_for_session", "deny", "expired", "aborted"]


class UserInputRequested(BaseEvent):
    """A question for the user."""

    type: Literal["user_input_requested"] = "user_input_requested"
    request_id: str
    question: str
    options: list[str] | None = None


class DocumentChanged(BaseEvent):
    """A document was changed by this turn, as read back; ``call_id`` is the call that did it."""

    type: Literal["document_changed"] = "document_changed"
    path: str
    changes: list[Change]
    call_id: str | None = None


class UndoConflict(Wire):
    """A cell that a turn changed and that was changed again since; sources, None where the cell
    did not, or does not, exist."""

    path: str
    cell_id: str
    before: str | None = None
    after: str | None = None
    now: str | None = None


class ChangesUndone(BaseEvent):
    """Changes of the turn ``of_turn_id`` were reverted: ``changes`` as they were made to the
    documents just now. ``conflicts`` were left as they are, for the user to decide.
    ``cell_ids`` are the cells that are settled by this; None means all of the turn's. ``note``
    says what cannot be reverted: what the cells did in the kernel."""

    type: Literal["changes_undone"] = "changes_undone"
    of_turn_id: str
    changes: list[Change]
    conflicts: list[UndoConflict] = []
    cell_ids: list[str] | None = None
    note: str | None = None


class ChangesKept(BaseEvent):
    """The user keeps what the turn ``of_turn_id`` changed, or only some cells of it."""

    type: Literal["changes_kept"] = "changes_kept"
    of_turn_id: str
    cell_ids: list[str] | None = None


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
    """Another model begins to answer the message of the turn, which has ended."""

    type: Literal["answer_started"] = "answer_started"
    answer_id: str
    model: str


class AnswerDelta(BaseEvent):
    """A delta of such an answer; an ``item_discarded`` discards an item of it."""

    type: Literal["answer_delta"] = "answer_delta"
    answer_id: str
    item_id: str
    delta: str


class AnswerFinished(BaseEvent):
    """Such an answer ended. ``text`` is the whole of it, empty if it is not complete:
    what was shown of it stays, and is not kept as an answer. ``usage`` is what it cost."""

    type: Literal["answer_finished"] = "answer_finished"
    answer_id: str
    model: str
    status: Literal["completed", "stopped", "failed"]
    text: str = ""
    code: ErrorCode | None = None
    message: str | None = None
    usage: Usage | None = None
    provenance: Provenance | None = None


class AnswerChosen(BaseEvent):
    """The conversation continues from this answer of the turn; without one, from its first."""

    type: Literal["answer_chosen"] = "answer_chosen"
    answer_id: str | None = None


class SessionReset(BaseEvent):
    """All turns and older events of the session are deleted."""

    type: Literal["session_reset"] = "session_reset"


class SessionDeleted(BaseEvent):
    """The session was deleted, with all its data. ``seq`` is 0: it is not replayed."""

    type: Literal["session_deleted"] = "session_deleted"


class CellsStale(BaseEvent):
    """Code cells whose outputs no longer follow from the sources above, in notebook order; the
    whole list each time."""

    type: Literal["cells_stale"] = "cells_stale"
    path: str
    cell_ids: list[str]


class FixesOffered(BaseEvent):
    """Fixes, found without a model, for a cell that failed in this turn."""

    type: Literal["fixes_offered"] = "fixes_offered"
    path: str
    cell_id: str
    fixes: list[FixInfo]


class WorkflowsOffered(BaseEvent):
    """No model could answer, and these workflows are close to the message; none was started.
    ``message`` says so in Markdown, with how to have one run."""

    type: Literal["workflows_offered"] = "workflows_offered"
    offers: list[WorkflowOffer]
    message: str


class QualityReported(BaseEvent):
    """No model could answer, and the message asks for the quality of the notebook ``path``: this
    is its report."""

    type: Literal["quality_reported"] = "quality_reported"
    path: str
    report: QualityReport


class DatasetRegistered(BaseEvent):
    """A data set became known to the session."""

    type: Literal["dataset_registered"] = "dataset_registered"
    dataset: Dataset


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
    ``not_done`` is to be shown above the answer, whatever that says."""

    type: Literal["final_reply"] = "final_reply"
    text: str
    citations: list[Citation] | None = None
    not_done: NotDone | None = None


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


Event = Annotated[
    SessionConfigured
    | OpQueued
    | OpHeld
    | OpDequeued
    | TurnStarted
    | Status
    | ModelStarted
    | TextDelta
    | ReasoningDelta
    | ItemDiscarded
    | PlanUpdated
    | StepStarted
    | StepFinished
    | RecoveryStarted
    | RecoveryFinished
    | ToolCallStarted
    | ToolCallArguments
    | ToolCallOutput
    | ApprovalRequested
    | ApprovalResolved
    | UserInputRequested
    | DocumentChanged
    | ChangesUndone
    | ChangesKept
    | WentBack
    | AnswerStarted
    | AnswerDelta
    | AnswerFinished
    | AnswerChosen
    | SessionReset
    | SessionDeleted
    | CellsStale
    | FixesOffered
    | WorkflowsOffered
    | QualityReported
    | DatasetRegistered
    | TokenUsage
    | ContextCompacted
    | Warning_
    | FinalReply
    | ErrorEvent
    | TurnCompleted
    | TurnAborted,
    Field(discriminator="type"),
]

EVENT_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)
