"""What the store knows of the past, over all sessions: searches, turns, answers, citations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from ..protocol.base import SessionKind
from ..protocol.history import (
    Citation,
    Provenance,
    ResponseType,
    SearchHit,
    StoredResponse,
)
from ..protocol.requests import Turn

if TYPE_CHECKING:
    from .repositories import Repositories


class Past:
    """Reads and names what was said. Part of ``Store``, which opens the database."""

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
        return await (await self._opened()).past.search(query, limit, session_id)

    async def recent(
        self, limit: int = 10, session_id: str | None = None, without: str | None = None
    ) -> list[str]:
        """The ids of the newest turns of all chats, or of one, the newest first; ``without`` is a
        turn that is left out."""
        return await (await self._opened()).past.recent(limit, session_id, without)

    async def turn(self, turn_id: str) -> Turn:
        """The turn with its calls and changes. Raises ``not_found``."""
        return await (await self._opened()).reader.get(turn_id, False)

    async def citations(self, turn_ids: Sequence[str]) -> list[Citation]:
        """Those of the turns that are a chat's, in the order of their first mention."""
        return await (await self._opened()).past.citations(turn_ids)

    async def title_of(self, session_id: str) -> str | None:
        """The session's title; None where there is no such session."""
        return await (await self._opened()).past.title_of(session_id)

    async def kind_of(self, session_id: str) -> SessionKind:
        """What the session is for; a chat also where there is no such session."""
        return await (await self._opened()).past.kind_of(session_id)

    async def newest_session(self, kind: SessionKind) -> str | None:
        """The session of this kind that was made last, which no list has; None without one."""
        return await (await self._opened()).past.newest_session(kind)

    async def set_kind(self, session_id: str, kind: SessionKind) -> None:
        """Say what an empty session is for: turns of one that is no chat are not searched."""
        await (await self._opened()).past.set_kind(session_id, kind)

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
