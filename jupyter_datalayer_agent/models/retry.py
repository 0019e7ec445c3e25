"""When a failed model call is tried again. The turn loop makes the attempts; this is how long to
wait before each."""

from __future__ import annotations

import random
from collections.abc import Callable

from .types import ModelError

MAX_RETRIES = 5
BASE_DELAY = 0.2
"""Seconds before the first retry; it doubles with each."""
LOADING_DELAY = 2.0
"""The same for a server that is not ready: 62 seconds in all, in which most models are loaded."""
LONGEST_WAIT = 60.0
"""Seconds. A server that asks for longer is reported to the user instead of waited for."""


def delay_before(
    retry: int, error: ModelError, *, uniform: Callable[[float, float], float] = random.uniform
) -> float | None:
    """Seconds to wait before retry number ``retry`` (1 for the first), or ``None``: do not retry.

    The server's ``Retry-After`` wins; else 200 ms doubling, or two seconds for a server that is not
    ready, with a jitter of ±10%."""
    if not error.retryable or retry > MAX_RETRIES:
        return None
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= LONGEST_WAIT else None
    first = LOADING_DELAY if error.is_not_ready else BASE_DELAY
    return first * float(2 ** (retry - 1)) * uniform(0.9, 1.1)
