"""The event queue: what a session emits to its listeners, a module for each subject."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from .session import (
    ActionFinished,
    ActionProgress,
    ActionProposed,
    ActionsOffered,
    ActionStarted,
    AnswerChosen,
    AnswerDelta,
    AnswerFinished,
    AnswerStarted,
    AnswerStatus,
    CellsStale,
    ChangesKept,
    ChangesUndone,
    CommandUnknown,
    DatasetRegistered,
    DocumentChanged,
    DocumentRenamed,
    FixesOffered,
    HelpShown,
    IntentDetected,
    OpDequeued,
    OpHeld,
    OpQueued,
    SessionConfigured,
    SessionDeleted,
    SessionReset,
    UndoConflict,
    WentBack,
)
from .turn import (
    ApprovalAct,
    ApprovalRequested,
    ApprovalResolved,
    BaseEvent,
    ContextCompacted,
    ErrorEvent,
    FinalReply,
    ItemDiscarded,
    ModelStarted,
    PlanUpdated,
    ReasoningDelta,
    RecoveryFinished,
    RecoveryStarted,
    Status,
    StepFinished,
    StepStarted,
    TextDelta,
    TokenUsage,
    ToolCallArguments,
    ToolCallOutput,
    ToolCallStarted,
    TurnAborted,
    TurnCompleted,
    TurnStarted,
    UserInputRequested,
    UserInputResolved,
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
