"""A session's state in memory, which ops and turns read and change. The actor runs them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from ..models.prices import cost_of
from ..protocol import events
from ..protocol.errors import AgentError
from ..protocol.renames import Rename
from ..protocol.requests import Session, SessionSettings, Usage
from ..store.records import TurnContext
from ..tools.context import SeenCells
from .approvals import PendingRequests
from .asker import Starters
from .events import EventChannel
from .history import History, Item, read_history
from .open_proposal import OpenProposal
from .runtime import Runtime

# Tokens: how many a turn used, and whether the session may use more.


def add_usage(
    turn: Usage, call: Usage, session_tokens: int, session_cost: float | None = None
) -> Usage:
    """The turn's usage after one more model call; the session had used ``session_tokens`` and spent
    ``session_cost`` before it."""
    return Usage(
        input_tokens=turn.input_tokens + call.input_tokens,
        output_tokens=turn.output_tokens + call.output_tokens,
        cached_tokens=turn.cached_tokens + call.cached_tokens,
        total_tokens=turn.total_tokens + call.total_tokens,
        session_tokens=session_tokens + call.total_tokens,
        cost=_sum(turn.cost, call.cost),
        session_cost=_sum(session_cost, call.cost),
        estimated=turn.estimated or call.estimated,
    )


def _sum(one: float | None, other: float | None) -> float | None:
    """The sum of two costs. An unknown one counts as nothing; None if both are unknown."""
    return None if one is None and other is None else (one or 0) + (other or 0)


def estimated_usage(model: str, sent: int, answered: int) -> Usage:
    """Usage of a call that ended before the provider reported what it cost."""
    usage = Usage(
        input_tokens=sent, output_tokens=answered, total_tokens=sent + answered, estimated=True
    )
    return usage.model_copy(update={"cost": cost_of(model, usage)})


def check_budget(limit: int | None, used: int, more: int = 0) -> None:
    """Raises ``AgentError`` ``token_limit`` if the session has used up its tokens, or would with a
    request of about ``more``."""
    if limit is None or used + more < limit:
        return
    needed = f", about {more:,} more needed" if more else ""
    raise AgentError(
        "token_limit",
        f"The token limit of this session is reached: {used:,} used{needed}, {limit:,} allowed. "
        "Raise token_limit or start a new session.",
    )


# A request to stop, which may come before, during or after the work.


T = TypeVar("T")


async def to_completion(work: Coroutine[Any, Any, T]) -> T:
    """Finish the work even if this task is cancelled meanwhile; the cancellation takes effect
    afterwards."""
    task, cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            cancelled = True
    result = task.result()
    if cancelled:
        raise asyncio.CancelledError
    return result


class Stop:
    """Cancels one piece of work, and nothing before or after it.

    A turn's start and end (its message is stored, exactly one event ends it) are outside of
    ``work``, since cancelling the whole task would cut them off. The end of the work's own task is
    the only place that decides whether it finished or was stopped.
    """

    def __init__(self) -> None:
        self.requested = False
        self._task: asyncio.Task[Any] | None = None

    def request(self) -> None:
        """Stop the work. A second request has no effect, so that the clean-up is not cancelled."""
        if not self.requested:
            self.requested = True
            if self._task is not None:
                self._task.cancel()

    async def work(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it. Raises ``CancelledError`` if the stop came before its end."""
        if self.requested:
            work.close()
            raise asyncio.CancelledError
        self._task = task = asyncio.create_task(work)
        try:
            return await task
        finally:
            self._task = None

    def check(self) -> None:
        """Raises ``CancelledError`` once a stop was requested, in case a library swallowed the
        cancellation."""
        if self.requested:
            raise asyncio.CancelledError


class CurrentTurn(Protocol):
    """What a session knows about its running turn."""

    id: str
    items: list[Item]

    @property
    def context(self) -> TurnContext | None:
        """What the turn stated before its message."""
        ...

    def renamed(self, rename: Rename) -> bool:
        """See ``SessionState.renamed``."""
        ...


@dataclass
class RetainedState:
    """The part of a session that stays in memory while the session is unloaded."""

    seen: SeenCells = field(default_factory=SeenCells)
    approved_tools: set[str] = field(default_factory=set)
    sends_blocks: bool = False


@dataclass
class SessionState:
    """One session's record, history and counts, with the parts that it works with.

    ``created`` are the paths of the documents that it created, ``seen`` the cells as its model last
    read them. ``sends_blocks``: the tools for blocks were sent before. ``is_busy``: a turn, a
    compaction or another answer is running. ``is_stale``: the database's history differs from
    ``history``. ``said`` are warnings that are not repeated. ``unsent_notes`` are for the model,
    once the turn has ended. ``answer_stops`` stop one of the answers in progress, by its id.
    """

    runtime: Runtime
    record: Session
    history: History
    created: list[str]
    channel: EventChannel
    seen: SeenCells
    waiting: PendingRequests
    tokens: int
    cost: float | None
    turn: CurrentTurn | None = None
    proposal: OpenProposal | None = None
    said: set[str] = field(default_factory=set)
    answer_stops: dict[str, Stop] = field(default_factory=dict)
    sends_blocks: bool = False
    is_busy: bool = False
    is_stale: bool = False
    unsent_notes: list[Item] = field(default_factory=list)
    used_at: float = field(default_factory=time.monotonic)
    starters: Starters = field(default_factory=Starters)

    @classmethod
    def of(
        cls,
        runtime: Runtime,
        record: Session,
        channel: EventChannel,
        history: History | None = None,
        created: Sequence[str] = (),
        retained: RetainedState | None = None,
    ) -> SessionState:
        """The state of a session from its record, by default with an empty history."""
        retained = retained or RetainedState()
        return cls(
            runtime=runtime,
            record=record,
            history=history or History(),
            created=list(created),
            channel=channel,
            seen=retained.seen,
            waiting=PendingRequests(retained.approved_tools),
            tokens=record.session_tokens,
            cost=record.session_cost,
            sends_blocks=retained.sends_blocks,
        )

    @property
    def id(self) -> str:
        """The session's id."""
        return self.record.id

    @property
    def retained(self) -> RetainedState:
        """What stays in memory after the session is unloaded."""
        return RetainedState(self.seen, self.waiting.approved_tools, self.sends_blocks)

    def touch(self) -> None:
        """Record that the session is in use."""
        self.used_at = time.monotonic()

    def count(self, used: Usage, call: Usage) -> Usage:
        """Count a model call for the session; returns ``used``, the turn's usage, with it."""
        usage = add_usage(used, call, self.tokens, self.cost)
        self.tokens, self.cost = usage.session_tokens, usage.session_cost
        return usage

    async def emit(self, event: events.BaseEvent) -> None:
        """Emit an event of the session that belongs to no turn."""
        await self.runtime.store.events.append(self.id, None, events=[event])

    async def emit_configured(self) -> None:
        """Emit the session's current title and settings."""
        await self.emit(
            events.SessionConfigured(settings=self.record.settings, title=self.record.title)
        )
        self.waiting.changed()  # the list of waiting sessions shows the title

    def renamed(self, rename: Rename) -> bool:
        """Use the new path of a renamed document. Returns whether the session knew it."""
        settings = self.record.settings
        known = [*self.created, settings.notebook, *(a.path for a in settings.attachments or ())]
        is_concerned = any(each is not None and rename.affects(each) for each in known)
        self.created[:] = rename.paths(self.created)
        self.seen.renamed(rename)
        if is_concerned:
            renamed = rename.in_json(settings.model_dump(mode="json", by_alias=True))
            update = {"settings": SessionSettings.model_validate(renamed)}
            self.record = self.record.model_copy(update=update)
        return (self.turn is not None and self.turn.renamed(rename)) or is_concerned

    async def tell(self) -> None:
        """Tell the model what happened apart from the turn that has ended."""
        items, self.unsent_notes = self.unsent_notes, []
        if items:
            await self.runtime.store.renames.tell(self.id, items)
            for each in items:
                self.history.note(each)

    async def refresh(self) -> None:
        """Reload the conversation if another server wrote to it, or memory fell behind."""
        last = await self.runtime.store.events.last_seq(self.id)
        if self.channel.seq != last or self.is_stale:
            await self.reload()
            self.channel.seq = last

    async def reload(self) -> None:
        """Load the conversation from the database."""
        store = self.runtime.store
        self.history = await read_history(store, self.id)
        self.created = await store.turn_reader.created_paths(self.id)
        # Turns in which the model read cells may be gone, so it must read them again.
        self.seen = SeenCells()
        self.is_stale = False

    def clear(self) -> None:
        """Reset history, documents, counts and approvals."""
        self.history = History()
        self.created.clear()
        self.proposal = None
        self.seen = SeenCells()
        self.tokens, self.cost = 0, None
        self.waiting.approved_tools.clear()
