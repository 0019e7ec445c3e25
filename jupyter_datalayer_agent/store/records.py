"""Records that the store returns and that do not cross the wire."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ..protocol.base import TurnStatus
from ..protocol.events import BaseEvent
from ..protocol.ops import UserMessage
from ..protocol.plans import Plan
from ..protocol.requests import ChatRequest


@dataclass(frozen=True)
class StoredEvent:
    """An event with its number; ``text`` is its JSON, as it is stored and goes over the wire."""

    session_id: str
    event: BaseEvent
    text: str


class EventReader(Protocol):
    """Takes a session's events after they are stored, in the order of their ``seq``."""

    def take(self, stored: StoredEvent) -> None:
        """Take an event. Must not wait."""
        ...


@dataclass(frozen=True)
class TurnContext:
    """The context that a turn sent before its message: an item, None if nothing was new, and what
    it ``stated``, as ``agent.known_context`` reads it."""

    item: dict[str, Any] | None
    stated: dict[str, Any] | None = None


@dataclass(frozen=True)
class TurnHistory:
    """One earlier turn, for the model's history.

    ``context`` was sent before its items; None if no model was called. ``items`` are Responses
    input items in the order in which they were sent. ``aborted_reason`` is the reason in the turn's
    ``turn_aborted`` event: ``interrupted`` if the user stopped it, ``shutdown`` if the server ended
    or died during it, None for a turn that was not aborted.
    """

    turn_id: str
    index: int
    status: TurnStatus
    aborted_reason: str | None = None
    items: list[dict[str, Any]] = field(default_factory=list)
    context: TurnContext | None = None


@dataclass(frozen=True)
class AskedWith:
    """The request of a turn as it was decided then, and its context. The context is None if it was
    not kept, because no model was called or an earlier version of this package stored the turn."""

    request: ChatRequest
    context: TurnContext | None


@dataclass(frozen=True)
class Compaction:
    """Replaces the turns up to the position ``through`` in what is sent.

    ``last_item`` is the row of the newest item that it replaces; items that are added to these
    turns later are sent. ``messages`` are the user's messages that ``items`` quotes word for word.
    Tokens are estimates of the history before and after.
    """

    through: int
    last_item: int
    how: Literal["summary", "dropped"]
    items: list[dict[str, Any]]
    messages: list[str]
    summary: str | None
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True)
class StoredConversation:
    """The part of a session that is sent: a compaction and the turns after it, oldest first."""

    compaction: Compaction | None
    turns: list[TurnHistory]


@dataclass(frozen=True)
class StoredOp:
    """A message that waits for the running turn to end or, if ``held``, for the user.
    ``created_at`` is in ms since 1970."""

    op_id: str
    op: UserMessage
    created_at: int
    held: bool = False


@dataclass(frozen=True)
class StoredPlan:
    """A plan, the turn that carried it out, and that turn's request."""

    turn_id: str
    plan: Plan
    request: ChatRequest


@dataclass(frozen=True)
class WaitingTurn:
    """A turn that waited for the user when its server ended; ``wait`` is the event that asks."""

    turn_id: str
    request: ChatRequest
    op_id: str | None
    wait: dict[str, Any]
    plan: Plan | None


ChangeState = Literal["open", "kept", "undone"]
Place = tuple[str, str]
"""A document's path and a cell's id; an empty id is the document itself."""


@dataclass(frozen=True)
class CheckpointCell:
    """A cell before a span of a turn and after it, as JSON; None if it did not exist."""

    cell_id: str
    before: Any
    left: Any


@dataclass(frozen=True)
class CheckpointSpan:
    """A stretch of a turn's changes in a document, with its undecided cells."""

    path: str
    order: list[str]
    order_left: list[str]
    moved: list[str]
    cells: list[CheckpointCell] = field(default_factory=list)


@dataclass(frozen=True)
class CheckpointPart:
    """The part of a span to store; see ``notebook.checkpoints.Recorded``."""

    path: str
    span: int
    orders: tuple[list[str], list[str]] | None = None
    moved: list[str] = field(default_factory=list)
    added: list[CheckpointCell] = field(default_factory=list)
    left: dict[str, Any] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)


@dataclass
class TutorialProgress:
    """The notebook in which a tutorial was last started, and for each passed lesson, by number, the
    time when it was first passed, in ms since 1970."""

    notebook: str | None = None
    passed: dict[int, int] = field(default_factory=dict)
