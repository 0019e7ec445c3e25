"""A session's events: the buffer that joins text on its way to the store, and the channel that
sends what is stored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ..protocol.base import now_ms
from ..protocol.errors import AgentError
from ..protocol.events import BaseEvent, ErrorEvent, TurnAborted
from ..protocol.json_text import to_json
from ..protocol.turn_view import ENDS
from ..store.records import StoredEvent
from ..store.store import Store

# Sends the stored events of a session to all listeners, in one order.


REPLAY_PAGE = 1000


@dataclass(frozen=True)
class SerializedEvent:
    """An event as sent; ``text`` is its JSON, serialized once for all listeners."""

    seq: int
    type: str
    turn_id: str | None
    text: str

    @classmethod
    def of(cls, wire: dict[str, Any]) -> SerializedEvent:
        """From the wire's JSON object."""
        return cls(wire["seq"], wire["type"], wire.get("turnId"), to_json(wire))


Listener = Callable[[SerializedEvent], None]
Sink = Callable[[str, BaseEvent], None]
"""Takes a session's id and one of its events. Called last; it must not wait or raise."""


def ignore_event(session_id: str, event: BaseEvent) -> None:
    """The sink of a server without an observer."""


class EventChannel:
    """The event queue of one session. All events up to number ``seq`` were sent here; it lags if
    another server wrote to the session."""

    def __init__(self, store: Store, session_id: str, seq: int, sink: Sink = ignore_event) -> None:
        self.seq = seq
        self._store = store
        self._sink = sink
        self._session_id = session_id
        self._listeners: list[Listener] = []
        store.follow(session_id, self)

    def take(self, stored: StoredEvent) -> None:
        """Send an event that was stored."""
        if stored.event.seq == self.seq + 1:
            self.seq += 1
        self._send(stored.event, stored.text)

    def send_unsaved(self, event: BaseEvent, turn_id: str | None) -> None:
        """Send an event that could not be stored. Its ``seq`` is 0: it is never sent again."""
        event.seq, event.turn_id, event.at = 0, turn_id, now_ms()
        self._send(event, to_json(event.to_wire()))

    def send_failure(self, failure: AgentError, turn_id: str) -> None:
        """Report a turn whose end could not be stored; the session is reloaded next time."""
        error = ErrorEvent(code=failure.code, message=failure.message, retryable=True)
        for event in (error, TurnAborted(reason="error")):
            self.send_unsaved(event, turn_id)

    def _send(self, event: BaseEvent, text: str) -> None:
        kind: Any = event
        sent = SerializedEvent(event.seq, kind.type, event.turn_id, text)
        for listener in list(self._listeners):
            listener(sent)
        self._sink(self._session_id, event)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Send the listener every event from now on. Returns a function that unsubscribes."""
        self._listeners.append(listener)
        return lambda: self._leave(listener)

    async def subscribe(
        self,
        listener: Listener,
        after: int,
        ready: Callable[[], Awaitable[None]] | None = None,
    ) -> Callable[[], None]:
        """Send the listener every event after ``after``, old ones first. Returns a function that
        unsubscribes.

        ``ready`` is awaited between pages of a long replay, for a slow listener. Live events do not
        accumulate meanwhile: what was stored before a page is read is in that page or a later one.
        """
        live: list[SerializedEvent] = []
        is_replaying, is_reading = True, False

        def take(sent: SerializedEvent) -> None:
            if not is_replaying:
                if sent.seq > after or sent.seq == 0:
                    listener(sent)
            elif is_reading or sent.seq == 0:
                live.append(sent)

        leave = self.listen(take)
        try:
            while True:
                # An event that could not be stored comes only this way.
                live[:] = [sent for sent in live if sent.seq == 0]
                is_reading = True
                page = await self._store.events.after(self._session_id, after, REPLAY_PAGE)
                is_reading = False
                for wire in page:
                    listener(SerializedEvent.of(wire))
                    after = wire["seq"]
                if len(page) < REPLAY_PAGE:
                    break
                if ready is not None:
                    await ready()
        except BaseException:
            leave()
            raise
        is_replaying = False
        for sent in live:
            take(sent)
        return leave

    def _leave(self, listener: Listener) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)


# Finds the events of one turn among those of its session.


class TurnEvents:
    """Recognises the events of the next turn that starts. Pass it each of a session's events, in
    order."""

    def __init__(self) -> None:
        self._turn_id: str | None = None

    def has(self, event: SerializedEvent) -> bool:
        """Whether the event belongs to the turn."""
        if self._turn_id is None and event.type == "turn_started":
            self._turn_id = event.turn_id
        return self._turn_id is not None and event.turn_id == self._turn_id

    def ends_with(self, event: SerializedEvent) -> bool:
        """Whether the turn's last event is this one."""
        return event.type in ENDS and self._turn_id is not None and event.turn_id == self._turn_id
