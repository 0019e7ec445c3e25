"""The event queue: what a session emits to its listeners."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from .answers import CitedAnswer, Provenance, Usage
from .base import Mode, NotebookMode, Wire
from .datasets import Dataset
from .errors import ErrorCode
from .history import Citation
from .mcp import FormAction, InputForm
from .plans import PlanState, PlanStep, WorkflowCall
from .requests import Incomplete, SessionSettings
from .services import ActionOffer, ActionProposal, ActionStatus, Intent, ServiceHelp
from .tools import (
    Change,
    CodePart,
    MissingRequirement,
    NotDone,
    ShareKind,
    ShareRequest,
    ToolCallStatus,
    ToolLabel,
    TurnFacts,
)
from .workflows import FixInfo, WorkflowOffer

# What all events share.


class BaseEvent(Wire):
    """``seq`` increases within a session and is the SSE id; ``at`` is ms since 1970."""

    seq: int = 0
    turn_id: str | None = None
    at: int = 0


# Events of tool calls, and of what they ask the user.


class ToolCallStarted(BaseEvent):
    """The model began to write a call. As the tool declares: what it is called, whether it only
    reads, and whether its purpose is to run code. None of a tool that is not known. Here and below
    ``answer_id`` is the answer of a comparison whose model makes the call."""

    type: Literal["tool_call_started"] = "tool_call_started"
    call_id: str
    name: str
    label: ToolLabel | None = None
    reads: bool | None = None
    runs: bool | None = None
    answer_id: str | None = None


class ToolCallArguments(BaseEvent):
    """The call's arguments, complete; a string where they were not valid JSON."""

    type: Literal["tool_call_arguments"] = "tool_call_arguments"
    call_id: str
    arguments: Any
    answer_id: str | None = None


class ToolCallOutput(BaseEvent):
    """What the call returned: ``output`` cut as the model was sent it, but with what was
    ``withheld`` from it; ``summary`` for a user. ``needs``: the gate refused it for this.
    ``mime_bundle``: data by MIME type to be shown to the user, which the model was not sent."""

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
    mime_bundle: dict[str, Any] | None = None
    answer_id: str | None = None


class ApprovalAct(Wire):
    """What running code waits to do: its ``kind`` ("removes or moves files") and its real
    ``target`` as the card names it, a file, a command or a machine. ``cell_id``: the code's."""

    kind: str
    target: str
    cell_id: str | None = None


class ApprovalRequested(BaseEvent):
    """An action waits for approval. ``changes`` is what it would change, where that is known.

    With ``share`` the act is to send something to the model: the call is done, or (without a
    ``call_id``) a turn is about to begin. ``kinds`` are what code does beyond the kernel ("runs a
    shell command"): approved for the session, only calls of the same tool with these are covered.
    ``label`` is that of the tool, where the call may be by way of another one. ``act``: the call's
    code runs, and waits before it does this. ``code`` is what would run, where neither the changes
    nor the arguments show it. ``basis`` is a hash of what an approval is of: after a restart of
    the server, only a request with the same one is answered by it. ``again``: the user approved the
    call, and what it would do has changed since, as ``reason`` says.
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
    label: ToolLabel | None = None
    act: ApprovalAct | None = None
    code: list[CodePart] | None = None
    basis: str | None = None
    again: bool | None = None


class ApprovalResolved(BaseEvent):
    """The wait is over; ``expired`` when nobody answered, or not in time."""

    type: Literal["approval_resolved"] = "approval_resolved"
    approval_id: str
    decision: Literal["approve", "approve_for_session", "deny", "expired", "aborted"]


class UserInputRequested(BaseEvent):
    """A question for the user. With ``form`` an MCP server asks it, by the way of the call that
    runs, and ``question`` is that server's text: plain, untrusted."""

    type: Literal["user_input_requested"] = "user_input_requested"
    request_id: str
    question: str
    options: list[str] | None = None
    form: InputForm | None = None


class UserInputResolved(BaseEvent):
    """A form is no longer open. What the user entered goes to the MCP server alone, and is not
    part of any event."""

    type: Literal["user_input_resolved"] = "user_input_resolved"
    request_id: str
    action: FormAction


# Events of a plan and its steps.


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
    """A failed step is being fixed: attempt ``attempt`` of at most ``max_attempts``, from 1."""

    type: Literal["recovery_started"] = "recovery_started"
    index: int
    error: str
    attempt: int
    max_attempts: int = 2


class RecoveryFinished(BaseEvent):
    """The attempt at a failed step ended; ``message`` is what was done, or why it did not help."""

    type: Literal["recovery_finished"] = "recovery_finished"
    index: int
    success: bool
    message: str


# Events of a turn: its start, what the model streams, its end.


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


# Events about documents: their changes, undo, and what was found in them.


class DocumentChanged(BaseEvent):
    """A document was changed by this turn, as read back; ``call_id`` is the call that did it."""

    type: Literal["document_changed"] = "document_changed"
    path: str
    changes: list[Change]
    call_id: str | None = None


class DocumentRenamed(BaseEvent):
    """What the session knows as ``old_path``, a document or a folder, is at ``path`` now. Earlier
    events have the newer path when they are read again."""

    type: Literal["document_renamed"] = "document_renamed"
    old_path: str
    path: str


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
    ``cell_ids`` are the cells that are settled by this; None means all of the turn's. ``files`` are
    the paths of the documents that are settled as a whole: text files, and what the turn created.
    ``note`` says what cannot be reverted: what the cells did in the kernel."""

    type: Literal["changes_undone"] = "changes_undone"
    of_turn_id: str
    changes: list[Change]
    conflicts: list[UndoConflict] = []
    cell_ids: list[str] | None = None
    files: list[str] | None = None
    note: str | None = None


class ChangesKept(BaseEvent):
    """The user keeps what the turn ``of_turn_id`` changed, or only some cells of it, and the
    documents ``files`` as a whole."""

    type: Literal["changes_kept"] = "changes_kept"
    of_turn_id: str
    cell_ids: list[str] | None = None
    files: list[str] | None = None


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


# Events that change what the conversation consists of: rewinding, further answers.


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


# Events of services: what a message asks for, and actions proposed and run.


class IntentDetected(BaseEvent):
    """What the message is understood to ask for, and what else it could; ``how`` that was found:
    the user typed the command or chose it, a ranking or a model detected it."""

    type: Literal["intent_detected"] = "intent_detected"
    service: str
    subcommand: str
    title: str
    confidence: float
    alternatives: list[Intent] = []
    how: Literal["command", "ranking", "model", "chosen"]


class HelpShown(BaseEvent):
    """What the agent can do, by service, with examples that can be sent."""

    type: Literal["help_shown"] = "help_shown"
    services: list[ServiceHelp]


class ActionsOffered(BaseEvent):
    """No model could say what the message asks for, and these are nearest to its words, the nearest
    first. Nothing was proposed or run. ``text`` introduces them."""

    type: Literal["actions_offered"] = "actions_offered"
    text: str
    offers: list[ActionOffer]


class CommandUnknown(BaseEvent):
    """The message begins with a command that there is not; ``nearest`` may be meant. It can be sent
    again as an ordinary message."""

    type: Literal["command_unknown"] = "command_unknown"
    command: str
    nearest: list[str] = []


class ActionProposed(BaseEvent, ActionProposal):
    """An action that the user may run, with the parameters found. Nothing was executed. Another one
    of the same ``proposal_id`` takes the place of the first."""

    type: Literal["action_proposed"] = "action_proposed"


class ActionStarted(BaseEvent):
    """The user ran an action."""

    type: Literal["action_started"] = "action_started"
    service: str
    action: str
    title: str
    proposal_id: str | None = None


class ActionProgress(BaseEvent):
    """How far the action is: ``fraction`` from 0 to 1, None where that is not known."""

    type: Literal["action_progress"] = "action_progress"
    message: str
    fraction: float | None = None


class ActionFinished(BaseEvent):
    """The action ended. ``output`` is Markdown, ``paths`` the files that it wrote; ``error`` says
    what went wrong and what to do."""

    type: Literal["action_finished"] = "action_finished"
    status: ActionStatus
    output: str = ""
    paths: list[str] = []
    error: str | None = None


# Events of the session itself, its queue and its data sets.


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


class SessionReset(BaseEvent):
    """All turns and older events of the session are deleted."""

    type: Literal["session_reset"] = "session_reset"


class SessionDeleted(BaseEvent):
    """The session was deleted, with all its data. ``seq`` is 0: it is not replayed."""

    type: Literal["session_deleted"] = "session_deleted"


class DatasetRegistered(BaseEvent):
    """A data set became known to the session."""

    type: Literal["dataset_registered"] = "dataset_registered"
    dataset: Dataset


# All of them, as they are sent: told apart by their type.


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
    | UserInputResolved
    | DocumentChanged
    | DocumentRenamed
    | ChangesUndone
    | ChangesKept
    | WentBack
    | AnswerStarted
    | AnswerStatus
    | AnswerDelta
    | AnswerFinished
    | AnswerChosen
    | SessionReset
    | SessionDeleted
    | CellsStale
    | FixesOffered
    | WorkflowsOffered
    | IntentDetected
    | HelpShown
    | ActionsOffered
    | CommandUnknown
    | ActionProposed
    | ActionStarted
    | ActionProgress
    | ActionFinished
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
