"""Limits on the time that an action's own code takes while its parameters are being found."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from .action import ActionFailed

log = logging.getLogger(__name__)

MOST_SECONDS = 10.0
"""For which an action may work, without the time in which it waits for answers."""
CANCEL_SECONDS = 0.2
"""For which it may clean up; it is cancelled three times."""
TOO_LONG = "The action takes too long to say what it needs."

Kind = TypeVar("Kind")


class Clock:
    """The time that an action's own answers to the form may take, in all."""

    def __init__(self) -> None:
        self._left = MOST_SECONDS

    async def limit(self, work: Coroutine[Any, Any, Kind]) -> Kind:
        """What the work returns. Raises ``ActionFailed`` where it takes too long, also where it
        goes on after it was cancelled and returns something then."""
        loop = asyncio.get_running_loop()
        since = loop.time()
        task = asyncio.ensure_future(_contained(work))
        try:
            in_time, _ = await asyncio.wait([task], timeout=max(0.0, self._left))
            self._left -= loop.time() - since
        finally:
            await cancel(task)
        if in_time and not task.cancelled():
            return task.result()
        raise ActionFailed(TOO_LONG)


async def _contained(work: Coroutine[Any, Any, Kind]) -> Kind:
    """A package's ``sys.exit`` would end the server, were it to leave a task."""
    try:
        return await work
    except SystemExit as error:
        raise RuntimeError(f"The action called sys.exit({error.code!r})") from error


async def cancel(task: asyncio.Future[Any]) -> None:
    """End a task; one that will not end is left where it waits."""
    for _ in range(3):
        if task.done():
            return
        task.cancel()
        await asyncio.wait([task], timeout=CANCEL_SECONDS)
    if not task.done():
        log.error("An action could not be cancelled while its parameters were being found")
