"""A session's turns, sent again to a client that loads it."""

from __future__ import annotations

from typing import Any

from .session import Session
from .updates import TurnUpdates, message_chunk, user_chunk

PAGE = 100


async def replay(session: Session) -> None:
    """Send what was said and done, the oldest first. What the user went back before is left out."""
    for turn in await _turns(session):
        if turn.get("withdrawnAt"):
            continue
        await session.client.session_update(session.id, user_chunk(turn["message"]))
        updates = TurnUpdates(session.server.root)
        for event in turn.get("events") or ():
            for update in updates.of(event):
                await session.client.session_update(session.id, update)
        if (error := turn.get("error")) is not None:
            text = f"\n\n*{error['message']}*"
            await session.client.session_update(session.id, message_chunk(text))
        session.count(turn["usage"])


async def _turns(session: Session) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    before: str | None = None
    while True:
        query = {"before": before} if before else {}
        page = await session.server.get(
            f"sessions/{session.id}/turns", limit=PAGE, include="events", **query
        )
        found[:0] = page["turns"]
        before = page.get("before")
        if before is None:
            return found
