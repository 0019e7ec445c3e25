"""What the store hands out that does not cross the wire."""

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
    """Takes the events of a session, each once it is stored, in the order of their ``seq``."""

    def take(self, stored: StoredEvent) -> None:
        """It must not wait."""
        ...


@dataclass(frozen=True)
class TurnContext:
    """What a turn sent before its message: an item, None where nothing was new; and
    what it stated, as ``agent.known_context`` reads it."""

    item: dict[str, Any] | None
    stated: dict[str, Any] | None = None


@dataclass(frozen=True)
class TurnHistory:
    """One earlier turn, as the model's history needs it.

    ``context`` came before its items; None where no model was asked. ``items`` are Responses input
    items in the order in which they were sent. ``aborted_reason`` is the reason of the turn's
    ``turn_aborted`` event: ``interrupted`` when the user stopped it, ``shutdown`` when the server
    ended or died under it, None for a turn that was not aborted.
    """

    turn_id: str
    index: int
    status: TurnStatus
    aborted_reason: str | None = None
    items: list[dict[str, Any]] = field(default_factory=list)
    context: TurnContext | None = None


@dataclass(frozen=True)
class AskedWith:
    """What a turn's message was asked with: the request as it was decided then, and its context;
    None where that is not kept, since no model was asked or an earlier version was."""

    request: ChatRequest
    context: TurnContext | None


@dataclass(frozen=True)
class Compaction:
    """What is sent in place of the turns up to the position ``through``.

    ``last_item`` is the row of the newest item that it stands for: what is added to these turns
    later is sent. ``messages`` are the user's own that are in ``items`` word for word.
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
    """What is sent of a session: a compaction, and the turns after it, oldest first."""

    compaction: Compaction | None
    turns: list[TurnHistory]


@dataclass(frozen=True)
class StoredOp:
    """A message that waits for the running turn to end; one that is ``held`` waits for the user.
    ``created_at`` is in ms since 1970."""

    op_id: str
    op: UserMessage
    created_at: int
    held: bool = False


@dataclass(frozen=True)
class StoredPlan:
    """A plan with the turn that carried it out, and that turn's request."""

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
    """A cell before a span of a turn, and how the span left it: JSON, None where it was not
    there."""

    cell_id: str
    before: Any
    left: Any


@dataclass(frozen=True)
class CheckpointSpan:
    """A stretch of a turn in a document, with those of its cells that are not decided on."""

    path: str
    order: list[str]
    order_left: list[str]
    moved: list[str]
    cells: list[CheckpointCell] = field(default_factory=list)


@dataclass(frozen=True)
class CheckpointPart:
    """What is to be kept of a span; see ``notebook.checkpoints.Recorded``."""

    path: str
    span: int
    orders: tuple[list[str], list[str]] | None = None
    moved: list[str] = field(default_factory=list)
    added: list[CheckpointCell] = field(default_factory=list)
    left: dict[str, Any] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)


@dataclass
class TutorialProgress:
    """Where a tutorial was last started, and the lessons that were passed, by number, with the
    time of the first time, in ms since 1970."""

    notebook: str | None = None
    passed: dict[int, int] = field(default_factory=dict)
