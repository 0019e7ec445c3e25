"""Work on the text of a document, which may be large."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

SMALL = 200_000
"""Characters of a text that takes a few milliseconds: a thread would gain nothing."""


async def in_thread_if_large(size: int, work: Callable[..., T], *given: Any) -> T:
    """Run work on a text of so many characters: a large one would block the event loop."""
    return work(*given) if size < SMALL else await asyncio.to_thread(work, *given)
