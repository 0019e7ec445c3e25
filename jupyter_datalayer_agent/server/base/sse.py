"""Server-sent events: a session's events as a stream of text, with heartbeats."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tornado import web
from tornado.ioloop import PeriodicCallback
from tornado.iostream import StreamClosedError

from ...agent.events.channel import EventChannel, SerializedEvent

HEARTBEAT_SECONDS = 15.0
# A reader that lags this far behind is disconnected; it reconnects with Last-Event-ID.
MAX_WAITING = 10_000


Waiting = asyncio.Queue[SerializedEvent | None]
"""Events to be written; None is a heartbeat."""


async def always() -> bool:
    """Reads on."""
    return True


async def stream_events(
    handler: web.RequestHandler,
    channel: EventChannel,
    after: int,
    may_go_on: Callable[[], Awaitable[bool]] = always,
) -> None:
    """Write a session's events after ``after``, then live ones, until the reader is gone or may not
    go on."""
    waiting: Waiting = asyncio.Queue()
    leave = await channel.subscribe(waiting.put_nowait, after)
    try:
        await write_events(handler, waiting, may_go_on=may_go_on)
    finally:
        leave()


async def write_events(
    handler: web.RequestHandler,
    waiting: Waiting,
    *,
    wanted: Callable[[SerializedEvent], bool] = lambda event: True,
    is_last: Callable[[SerializedEvent], bool] = lambda event: False,
    may_go_on: Callable[[], Awaitable[bool]] = always,
) -> None:
    """Write events until ``is_last``, or until the reader disconnects, which does not affect the
    session."""
    handler.set_header("Content-Type", "text/event-stream; charset=utf-8")
    handler.set_header("Cache-Control", "no-cache")
    handler.set_header("X-Accel-Buffering", "no")
    connection = handler.request.connection
    stream = getattr(connection, "stream", None)
    if stream is not None:
        stream.set_nodelay(True)
    heart = PeriodicCallback(lambda: waiting.put_nowait(None), HEARTBEAT_SECONDS * 1000)
    heart.start()
    try:
        await handler.flush()
        while waiting.qsize() <= MAX_WAITING:
            event = await waiting.get()
            if not await may_go_on():
                return
            if event is None:
                handler.write(": still here\n\n")
            elif wanted(event):
                handler.write(f"id: {event.seq}\nevent: {event.type}\ndata: {event.text}\n\n")
            last = event is not None and is_last(event)
            if waiting.empty() or last:
                await handler.flush()
            if last:
                return
    except StreamClosedError:
        return
    finally:
        heart.stop()
