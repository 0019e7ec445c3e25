"""Writes a turn's events in order and in groups, while the turn continues.

Each event is in the database before it is sent. During a write the next events accumulate, and are
then written together. The first delta of an item is sent at once; those that follow are collected
briefly and joined into one event, which saves envelopes, writes and rendering. Any other event ends
the wait, so the order is that of ``add``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..protocol.events import AnswerDelta, BaseEvent, ReasoningDelta, TextDelta
from ..protocol.requests import ToolCallRecord
from .history import Item

Write = Callable[..., Awaitable[None]]
"""Stores ``events`` with what belongs to them: ``Store.events.append`` for a turn."""

WINDOW_SECONDS = 0.05
"""How long the deltas of one item are collected: text grows 20 times a second for readers."""

DELTAS = (TextDelta, ReasoningDelta, AnswerDelta)

JOINED = frozenset({"items", "tool_calls", "changes"})
"""What may occur several times in a group; other values occur once."""


class Emit(Protocol):
    """Write an event (if any) with what belongs to it, and then send it."""

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
            if name in JOINED:
                self.belongings.setdefault(name, []).extend(value)
            else:
                self.belongings[name] = value


class EventBuffer:
    """Takes a turn's events; ``flush`` waits until all of them are written and sent.

    Nothing that the turn does may depend on an event that has not been flushed: a call is flushed
    before it is carried out, and everything else before the turn ends.
    """

    def __init__(self, write: Write) -> None:
        self._store = write
        self._waiting: list[_Group] = []
        self._writer: asyncio.Task[None] | None = None
        self._last: BaseEvent | None = None
        self._sent_at = 0.0
        self._flush_now = asyncio.Event()

    def add(self, event: BaseEvent | None, **belongings: Any) -> None:
        """Take an event and what belongs to it. It is written right after the previous ones; a
        further delta of the same text may be held for a moment."""
        if not (self._waiting and self._waiting[-1].takes(belongings)):
            self._waiting.append(_Group())
        self._waiting[-1].add(event, belongings)
        goes_on = not belongings and _same_text(self._last, event)
        self._last = event
        # A failed writer is kept, so that ``flush`` raises its exception.
        if self._writer is None or (self._writer.done() and not _failed(self._writer)):
            self._flush_now.clear()
            self._writer = asyncio.create_task(self._write())
        if not goes_on:
            self._flush_now.set()

    async def flush(self) -> None:
        """Wait until everything added is written and sent; raises what writing raised.

        A cancellation takes effect only afterwards, so that what was done is also sent.
        """
        self._flush_now.set()
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
            await self._gather()
            group = self._waiting.pop(0)
            if not self._waiting:
                self._flush_now.clear()
            await self._store(events=group.events, **group.belongings)
            self._sent_at = asyncio.get_running_loop().time()

    async def _gather(self) -> None:
        """Collect further deltas of the text that was sent last, for at most the window."""
        end = self._sent_at + WINDOW_SECONDS
        timer = asyncio.get_running_loop().call_at(end, self._flush_now.set)
        await self._flush_now.wait()
        timer.cancel()


def _same_text(last: BaseEvent | None, event: BaseEvent | None) -> bool:
    """Whether both are deltas of the same item."""
    return any(
        isinstance(last, kind) and isinstance(event, kind) and last.item_id == event.item_id
        for kind in DELTAS
    )


def _joined(last: BaseEvent, event: BaseEvent) -> bool:
    """Join a delta to the previous one, if both are of the same item."""
    if same := _same_text(last, event):
        assert isinstance(last, DELTAS)
        assert isinstance(event, DELTAS)
        last.delta += event.delta
    return same


def _failed(task: asyncio.Task[None]) -> bool:
    return task.cancelled() or task.exception() is not None
