"""A session's events, out: numbered, written, and only then sent, in one order for everybody."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from ...protocol.base import now_ms
from ...protocol.errors import AgentError
from ...protocol.events import BaseEvent, ErrorEvent, TurnAborted
from ...protocol.json_text import to_json
from ...store.store import Store

REPLAY_PAGE = 1000
NUMBER_TAKEN = {"reload": True}


@dataclass(frozen=True)
class SerializedEvent:
    """An event as it goes over the wire; ``text`` is its JSON, made once for all who listen."""

    seq: int
    type: str
    turn_id: str | None
    text: str

    @classmethod
    def of(cls, wire: dict[str, Any]) -> SerializedEvent:
        """From the wire's JSON object."""
        return cls(wire["seq"], wire["type"], wire.get("turnId"), to_json(wire))


Listener = Callable[[SerializedEvent], None]
Write = Callable[[Sequence[BaseEvent]], Coroutine[Any, Any, None]]
Sink = Callable[[str, BaseEvent], None]
"""Takes a session's id and an event of it. Called last; it must not wait or raise."""


def ignore_event(session_id: str, event: BaseEvent) -> None:
    """Where nobody watches."""


class EventChannel:
    """The event queue of one session. ``seq`` is the number of its newest event."""

    def __init__(self, store: Store, session_id: str, seq: int, sink: Sink = ignore_event) -> None:
        self._store = store
        self._sink = sink
        self._session_id = session_id
        self._seq = seq
        self._emitting = asyncio.Lock()
        self._listeners: list[Listener] = []

    async def emit(
        self, write: Write, event: BaseEvent | Sequence[BaseEvent] | None, turn_id: str | None
    ) -> None:
        """Number the events (if any), write them by ``write``, and tell them once that has
        returned.

        Once called it is always carried out: a cancellation goes on only afterwards. Else a number
        could be used twice, and what is in memory would differ from what is written.
        """
        sent = [event] if isinstance(event, BaseEvent) else event or ()
        if await _run_to_completion(self._emit(write, sent, turn_id)):
            raise asyncio.CancelledError

    async def _emit(self, write: Write, sent: Sequence[BaseEvent], turn_id: str | None) -> None:
        async with self._emitting:
            now = now_ms()
            for event in sent:
                event.turn_id, event.at = turn_id, now
            await self._write(write, sent)
            for event in sent:
                self._send(event)

    async def _write(self, write: Write, sent: Sequence[BaseEvent]) -> None:
        try:
            await write(_numbered(sent, self._seq))
        except AgentError as error:
            if error.detail != NUMBER_TAKEN:
                raise
            # Another server wrote to this session: go on behind what it wrote.
            await write(_numbered(sent, await self._store.last_seq(self._session_id)))
        if sent:
            self._seq = sent[-1].seq

    def _send(self, event: BaseEvent) -> None:
        sent = SerializedEvent.of(event.to_wire())
        for listener in list(self._listeners):
            listener(sent)
        self._sink(self._session_id, event)

    def send_unsaved(self, event: BaseEvent, turn_id: str | None) -> None:
        """Tell an event that could not be written. Its ``seq`` is 0: it will not come again."""
        event.seq, event.turn_id, event.at = 0, turn_id, now_ms()
        self._send(event)

    def send_failure(self, failure: AgentError, turn_id: str) -> None:
        """Tell of a turn whose end could not be written; the session is loaded anew next time."""
        error = ErrorEvent(code=failure.code, message=failure.message, retryable=True)
        for event in (error, TurnAborted(reason="error")):
            self.send_unsaved(event, turn_id)

    async def sync_seq(self) -> bool:
        """Whether nobody else wrote to the session; afterwards the numbers go on from theirs."""
        last = await self._store.last_seq(self._session_id)
        before, self._seq = self._seq, last
        return before == last

    def continue_after(self, seq: int) -> None:
        """The session was loaded anew; ``seq`` is the number of its newest event. Who listens to
        the channel goes on listening."""
        self._seq = seq

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Give the listener every event from now on; returns the way out."""
        self._listeners.append(listener)
        return lambda: self._leave(listener)

    async def subscribe(
        self,
        listener: Listener,
        after: int,
        ready: Callable[[], Awaitable[None]] | None = None,
    ) -> Callable[[], None]:
        """Give the listener every event after ``after``, old ones first; returns the way out.

        ``ready`` is awaited between pieces of a long past: for a listener that takes its time.
        """
        while True:
            async with self._emitting:
                page = await self._replay(after)
                if len(page) < REPLAY_PAGE:
                    for sent in page:
                        listener(sent)
                    return self.listen(listener)
            # A long past is read in pieces, and outside the lock, so that a turn goes on meanwhile.
            for sent in page:
                listener(sent)
            after = page[-1].seq
            if ready is not None:
                await ready()

    async def _replay(self, after: int) -> list[SerializedEvent]:
        page = await self._store.events_after(self._session_id, after, REPLAY_PAGE)
        return [SerializedEvent.of(wire) for wire in page]

    def _leave(self, listener: Listener) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)


def _numbered(sent: Sequence[BaseEvent], after: int) -> Sequence[BaseEvent]:
    for number, event in enumerate(sent, after + 1):
        event.seq = number
    return sent


async def _run_to_completion(writing: Coroutine[Any, Any, None]) -> bool:
    """Await it even when this task is cancelled meanwhile; True when it was."""
    task = asyncio.ensure_future(writing)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    return cancelled
