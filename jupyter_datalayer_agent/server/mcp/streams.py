"""The messages that a connection sends, by HTTP stream, kept for a reader that reconnects.

Each request has its own stream, which ends with its answer. Messages that belong to no request go
to stream 0, which never ends. An event's id is ``stream-number``, so that ``Last-Event-ID`` alone
says where to resume.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from .rpc import MAX_KEPT_CHARACTERS, MAX_KEPT_STREAMS, MAX_UNREAD_NOTIFICATIONS

COMMON = 0
"""The stream of messages that belong to no request."""


@dataclass(frozen=True)
class Event:
    """A message in a stream; ``text`` is empty if it only gives the reader an id."""

    stream: int
    number: int
    text: str

    @property
    def id(self) -> str:
        """The id that a reader sends back as ``Last-Event-ID``."""
        return f"{self.stream}-{self.number}"


@dataclass
class Stream:
    """One HTTP stream. Only its newest reader gets events; ``delivered`` is the number of the last
    event that any reader got."""

    key: int
    delivered: int = 0
    events: deque[Event] = field(default_factory=deque)
    next_number: int = 1
    is_over: bool = False
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _reader: int = 0

    def add(self, text: str, *, is_last: bool = False) -> None:
        """Add a message; ``is_last`` ends the stream."""
        self.events.append(Event(self.key, self.next_number, text))
        self.next_number += 1
        if self.key == COMMON and len(self.events) > MAX_UNREAD_NOTIFICATIONS:
            self.events.popleft()
        self.is_over = self.is_over or is_last
        self._changed.set()

    def end(self) -> None:
        """End the stream without an answer."""
        self.is_over = True
        self._changed.set()

    @property
    def characters(self) -> int:
        """The number of characters that the stream keeps in memory."""
        return sum(len(event.text) for event in self.events)

    async def first(self) -> Event | None:
        """Wait for the first event; None if the stream ends without one."""
        while not (self.events or self.is_over):
            self._changed.clear()
            await self._changed.wait()
        return next(iter(self.events), None)

    async def read(self, after: int, pause: float) -> AsyncIterator[Event | None]:
        """Yield the events after that number as they come, until the stream ends or gets a newer
        reader. Yields None after each ``pause`` seconds of silence."""
        self._reader += 1
        own = self._reader
        self._changed.set()
        while own == self._reader:
            new = [event for event in self.events if event.number > after]
            for event in new:
                after = event.number
                yield event
                self.delivered = max(self.delivered, after)
            if new:
                continue
            if self.is_over:
                return
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), pause)
            except asyncio.TimeoutError:
                yield None


class Streams:
    """All streams of a connection."""

    def __init__(self) -> None:
        self.common = Stream(COMMON)
        self._by_key: dict[int, Stream] = {COMMON: self.common}
        self._by_request: dict[str | int, Stream] = {}
        self._next = 1

    @property
    def open_requests(self) -> int:
        """The number of unanswered requests."""
        return len(self._by_request)

    def begin(self, request_id: str | int) -> Stream | None:
        """The stream of a new request; None while a request with this id is unanswered."""
        if request_id in self._by_request:
            return None
        stream = self._by_request[request_id] = self._by_key[self._next] = Stream(self._next)
        self._next += 1
        self._forget_old()
        return stream

    def of_request(self, request_id: str | int | None) -> Stream | None:
        """The stream of an unanswered request."""
        return None if request_id is None else self._by_request.get(request_id)

    def answer(self, request_id: str | int, text: str) -> None:
        """Add the request's answer, which ends its stream."""
        stream = self._by_request.pop(request_id, None)
        if stream is not None:
            stream.add(text, is_last=True)

    def find(self, event_id: str) -> tuple[Stream, int] | None:
        """The stream and number in an event's id, if the stream is still kept."""
        key, _, number = event_id.partition("-")
        if not (key.isascii() and key.isdigit() and number.isascii() and number.isdigit()):
            return None
        stream = self._by_key.get(int(key[:18]))
        return None if stream is None else (stream, int(number[:18]))

    def end(self) -> None:
        """End all streams, with the connection."""
        for stream in self._by_key.values():
            stream.end()

    def _forget_old(self) -> None:
        """Forget the oldest of the streams that have ended, to stay within the limits."""
        over = [each for each in self._by_key.values() if each.is_over]
        kept = sum(stream.characters for stream in over)
        while over and (len(over) > MAX_KEPT_STREAMS or kept > MAX_KEPT_CHARACTERS):
            oldest = over.pop(0)
            kept -= oldest.characters
            del self._by_key[oldest.key]
