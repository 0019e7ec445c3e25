"""A request to stop, made at any moment: before the work begins, while it goes on, or after it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def to_completion(work: Coroutine[Any, Any, T]) -> T:
    """Carry the work out even when this task is cancelled meanwhile: the cancellation goes on
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
    """Cancels one piece of work, and nothing of what goes before and after it.

    What a turn has to do at its start and its end (its message is kept, exactly one event ends it)
    stands outside of ``work``: cancelling the whole task would cut that off, too. Whether the work
    came to its end or was stopped is decided in one place, the end of its own task.
    """

    def __init__(self) -> None:
        self.requested = False
        self._task: asyncio.Task[Any] | None = None

    def request(self) -> None:
        """Stop the work; a second request changes nothing, so that its cleaning up is not cut."""
        if not self.requested:
            self.requested = True
            if self._task is not None:
                self._task.cancel()

    async def work(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry it out. Raises ``CancelledError`` when the stop came before its end."""
        if self.requested:
            work.close()
            raise asyncio.CancelledError
        self._task = task = asyncio.create_task(work)
        try:
            return await task
        finally:
            self._task = None

    def check(self) -> None:
        """Raises ``CancelledError`` once a stop was requested: a library may have taken the
        cancellation for its own and gone on."""
        if self.requested:
            raise asyncio.CancelledError
