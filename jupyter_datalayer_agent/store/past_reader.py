"""Reads the past, over all sessions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from sqlalchemy.ext.asyncio import AsyncConnection

from ..protocol.base import SessionKind
from ..protocol.history import Citation, SearchHit
from .database import Database
from .driver import in_thread
from .search import search

T = TypeVar("T")

FIRST_LINE = 120
"""Characters of a message that are shown of a turn."""

RECENT = """
    SELECT turn_id FROM search_texts
    WHERE role = 'user' AND turn_id IS NOT :without ORDER BY id DESC LIMIT :limit"""
RECENT_IN_SESSION = """
    SELECT id FROM turns WHERE session_id = :session AND id IS NOT :without
    ORDER BY position DESC LIMIT :limit"""
CITED = """
    SELECT t.id, t.session_id, s.title, t.message, t.started_at
    FROM turns AS t JOIN sessions AS s ON s.id = t.session_id
    WHERE t.id = ? AND NOT EXISTS (SELECT 1 FROM session_kinds WHERE session_id = s.id)"""
NEWEST_SESSION = """
    SELECT session_id FROM session_kinds WHERE kind = ? ORDER BY rowid DESC LIMIT 1"""


class PastReader:
    """See ``Past``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def search(self, query: str, limit: int, session_id: str | None) -> list[SearchHit]:
        """See ``Past.search``."""
        return await self._beside(lambda connection: search(connection, query, limit, session_id))

    async def recent(self, limit: int, session_id: str | None, without: str | None) -> list[str]:
        """See ``Past.recent``."""
        sql = RECENT if session_id is None else RECENT_IN_SESSION
        values = {"limit": limit, "session": session_id, "without": without}
        return await self._database.look(
            lambda connection: [row[0] for row in connection.execute(sql, values)]
        )

    async def citations(self, turn_ids: Sequence[str]) -> list[Citation]:
        """See ``Past.citations``."""

        def query(connection: sqlite3.Connection) -> list[Citation]:
            rows = [
                connection.execute(CITED, (turn_id,)).fetchone()
                for turn_id in dict.fromkeys(turn_ids)
            ]
            return [_citation(*row) for row in rows if row is not None]

        return await self._database.look(query)

    async def title_of(self, session_id: str) -> str | None:
        """See ``Past.title_of``."""
        return await self._one("SELECT title FROM sessions WHERE id = ?", session_id)

    async def kind_of(self, session_id: str) -> SessionKind:
        """See ``Past.kind_of``."""
        kind = await self._one("SELECT kind FROM session_kinds WHERE session_id = ?", session_id)
        return cast(SessionKind, kind or "chat")

    async def newest_session(self, kind: SessionKind) -> str | None:
        """See ``Past.newest_session``."""
        return await self._one(NEWEST_SESSION, kind)

    async def set_kind(self, session_id: str, kind: SessionKind) -> None:
        """See ``Past.set_kind``."""
        sql = "INSERT INTO session_kinds (session_id, kind) VALUES (?, ?)"
        await self._database.quick(lambda connection: connection.execute(sql, (session_id, kind)))

    async def _one(self, sql: str, value: str) -> str | None:
        def query(connection: sqlite3.Connection) -> str | None:
            row = connection.execute(sql, (value,)).fetchone()
            return None if row is None else row[0]

        return await self._database.look(query)

    async def _beside(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query that may take some milliseconds beside the writer, in one trip."""

        async def read(connection: AsyncConnection) -> T:
            return await in_thread(connection, query)

        return await self._database.read(read)


def _citation(turn_id: str, session_id: str, title: str, message: str, at: int) -> Citation:
    first = next((line.strip() for line in message.splitlines() if line.strip()), "")
    return Citation(
        turn_id=turn_id,
        session_id=session_id,
        session_title=title,
        message=first[:FIRST_LINE],
        created_at=at,
    )
