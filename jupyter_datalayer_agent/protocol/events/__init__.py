"""The event queue: what a session emits to its listeners, a module for each subject."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from .base import BaseEvent
from .documents import (
    CellsStale,
    ChangesKept,
    ChangesUndone,
    DocumentChanged,
    DocumentRenamed,
    FixesOffered,
    QualityReported,
    UndoConflict,
)
from .history import (
    AnswerChosen,
    AnswerDelta,
    AnswerFinished,
    AnswerStarted,
    AnswerStatus,
    WentBack,
)
from .plan import PlanUpdated, RecoveryFinished, RecoveryStarted, StepFinished, StepStarted
from .services import (
    ActionFinished,
    ActionProgress,
    ActionProposed,
    ActionsOffered,
    ActionStarted,
    CommandUnknown,
    HelpShown,
    IntentDetected,
)
from .session import (
    DatasetRegistered,
    OpDequeued,
    OpHeld,
    OpQueued,
    SessionConfigured,
    SessionDeleted,
    SessionReset,
)
from .tool_calls import (
    ApprovalAct,
    ApprovalRequested,
    ApprovalResolved,
    ToolCallArguments,
    ToolCallOutput,
    ToolCallStarted,
    UserInputRequested,
    UserInputResolved,
)
from .turn import (
    ContextCompacted,
    ErrorEvent,
    FinalReply,
    ItemDiscarded,
    ModelStarted,
    ReasoningDelta,
    Status,
    TextDelta,
    TokenUsage,
    TurnAborted,
    TurnCompleted,
    TurnStarted,
    Warning_,
    WorkflowsOffered,
)

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
    | QualityReported
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

__all__ = [
    "EVENT_ADAPTER",
    "ActionFinished",
    "ActionProgress",
    "ActionProposed",
    "ActionStarted",
    "ActionsOffered",
    "AnswerChosen",
    "AnswerDelta",
    "AnswerFinished",
    "AnswerStarted",
    "AnswerStatus",
    "ApprovalAct",
    "ApprovalRequested",
    "ApprovalResolved",
    "BaseEvent",
    "CellsStale",
    "ChangesKept",
    "ChangesUndone",
    "CommandUnknown",
    "ContextCompacted",
    "DatasetRegistered",
    "DocumentChanged",
    "DocumentRenamed",
    "ErrorEvent",
    "Event",
    "FinalReply",
    "FixesOffered",
    "HelpShown",
    "IntentDetected",
    "ItemDiscarded",
    "ModelStarted",
    "OpDequeued",
    "OpHeld",
    "OpQueued",
    "PlanUpdated",
    "QualityReported",
    "ReasoningDelta",
    "RecoveryFinished",
    "RecoveryStarted",
    "SessionConfigured",
    "SessionDeleted",
    "SessionReset",
    "Status",
    "StepFinished",
    "StepStarted",
    "TextDelta",
    "TokenUsage",
    "ToolCallArguments",
    "ToolCallOutput",
    "ToolCallStarted",
    "TurnAborted",
    "TurnCompleted",
    "TurnStarted",
    "UndoConflict",
    "UserInputRequested",
    "UserInputResolved",
    "Warning_",
    "WentBack",
    "WorkflowsOffered",
]
