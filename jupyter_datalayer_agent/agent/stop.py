"""A request to stop, at any moment: before, during or after the work."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def to_completion(work: Coroutine[Any, Any, T]) -> T:
    """Finish the work even if this task is cancelled meanwhile; the cancellation takes effect
    afterwards."""
    task, cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            cancelled = True
    result = task.result()
    if cancelled:
        raise asyncio.CancelledError
    return result


class Stop:
    """Cancels one piece of work, and nothing before and after it.

    A turn's start and end (its message is stored, exactly one event ends it) are outside of
    ``work``: cancelling the whole task would cut them off. Whether the work finished or was stopped
    is decided in one place, the end of its own task.
    """

    def __init__(self) -> None:
        self.requested = False
        self._task: asyncio.Task[Any] | None = None

    def request(self) -> None:
        """Stop the work; a second request has no effect, so that the clean-up is not cancelled."""
        if not self.requested:
            self.requested = True
            if self._task is not None:
                self._task.cancel()

    async def work(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it. Raises ``CancelledError`` if the stop came before its end."""
        if self.requested:
            work.close()
            raise asyncio.CancelledError
        self._task = task = asyncio.create_task(work)
        try:
            return await task
        finally:
            self._task = None

    def check(self) -> None:
        """Raises ``CancelledError`` once a stop was requested: a library may have swallowed the
        cancellation."""
        if self.requested:
            raise asyncio.CancelledError
