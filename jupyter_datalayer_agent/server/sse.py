"""Server-sent events: a session's events as a stream of text, with heartbeats."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tornado import web
from tornado.iostream import StreamClosedError

from ..agent.channel import Told
from ..agent.session import LiveSession

HEARTBEAT_SECONDS = 15.0
# A reader that lags this far behind is cut off; it comes back with Last-Event-ID.
MAX_WAITING = 10_000


async def stream_events(
    handler: web.RequestHandler,
    session: LiveSession,
    after: int,
    *,
    wanted: Callable[[Told], bool] = lambda told: True,
    is_last: Callable[[Told], bool] = lambda told: False,
) -> None:
    """Write the session's events after ``after``, then live ones, until ``is_last`` or the reader
    is gone. The reader's going away changes nothing in the session."""
    handler.set_header("Content-Type", "text/event-stream; charset=utf-8")
    handler.set_header("Cache-Control", "no-cache")
    handler.set_header("X-Accel-Buffering", "no")
    connection = handler.request.connection
    stream = getattr(connection, "stream", None)
    if stream is not None:
        stream.set_nodelay(True)
    waiting: asyncio.Queue[Told] = asyncio.Queue()
    leave = await session.channel.subscribe(waiting.put_nowait, after)
    try:
        await handler.flush()
        while waiting.qsize() <= MAX_WAITING:
            try:
                told = await asyncio.wait_for(waiting.get(), HEARTBEAT_SECONDS)
            except asyncio.TimeoutError:
                handler.write(": still here\n\n")
                await handler.flush()
                continue
            if wanted(told):
                handler.write(f"id: {told.seq}\nevent: {told.type}\ndata: {told.text}\n\n")
                if waiting.empty() or is_last(told):
                    await handler.flush()
            if is_last(told):
                return
    except StreamClosedError:
        return
    finally:
        leave()
