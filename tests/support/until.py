"""Waits for what another process does."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(done: Callable[[], object], seconds: float = 60) -> None:
    """Wait for what only a file shows."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "It did not happen in time."
        time.sleep(0.02)
