"""What a turn tells, written in order and in groups, while the turn goes on.

Each event is in the database before it is told. While one write is under way the next events gather
and are written together, and the deltas of one item are joined into one event: a fast model costs
fewer events and never more than one write at a time; a slow one has each delta sent at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..protocol.events import AnswerDelta, BaseEvent, ReasoningDelta, TextDelta
from ..protocol.requests import ToolCallRecord
from .history import Item

EmitGroup = Callable[..., Awaitable[None]]
"""Write a sequence of events with what belongs to them, and then tell them."""

JOINED = frozenset({"items", "tool_calls", "changes"})
"""What may belong to a group several times over; anything else belongs to it once."""


class Emit(Protocol):
    """Write an event (if any) with what belongs to it, and then tell it."""

    async def __call__(
        self,
        event: BaseEvent | None,
        *,
        items: Sequence[Item] = (),
        tool_calls: Sequence[ToolCallRecord] = (),
    ) -> None: ...


@dataclass
class _Group:
    """Events that are written together, and what belongs to them."""

    events: list[BaseEvent] = field(default_factory=list)
    belongings: dict[str, Any] = field(default_factory=dict)

    def takes(self, belongings: dict[str, Any]) -> bool:
        return not (self.belongings.keys() & belongings.keys()) - JOINED

    def add(self, event: BaseEvent | None, belongings: dict[str, Any]) -> None:
        if event is not None and not (self.events and _joined(self.events[-1], event)):
            self.events.append(event)
        for name, value in belongings.items():
            known: Sequence[Any] = self.belongings.get(name, ())
            self.belongings[name] = [*known, *value] if name in JOINED else value


class Outbox:
    """Takes a turn's events; ``flush`` waits until all of them are written and told.

    Nothing that the turn does may depend on an event which has not been flushed: a call is flushed
    before it is carried out, and everything before the turn's end.
    """

    def __init__(self, emit: EmitGroup) -> None:
        self._emit = emit
        self._waiting: list[_Group] = []
        self._writer: asyncio.Task[None] | None = None

    def add(self, event: BaseEvent | None, **belongings: Any) -> None:
        """Take an event and what belongs to it; it is written as soon as what came before is."""
        if not (self._waiting and self._waiting[-1].takes(belongings)):
            self._waiting.append(_Group())
        self._waiting[-1].add(event, belongings)
        # A writer that failed stays, so that ``flush`` raises what it raised.
        if self._writer is None or (self._writer.done() and not _failed(self._writer)):
            self._writer = asyncio.create_task(self._write())

    async def flush(self) -> None:
        """Wait until all that was added is written and told; raises what the writing raised.

        A cancellation goes on only afterwards, so that what was done is also told.
        """
        writer, cancelled = self._writer, False
        while writer is not None and not writer.done():
            try:
                await asyncio.wait([writer])
            except asyncio.CancelledError:
                cancelled = True
        if writer is not None:
            if self._writer is writer:
                self._writer = None
            writer.result()
        if cancelled:
            raise asyncio.CancelledError

    async def _write(self) -> None:
        while self._waiting:
            group = self._waiting.pop(0)
            await self._emit(group.events, **group.belongings)


def _joined(last: BaseEvent, event: BaseEvent) -> bool:
    """Join a delta to the one before it, if both are of the same item."""
    for kind in (TextDelta, ReasoningDelta, AnswerDelta):
        if isinstance(last, kind) and isinstance(event, kind) and last.item_id == event.item_id:
            last.delta += event.delta
            return True
    return False


def _failed(task: asyncio.Task[None]) -> bool:
    return task.cancelled() or task.exception() is not None
