"""Stores and chats for the tests: real SQLite files, events at known times."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from jupyter_datalayer_agent.protocol.base import new_id
from jupyter_datalayer_agent.protocol.events import BaseEvent, TextDelta, TurnCompleted
from jupyter_datalayer_agent.protocol.requests import ChatRequest, Usage
from jupyter_datalayer_agent.store import Store
from jupyter_datalayer_agent.store.records import StoredEvent


def url(path: Path) -> str:
    """The database_url of a file."""
    return f"sqlite:///{path}"


@asynccontextmanager
async def open_store(path: Path) -> AsyncIterator[Store]:
    """A store on the file, closed at the end."""
    store = Store(url(path))
    try:
        yield store
    finally:
        await store.close()


class Reader:
    """Reads a session's events as they are stored; ``taken`` are their numbers."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    @property
    def taken(self) -> list[int]:
        return [event["seq"] for event in self.events]

    def take(self, stored: StoredEvent) -> None:
        """See ``EventReader``."""
        event = json.loads(stored.text)
        assert event["seq"] == stored.event.seq
        self.events.append(event)


class Chat:
    """A session of a store, and its newest turn."""

    def __init__(self, store: Store, session_id: str, seq: int = 0) -> None:
        self.store = store
        self.session_id = session_id
        self.seq = seq
        self.turn_id = ""

    @classmethod
    async def new(cls, store: Store, title: str = "New session") -> Chat:
        """A chat in a new session."""
        return cls(store, (await store.sessions.create(title)).id)

    async def start(self, message: str = "Load the cars", **more: Any) -> int:
        """Begin a turn; its index."""
        self.turn_id = new_id("t")
        return await self.store.turns.start(
            session_id=self.session_id,
            turn_id=self.turn_id,
            mode="agent",
            notebook_mode="full",
            location="panel",
            request=ChatRequest(message=message),
            **more,
        )

    async def finish(self, reply: str = "Done.") -> None:
        """End the turn."""
        end = TurnCompleted(duration_ms=5, usage=Usage())
        await self.store.turns.finish(
            self.turn_id, status="completed", reply=reply, events=self.timed(end)
        )

    def timed(self, *events: BaseEvent) -> list[BaseEvent]:
        """The events with their times; ``seq`` counts them as the store does."""
        for event in events:
            self.seq += 1
            event.at = 1_700_000_000_000 + self.seq
        return list(events)

    async def emit(self, *events: BaseEvent, **more: Any) -> None:
        """Append events, and what goes with them."""
        await self.store.events.append(
            self.session_id, self.turn_id or None, events=self.timed(*events), **more
        )

    async def say(self, *texts: str, item_id: str = "msg_1") -> None:
        """Append pieces of an answer, one transaction each."""
        for text in texts:
            await self.emit(TextDelta(item_id=item_id, delta=text))

    async def numbers(self) -> list[int]:
        """The numbers of all events that are kept."""
        return [event["seq"] for event in await self.store.events.after(self.session_id, 0, 10_000)]


def kept_events(path: Path, session_id: str) -> dict[int, str]:
    """The types of the events that are kept, by number; text that was joined by all of its."""
    found: dict[int, str] = {}
    query = "SELECT seq, type, pieces FROM events WHERE session_id = ? ORDER BY seq"
    for seq, kind, pieces in rows(path, query, session_id):
        first = seq + 1 - len(json.loads(pieces or "[0]"))
        found |= dict.fromkeys(range(first, seq + 1), kind)
    return found


def rows(path: Path, sql: str, *values: Any) -> list[tuple[Any, ...]]:
    """What a query answers, asked past the store."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql, values).fetchall()


def execute(path: Path, sql: str, *values: Any) -> None:
    """Change the file past the store."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(sql, values)
