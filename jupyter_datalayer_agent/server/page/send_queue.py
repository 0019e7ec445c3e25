"""The queue of messages to a page, with limits."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

AT_ONCE = 64 * 1024
"""Characters that are passed to the connection before it has sent the previous ones: a fast reader
is sent many small messages at a time."""

MAX_WAITING = 16 * 1024 * 1024
"""The most characters of live events queued for a slow reader. A turn has some hundred thousand."""


class SendQueue:
    """Sends texts in order, as fast as the other side reads.

    ``write`` passes a text to the connection; its future is done when it was sent. Live events are
    replayed to a page that reconnects, so past ``MAX_WAITING`` they are dropped: ``overflow`` is
    called once, and nothing more is sent. Other messages are queued without a limit: a requester
    waits for the page's answer before its next request, and replayed events are queued in pieces,
    as they are ``drained``.
    """

    def __init__(
        self, write: Callable[[str], asyncio.Future[None]], overflow: Callable[[], None]
    ) -> None:
        self._write = write
        self._overflow = overflow
        self._waiting: deque[tuple[str, int]] = deque()
        self._size = 0
        self._is_writing = False
        self._is_closed = False
        self._drained = asyncio.Event()
        self._drained.set()

    def put(self, text: str) -> None:
        """Queue a text, without a limit."""
        self._put(text, 0)

    def put_live(self, text: str) -> None:
        """Queue a live event, unless too many are queued."""
        if self._size and self._size + len(text) > MAX_WAITING:
            self.close()
            self._overflow()
        self._put(text, len(text))

    def _put(self, text: str, counted: int) -> None:
        if self._is_closed:
            return
        self._waiting.append((text, counted))
        self._size += counted
        self._drained.clear()
        if not self._is_writing:
            self._pump()

    async def drained(self) -> None:
        """Wait until the queue is empty or closed."""
        await self._drained.wait()

    def close(self) -> None:
        """Drop the queue, and send nothing more."""
        self._is_closed = True
        self._waiting.clear()
        self._size = 0
        self._drained.set()

    def _pump(self) -> None:
        size = 0
        self._is_writing = True
        while self._waiting and size < AT_ONCE:
            text, counted = self._waiting.popleft()
            self._size -= counted
            size += len(text)
            writing = self._write(text)
            writing.add_done_callback(_seen)
        # In order: when the last one is sent, so are those before it.
        writing.add_done_callback(self._written)

    def _written(self, writing: asyncio.Future[None]) -> None:
        self._is_writing = False
        if writing.cancelled() or writing.exception() is not None:
            self.close()
        elif self._waiting:
            self._pump()
        else:
            self._drained.set()


def _seen(writing: asyncio.Future[None]) -> None:
    """Ignore the exception of a connection that closed meanwhile."""
    if not writing.cancelled():
        writing.exception()
