"""An event loop in which waiting takes no time: when nothing can run, its clock is put forward to
the next timer. What is limited by seconds is limited the same on any machine, busy or not."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Kind = TypeVar("Kind")


class _Selector(selectors.DefaultSelector):
    """Does not wait for its timeout, and counts it."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0 if timeout is not None else None)
        if not ready:
            self.passed += max(0.0, timeout or 0.0)
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """For code that waits for timers and for its own tasks, and for no thread or process."""

    def __init__(self) -> None:
        self._counting = _Selector()
        super().__init__(self._counting)
        self._clock_resolution = 1e-6

    def time(self) -> float:
        """The seconds that were waited for."""
        return self._counting.passed


def run(work: Coroutine[Any, Any, Kind]) -> Kind:
    """What ``asyncio.run`` does, in such a loop."""
    loop = VirtualTimeLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(_end_tasks())
        loop.close()


async def _end_tasks() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
