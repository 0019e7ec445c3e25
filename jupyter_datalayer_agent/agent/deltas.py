"""Streamed text, joined while an earlier piece is still being written.

Each piece is in the database before it is shown. While one write is under way the next deltas
gather and go out as one event, so a fast model costs fewer events and never more than one write
at a time; a slow one has each delta sent at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ..protocol.events import ReasoningDelta, TextDelta

DeltaEvent = TextDelta | ReasoningDelta
Emit = Callable[[DeltaEvent], Awaitable[object]]


class DeltaBuffer:
    """Collects the deltas of one model call; ``flush`` before any other event is emitted."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._waiting: list[DeltaEvent] = []
        self._writer: asyncio.Task[None] | None = None

    def add(self, delta: DeltaEvent) -> None:
        """Take a delta; it is emitted as soon as the one before it has been written."""
        last = self._waiting[-1] if self._waiting else None
        if last is not None and type(last) is type(delta) and last.item_id == delta.item_id:
            last.delta += delta.delta
        else:
            self._waiting.append(delta)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while self._waiting:
            await self._emit(self._waiting.pop(0))

    async def flush(self) -> None:
        """Wait until everything taken so far has been emitted; raises what the writing raised."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            await asyncio.shield(writer)
