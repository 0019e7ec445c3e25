"""Requests and replies of the HTTP routes (DESIGN 3)."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field, field_validator

from .answers import AnswerFailure, FurtherAnswer, different_models
from .answers import ToolCallRecord as ToolCallRecord
from .answers import Usage as Usage
from .base import (
    ApprovalPolicy,
    Location,
    Mode,
    Name,
    NotebookMode,
    ReasoningEffort,
    SessionKind,
    SharePolicy,
    TurnStatus,
    Wire,
)
from .context import Attachment
from .errors import ErrorBody
from .plans import WorkflowCall
from .services import ActionCall, IntentChoice
from .sessions import ForkOrigin
from .tools import Change, NotDone, TurnFacts
from .workflows import WorkflowOffer


class Overrides(Wire):
    """Settings of one request, over every other layer but an administrator's lock."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_output_tokens: int | None = Field(default=None, ge=1)
    parallel_tool_calls: bool | None = None
    tool_choice: str | dict[str, Any] | None = None
    token_limit: int | None = Field(default=None, ge=1)
    max_tool_calls: int | None = Field(default=None, ge=1)
    reasoning_effort: ReasoningEffort | None = None


class ProposalDecision(Wire):
    """What the user decided on a proposal of an answer. ``kind`` and ``target`` (a cell's id or a
    file's path) are as in its info string."""

    kind: Literal["cell", "after", "file"]
    target: str = Field(max_length=1000)
    outcome: Literal["accepted", "accepted_in_part", "rejected"]


AGENT_PREFIX = re.compile(r"^\s*agent:\s*", re.IGNORECASE)
"""What a message begins with that is for Agent mode."""


class ChatRequest(Wire):
    """A user's message. With no ``session_id`` a session is made.

    ``active_notebook`` is the notebook whose editor is the active one; when the field is left out
    it is what the page ``client_id`` last reported, and an explicit null means none. With
    ``workflow`` that is carried out, without a model; ``message`` is what the user said.
    With ``action`` the user runs that action, likewise. ``intent`` is what the user chose the
    message to ask for, in place of what would be detected.
    ``cell_id`` is the cell of an inline chat, ``selection`` the text selected in its editor.
    ``decided`` is what became of the session's proposals since its last message.
    ``called_by`` is the program whose tool call this is, if it is no message of a user's.
    ``about_session`` is for the Strategist: the chat that is "this conversation" to the question.
    With ``compare`` these models (two to four) answer the message side by side; they only read.
    With ``runs_actions`` a program that listens runs or skips the actions of a plan by itself, by
    ``run_action`` and ``plan_decision``: without it a plan over ``chat/stream`` has none.
    Without ``can_answer`` a program says that nobody is there whom the model could ask: ``askUser``
    is not offered.
    """

    message: str
    session_id: Name | None = None
    mode: Mode | None = None
    model: Name | None = None
    attachments: list[Attachment] = []
    tool_references: list[Name] = Field(default=[], max_length=200)
    active_notebook: str | None = None
    client_id: Name | None = None
    location: Location | None = None
    cell_id: Name | None = None
    selection: str | None = None
    plan_first: bool | None = None
    workflow: WorkflowCall | None = None
    action: ActionCall | None = None
    intent: IntentChoice | None = None
    decided: list[ProposalDecision] = Field(default=[], max_length=100)
    called_by: Name | None = None
    about_session: Name | None = None
    approval: ApprovalPolicy | None = None
    overrides: Overrides | None = None
    compare: list[Name] | None = None
    runs_actions: bool = False
    can_answer: bool = True

    @field_validator("compare")
    @classmethod
    def _is_a_comparison(cls, models: list[str] | None) -> list[str] | None:
        return None if models is None else different_models(models, at_least=2)


class Incomplete(Wire):
    """Why the ``reply`` is not, or may not be, all that there was to say: it reached the limit of
    output tokens, a provider's filter ended it, the model refused, it repeated itself, or the
    server did not say that it ended. ``message`` is for the user, with what helps."""

    reason: Literal[
        "max_output_tokens",
        "content_filter",
        "refusal",
        "repetition",
        "connection_lost",
        "size_limit",
    ]
    message: str


class ChatReply(Wire):
    """The end of a turn. ``offers`` are workflows that are close to a message that no model could
    answer. ``not_done`` contradicts a ``reply`` that says that all is well; ``facts`` count what a
    turn in Agent mode did. ``incomplete``: the reply was cut off. Of a comparison, ``answers`` are
    those that are complete, ``unanswered`` the others, and ``reply`` the one that the conversation
    continues from, ``chosen_answer``. ``warnings`` are those from before the model was asked."""

    session_id: str
    turn_id: str
    status: Literal["completed", "failed", "aborted"]
    mode: Mode
    notebook_mode: NotebookMode
    reply: str
    tool_calls: list[ToolCallRecord]
    changes: list[Change]
    usage: Usage
    error: ErrorBody | None = None
    offers: list[WorkflowOffer] = []
    not_done: NotDone | None = None
    facts: TurnFacts | None = None
    incomplete: Incomplete | None = None
    answers: list[FurtherAnswer] = []
    chosen_answer: str | None = None
    unanswered: list[AnswerFailure] = []
    warnings: list[str] = []


class SessionSettings(Wire):
    """What a session remembers; None means: as the layers below say.

    ``outputs`` and ``row_data`` say what may go to the model.
    """

    mode: Mode | None = None
    model: str | None = None
    notebook: str | None = None
    attachments: list[Attachment] | None = None
    approval: ApprovalPolicy | None = None
    plan_first: bool | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    token_limit: int | None = Field(default=None, ge=1)
    max_tool_calls: int | None = Field(default=None, ge=1)
    outputs: SharePolicy | None = None
    row_data: SharePolicy | None = None
    reasoning_effort: ReasoningEffort | None = None
    context_window: int | None = Field(default=None, ge=1000)


class QueuedMessage(Wire):
    """A message that waits while a turn runs, or until it is sent now (``held``)."""

    op_id: str
    message: str
    held: bool | None = None


class Session(Wire):
    """A conversation. ``last_seq`` is the number of its newest event; ``waits`` is true while its
    turn waits for the user.

    ``queued``, the messages that wait, is given for a single session only; ``forked_from`` for a
    session that began as a copy of another one.
    """

    id: str
    title: str
    kind: SessionKind = "chat"
    created_at: int
    updated_at: int
    settings: SessionSettings
    turn_count: int = 0
    last_seq: int = 0
    running_turn_id: str | None = None
    waits: bool | None = None
    session_tokens: int = 0
    session_cost: float | None = None
    queued: list[QueuedMessage] | None = None
    forked_from: ForkOrigin | None = None


class SessionCreate(Wire):
    """Body of ``POST sessions``."""

    title: str | None = None
    settings: SessionSettings | None = None


class SessionPatch(Wire):
    """Body of ``PATCH sessions/{id}``: only what is given changes."""

    title: str | None = Field(default=None, min_length=1, max_length=200)
    settings: SessionSettings | None = None


class SessionsReply(Wire):
    """A page of sessions, newest first; ``next_cursor`` asks for the following one."""

    sessions: list[Session]
    next_cursor: str | None = None


class Turn(Wire):
    """A turn with what it sent, did and cost.

    ``items`` are Responses input items as they were sent. ``events`` (with ``?include=events``)
    are the turn's events with the deltas of one item joined into one, enough to draw it again.
    ``withdrawn_at`` (ms since 1970) is set where the user went back to before this turn: it is
    not sent any more. ``copied_from`` is the turn of another session that a fork copied.
    ``answers`` are what other models answered to the same message, and syntheses of answers;
    ``chosen_answer`` is the one of them from which the conversation continues, if not from
    ``reply``. ``compare`` are the models of a comparison, which has no ``reply`` of its own.
    ``not_done`` is what ``reply`` may be silent about: what was tried and did not come about;
    ``facts`` is what a turn in Agent mode did.
    ``duration_ms`` is how long it worked, by a clock that is not set; of one that runs, as it was
    last stored. ``started_at`` and ``ended_at`` are times of the day, in ms since 1970.
    """

    id: str
    session_id: str
    index: int
    status: TurnStatus
    mode: Mode
    notebook_mode: NotebookMode
    location: Location
    model: str | None = None
    message: str
    reply: str = ""
    started_at: int
    ended_at: int | None = None
    duration_ms: float | None = None
    first_seq: int
    last_seq: int
    items: list[dict[str, Any]] = []
    tool_calls: list[ToolCallRecord] = []
    changes: list[Change] = []
    usage: Usage = Usage()
    error: ErrorBody | None = None
    events: list[dict[str, Any]] | None = None
    withdrawn_at: int | None = None
    copied_from: str | None = None
    answers: list[FurtherAnswer] = []
    chosen_answer: str | None = None
    compare: list[str] | None = None
    not_done: NotDone | None = None
    facts: TurnFacts | None = None


class TurnsReply(Wire):
    """Turns in order, the newest last; ``before`` asks for older ones and ``after`` for newer ones
    (turn ids), if any."""

    turns: list[Turn]
    before: str | None = None
    after: str | None = None


class CellBefore(Wire):
    """A cell as it was before a turn that changed or ran it: nbformat, with its outputs and
    metadata; None where the turn added it."""

    path: str
    cell_id: str
    cell: dict[str, Any] | None = None


class ChangedBlock(Wire):
    """A block of a Lexical document that a turn changed. ``index`` is its place in the document as
    it is now (of a removed one, that of the block before which it stood); ``before`` has its node
    as it was, and those of its outputs."""

    path: str
    op: Literal["insert", "update", "delete"]
    index: int
    before: list[dict[str, Any]] | None = None


class ChangesReply(Wire):
    """What a turn changed, with a unified diff of each cell.

    ``states`` says of each change whether it waits for the user's decision, was kept, or was
    reverted. ``before`` and ``blocks`` are given where they are asked for: the cells that wait for
    a decision, as they were, and the blocks; what was decided on is not known any more.
    """

    turn_id: str
    changes: list[Change]
    diffs: list[str]
    states: list[Literal["open", "kept", "undone"]] = []
    before: list[CellBefore] | None = None
    blocks: list[ChangedBlock] | None = None


class OpAccepted(Wire):
    """Answer of ``POST sessions/{id}/ops``."""

    op_id: str


class ModelInfo(Wire):
    """One model that may be chosen. ``ready``: the key or the address that a call needs is set;
    what only the provider knows (whether the key is good, the model there) is not asked.

    ``context_window`` is in tokens, prices are in US dollars per million tokens; None: not known.
    ``assumed_context_window`` is what the agent counts with where the window is not known.
    ``reasoning_efforts`` are those that can be chosen, of a model that reasons.
    """

    id: str
    label: str
    provider: str
    ready: bool
    reason: str | None = None
    vision: bool = False
    context_window: int | None = None
    assumed_context_window: int | None = None
    reasoning_efforts: list[ReasoningEffort] | None = None
    input_price: float | None = None
    output_price: float | None = None


class Connection(Wire):
    """A way to connect a model: what to type, and where."""

    title: str
    steps: str


LockableChoice = Literal["reasoning_effort", "outputs", "row_data"]
"""A setting that users choose in the panel for a session, unless it is locked."""


class ModelsReply(Wire):
    """Answer of ``GET models``. ``message`` says what was looked for when nothing is ready;
    ``locked`` that an administrator chose the model and no other one can be taken;
    ``can_connect`` whether users may connect models in the panel. ``locked_choices`` are those of
    a session's further settings that an administrator decided."""

    models: list[ModelInfo]
    default: str | None = None
    ready: bool
    message: str | None = None
    connections: list[Connection] = []
    locked: bool = False
    can_connect: bool = True
    locked_choices: list[LockableChoice] = []


class ConfigValue(Wire):
    """One effective setting and the layer that it comes from.

    ``editable`` says whether a user may change it; ``inherited`` is what holds without the
    user's own value. ``unconfirmed`` is a value in the user's file that protects the user less: it
    holds once a page has sent it as a change. User names, passwords and query values of addresses
    are shown as ``***``.
    """

    name: str
    value: Any = None
    source: Literal["default", "environment", "config", "user", "session"]
    locked: bool = False
    editable: bool = False
    inherited: Any = None
    description: str = ""
    unconfirmed: Any = None


class ConfigReply(Wire):
    """Answer of ``GET config``; it never holds a secret."""

    values: list[ConfigValue]


class ConfigPatch(Wire):
    """Body of ``PATCH config``: the user's settings in JupyterLab, by name; null takes the
    user's value away. All of them change, or none."""

    values: dict[str, Any]


class DatabaseHealth(Wire):
    """The network file system that the database is on, and SQLite's journal mode there."""

    file_system: str
    journal: str


class KernelDocument(Wire):
    """Answer of ``GET kernel``: the document that the kernel runs for, null where there is none,
    and whether the agent can run cells of it in that kernel."""

    path: str | None
    is_notebook: bool


class Health(Wire):
    """Answer of ``GET health``. ``database`` is given where it was opened on a network file system,
    on which it is slower."""

    status: Literal["ok"] = "ok"
    database: DatabaseHealth | None = None
