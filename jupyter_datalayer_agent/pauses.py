"""Pauses in work that may be long: all of a server's sessions share one event loop."""

from __future__ import annotations

import asyncio
import time

AT_ONCE = 0.02
"""Seconds of work between pauses."""


class Pauses:
    """Of one piece of work. Reading what has already arrived never waits, so nothing else would
    go on meanwhile."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    async def rest(self) -> None:
        """Let others go on, if it has been a while since they did."""
        if time.monotonic() - self._since > AT_ONCE:
            await asyncio.sleep(0)
            self._since = time.monotonic()
