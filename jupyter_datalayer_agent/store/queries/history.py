"""Queries over all sessions: searches, turns, answers, citations."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import cast

from ...protocol.base import SessionKind
from ...protocol.errors import AgentError
from ...protocol.history import Citation, Provenance, SearchHit, StoredResponse
from ...protocol.requests import Turn
from ..file.database import Database
from ..search import search
from .answers import look_up, of_turn
from .turns import TurnReader

FIRST_LINE = 120
"""Characters of a message that are shown of a turn."""

RECENT = """
    SELECT turn_id FROM search_texts
    WHERE role = 'user' AND turn_id IS NOT :without ORDER BY id DESC LIMIT :limit"""
RECENT_IN_SESSION = """
    SELECT id FROM turns WHERE session_id = :session AND id IS NOT :without
    ORDER BY position DESC LIMIT :limit"""
NUMBERED = "SELECT id FROM turns WHERE session_id = ? AND position = ?"
COUNT_IN_SESSION = "SELECT COUNT(*) FROM turns WHERE session_id = ?"
CITED = """
    SELECT t.id, t.session_id, s.title, t.message, t.started_at
    FROM turns AS t JOIN sessions AS s ON s.id = t.session_id
    WHERE t.id = ? AND NOT EXISTS (SELECT 1 FROM session_kinds WHERE session_id = s.id)"""
NEWEST_SESSION = """
    SELECT session_id FROM session_kinds WHERE kind = ? ORDER BY rowid DESC LIMIT 1"""


class HistoryQueries:
    """What is found in all conversations."""

    def __init__(self, database: Database, turn_reader: TurnReader) -> None:
        self._database = database
        self._turn_reader = turn_reader

    async def search(
        self, query: str, limit: int = 20, session_id: str | None = None
    ) -> list[SearchHit]:
        """Messages and answers that contain ``query``, the newest first, at most ``limit``.

        Letters match in both cases, and every character stands for itself. Where nothing has the
        query as a whole, texts with each of its words are given. One session's, where it is named;
        else all chats', with a turn that a fork copied shown once.
        """
        return await self._database.read_raw(
            lambda connection: search(connection, query, limit, session_id)
        )

    async def recent(
        self, limit: int = 10, session_id: str | None = None, without: str | None = None
    ) -> list[str]:
        """The ids of the newest turns of all chats, or of one, the newest first; ``without`` is a
        turn that is left out."""
        sql = RECENT if session_id is None else RECENT_IN_SESSION
        values = {"limit": limit, "session": session_id, "without": without}
        return await self._database.look(
            lambda connection: [row[0] for row in connection.execute(sql, values)]
        )

    async def turn(self, turn_id: str) -> Turn:
        """The turn with its calls and changes. Raises ``not_found``."""
        return await self._turn_reader.get(turn_id)

    async def turn_at(self, session_id: str, number: int) -> str:
        """The id of the session's turn with that number, from 1, those that were reverted
        counted. Raises ``not_found``, saying how many there are."""

        def query(connection: sqlite3.Connection) -> tuple[str | None, int]:
            (count,) = connection.execute(COUNT_IN_SESSION, (session_id,)).fetchone()
            row = connection.execute(NUMBERED, (session_id, number - 1)).fetchone()
            return (None if row is None else row[0]), count

        turn_id, count = await self._database.look(query)
        if turn_id is None:
            turns = f"{count} turn{'' if count == 1 else 's'}"
            raise AgentError("not_found", f"There is no turn {number}; the session has {turns}.")
        return turn_id

    async def citations(self, turn_ids: Sequence[str]) -> list[Citation]:
        """Those of the turns that are a chat's, in the order of their first mention."""

        def query(connection: sqlite3.Connection) -> list[Citation]:
            rows = [
                connection.execute(CITED, (turn_id,)).fetchone()
                for turn_id in dict.fromkeys(turn_ids)
            ]
            return [_citation(*row) for row in rows if row is not None]

        return await self._database.look(query)

    async def title_of(self, session_id: str) -> str | None:
        """The session's title; None where there is no such session."""
        return await self._one("SELECT title FROM sessions WHERE id = ?", session_id)

    async def kind_of(self, session_id: str) -> SessionKind:
        """The session's kind; a chat also where there is no such session."""
        kind = await self._one("SELECT kind FROM session_kinds WHERE session_id = ?", session_id)
        return cast(SessionKind, kind or "chat")

    async def newest_session(self, kind: SessionKind) -> str | None:
        """The session of this kind that was made last, which no list has; None without one."""
        return await self._one(NEWEST_SESSION, kind)

    async def set_kind(self, session_id: str, kind: SessionKind) -> None:
        """Set the kind of an empty session: only the turns of chats are searched."""
        sql = "INSERT INTO session_kinds (session_id, kind) VALUES (?, ?)"
        await self._database.quick(lambda connection: connection.execute(sql, (session_id, kind)))

    # Answers

    async def response(self, key: Provenance) -> StoredResponse:
        """The answer of that provenance. Raises ``not_found``."""
        found = await self._database.look(lambda connection: look_up(connection, key))
        if found is None:
            raise AgentError(
                "not_found",
                f"The turn {key.ai_turn_id} has no answer of type {key.response_type} and number "
                f"{key.response_index} by {key.provider_id}.",
            )
        return found

    async def responses_of(self, turn_id: str) -> list[Provenance]:
        """The keys of all answers of a turn, in the order in which they were given."""
        return await self._database.look(lambda connection: of_turn(connection, turn_id))

    async def _one(self, sql: str, value: str) -> str | None:
        def query(connection: sqlite3.Connection) -> str | None:
            row = connection.execute(sql, (value,)).fetchone()
            return None if row is None else row[0]

        return await self._database.look(query)


def _citation(turn_id: str, session_id: str, title: str, message: str, at: int) -> Citation:
    first = next((line.strip() for line in message.splitlines() if line.strip()), "")
    return Citation(
        turn_id=turn_id,
        session_id=session_id,
        session_title=title,
        message=first[:FIRST_LINE],
        created_at=at,
    )
