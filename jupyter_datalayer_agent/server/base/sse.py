"""Server-sent events: a session's events as a stream of text, with heartbeats."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tornado import web
from tornado.ioloop import PeriodicCallback
from tornado.iostream import StreamClosedError

from ...agent.events.channel import EventChannel, SerializedEvent
from ...protocol.limits import MAX_WAITING_EVENTS

HEARTBEAT_SECONDS = 15.0


class Waiting:
    """Events to be written, None for a heartbeat. Once ``MAX_WAITING_EVENTS`` wait, no more are
    taken (``is_full``): the reader is sent the rest from the store."""

    def __init__(self) -> None:
        self.is_full = False
        self._events: asyncio.Queue[SerializedEvent | None] = asyncio.Queue()
        self.get = self._events.get
        self.is_empty = self._events.empty
        self.written = self._events.task_done
        self.all_written = self._events.join

    def put(self, event: SerializedEvent | None) -> None:
        """Take an event, if there is room."""
        self.is_full = self.is_full or self._events.qsize() >= MAX_WAITING_EVENTS
        if not self.is_full:
            self._events.put_nowait(event)


async def always() -> bool:
    """Reads on."""
    return True


async def stream_events(
    handler: web.RequestHandler,
    channel: EventChannel,
    after: int | None,
    *,
    wanted: Callable[[SerializedEvent], bool] = lambda event: True,
    is_last: Callable[[SerializedEvent], bool] = lambda event: False,
    may_go_on: Callable[[], Awaitable[bool]] = always,
) -> None:
    """Write a session's events after ``after``, then live ones, until ``is_last`` or until the
    reader is gone or may not go on. Old ones are read in pages, each once the page before has been
    written. None: nothing is left to be written."""
    while after is not None:
        waiting = Waiting()
        subscribing = asyncio.ensure_future(
            channel.subscribe(waiting.put, after, waiting.all_written)
        )
        writing = asyncio.ensure_future(
            write_events(
                handler, waiting, after, wanted=wanted, is_last=is_last, may_go_on=may_go_on
            )
        )
        try:
            await asyncio.wait((subscribing, writing), return_when=asyncio.FIRST_COMPLETED)
            if not writing.done():
                subscribing.result()  # raises what reading the store raised
            after = await writing
        finally:
            writing.cancel()
            subscribing.cancel()
            await asyncio.wait((subscribing, writing))
            if not subscribing.cancelled() and subscribing.exception() is None:
                subscribing.result()()


async def write_events(
    handler: web.RequestHandler,
    waiting: Waiting,
    after: int,
    *,
    wanted: Callable[[SerializedEvent], bool] = lambda event: True,
    is_last: Callable[[SerializedEvent], bool] = lambda event: False,
    may_go_on: Callable[[], Awaitable[bool]] = always,
) -> int | None:
    """Write events until ``is_last``, or until the reader disconnects, which does not affect the
    session. Of a reader that is too far behind, the number after which it is sent the rest;
    ``after`` is where it begins."""
    handler.set_header("Content-Type", "text/event-stream; charset=utf-8")
    handler.set_header("Cache-Control", "no-cache")
    handler.set_header("X-Accel-Buffering", "no")
    connection = handler.request.connection
    stream = getattr(connection, "stream", None)
    if stream is not None:
        stream.set_nodelay(True)
    heart = PeriodicCallback(lambda: waiting.put(None), HEARTBEAT_SECONDS * 1000)
    heart.start()
    try:
        await handler.flush()
        while not (waiting.is_full and waiting.is_empty()):
            event = await waiting.get()
            if not await may_go_on():
                return None
            if event is None:
                handler.write(": still here\n\n")
            else:
                after = event.seq or after
                if wanted(event):
                    handler.write(f"id: {event.seq}\nevent: {event.type}\ndata: {event.text}\n\n")
            last = event is not None and is_last(event)
            if waiting.is_empty() or last:
                await handler.flush()
            waiting.written()
            if last:
                return None
        return after
    except StreamClosedError:
        return None
    finally:
        heart.stop()
