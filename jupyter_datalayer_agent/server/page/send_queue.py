"""What waits to be sent to a page, and how much of it may."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

AT_ONCE = 64 * 1024
"""Characters that are handed to the connection before it has sent what it was given: a reader that
is as fast as we are is sent many small messages at a time."""

MAX_WAITING = 16 * 1024 * 1024
"""Characters of live events that wait for a slow reader. A turn has some hundred thousand."""


class SendQueue:
    """Sends texts in their order, so much at a time as the other side reads.

    ``write`` gives a text to the connection; its future is done when that has passed it on.
    Live events come again to a page that connects anew, so that more than ``MAX_WAITING`` of them
    are given up: ``overflow`` is called once, and nothing more is sent. What else is sent waits
    for as long as the connection lasts: who asks the page waits for its answer, and asks no more
    meanwhile; past events are given piece by piece, as they are ``drained``.
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
        """Send a text, however much waits."""
        self._put(text, 0)

    def put_live(self, text: str) -> None:
        """Send a live event, unless too much of them waits."""
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
        """Wait until nothing waits any more, or nothing is sent any more."""
        await self._drained.wait()

    def close(self) -> None:
        """Forget what waits, and send nothing more."""
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
        # One after the other: when the last one is on its way, so are those before it.
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
    """A connection that closes meanwhile is no failure of the server."""
    if not writing.cancelled():
        writing.exception()
