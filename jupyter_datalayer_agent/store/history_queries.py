"""Queries over all sessions: searches, turns, answers, citations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, cast

from ..protocol.base import SessionKind
from ..protocol.errors import AgentError
from ..protocol.history import Citation, Provenance, ResponseType, SearchHit, StoredResponse
from ..protocol.requests import Turn
from .search.texts import search

if TYPE_CHECKING:
    import sqlite3

    from .repositories import Repositories

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
    """Part of ``Store``, which opens the database at the first query."""

    def __init__(self, opened: Callable[[], Awaitable[Repositories]]) -> None:
        self._opened = opened

    async def search(
        self, query: str, limit: int = 20, session_id: str | None = None
    ) -> list[SearchHit]:
        """Messages and answers that contain ``query``, the newest first, at most ``limit``.

        Letters match in both cases, and every character stands for itself. Where nothing has the
        query as a whole, texts with each of its words are given. One session's, where it is named;
        else all chats', with a turn that a fork copied shown once.
        """
        database = (await self._opened()).database
        return await database.read_raw(
            lambda connection: search(connection, query, limit, session_id)
        )

    async def recent(
        self, limit: int = 10, session_id: str | None = None, without: str | None = None
    ) -> list[str]:
        """The ids of the newest turns of all chats, or of one, the newest first; ``without`` is a
        turn that is left out."""
        sql = RECENT if session_id is None else RECENT_IN_SESSION
        values = {"limit": limit, "session": session_id, "without": without}
        return await (await self._opened()).database.look(
            lambda connection: [row[0] for row in connection.execute(sql, values)]
        )

    async def turn(self, turn_id: str) -> Turn:
        """The turn with its calls and changes. Raises ``not_found``."""
        return await (await self._opened()).reader.get(turn_id, False)

    async def turn_at(self, session_id: str, number: int) -> str:
        """The id of the session's turn with that number, from 1, those that were reverted
        counted. Raises ``not_found``, saying how many there are."""

        def query(connection: sqlite3.Connection) -> tuple[str | None, int]:
            (count,) = connection.execute(COUNT_IN_SESSION, (session_id,)).fetchone()
            row = connection.execute(NUMBERED, (session_id, number - 1)).fetchone()
            return (None if row is None else row[0]), count

        turn_id, count = await (await self._opened()).database.look(query)
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

        return await (await self._opened()).database.look(query)

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
        await (await self._opened()).database.quick(
            lambda connection: connection.execute(sql, (session_id, kind))
        )

    # Answers

    async def response(self, key: Provenance) -> StoredResponse:
        """The answer of that provenance. Raises ``not_found``."""
        return await (await self._opened()).responses.get(key)

    async def responses_of(self, turn_id: str) -> list[Provenance]:
        """The keys of all answers of a turn, in the order in which they were given."""
        return await (await self._opened()).responses.of_turn(turn_id)

    async def add_response(
        self, turn_id: str, model: str | None, response_type: ResponseType, text: str
    ) -> Provenance:
        """Keep one more answer of a turn: a summary, or the same asked again of another model.

        ``model`` is a name in litellm's form, None where no model answered. The turn's own answer
        and its plan are kept with them. Raises ``not_found``.
        """
        return await (await self._opened()).responses.add(turn_id, model, response_type, text)

    async def _one(self, sql: str, value: str) -> str | None:
        def query(connection: sqlite3.Connection) -> str | None:
            row = connection.execute(sql, (value,)).fetchone()
            return None if row is None else row[0]

        return await (await self._opened()).database.look(query)


def _citation(turn_id: str, session_id: str, title: str, message: str, at: int) -> Citation:
    first = next((line.strip() for line in message.splitlines() if line.strip()), "")
    return Citation(
        turn_id=turn_id,
        session_id=session_id,
        session_title=title,
        message=first[:FIRST_LINE],
        created_at=at,
    )
