"""What all events share."""

from __future__ import annotations

from ..base import Wire


class BaseEvent(Wire):
    """``seq`` increases within a session and is the SSE id; ``at`` is ms since 1970."""

    seq: int = 0
    turn_id: str | None = None
    at: int = 0
