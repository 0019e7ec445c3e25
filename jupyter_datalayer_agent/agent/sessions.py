"""The sessions that are in memory, each loaded once."""

from __future__ import annotations

import asyncio

from ..protocol.requests import Session, SessionCreate, SessionPatch
from .history import History
from .loading import load
from .services import Services
from .session import LiveSession
from .settings import check_session


class Sessions:
    """Live sessions by id. A session is loaded when somebody first needs it live."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._live: dict[str, LiveSession] = {}
        self._loading: dict[str, asyncio.Future[LiveSession]] = {}

    async def create(self, request: SessionCreate | None = None) -> Session:
        """A new, empty session."""
        request = request or SessionCreate()
        check_session(self.services.settings(), request.settings)
        if request.title is None:
            return await self.services.store.create_session(settings=request.settings)
        return await self.services.store.create_session(request.title, request.settings)

    async def begin(self) -> LiveSession:
        """A new, empty session that is wanted at once: there is nothing of it to be loaded."""
        record = await self.create()
        session = LiveSession(self.services, record, History(), [], record.last_seq)
        self._live[record.id] = session
        return session

    async def live(self, session_id: str) -> LiveSession:
        """The session in memory, loaded if need be. Raises ``AgentError`` ``not_found``."""
        session = self._live.get(session_id)
        if session is not None and not session.ended:
            return session
        loading = self._loading.get(session_id)
        if loading is None:
            loading = asyncio.ensure_future(load(self.services, session_id))
            self._loading[session_id] = loading
            loading.add_done_callback(lambda _: self._loading.pop(session_id, None))
        loaded = await asyncio.shield(loading)
        if self._live.get(session_id) is not loaded:
            if session is not None:
                loaded.channel.adopt(session.channel)
            self._live[session_id] = loaded
        return loaded

    def loaded(self, session_id: str | None) -> LiveSession | None:
        """The session where it is in memory; one that rests is left at rest."""
        session = self._live.get(session_id or "")
        return session if session is not None and not session.ended else None

    def running_turn(self, session_id: str) -> str | None:
        """The id of the turn that runs in the session, if any."""
        session = self._live.get(session_id)
        return session.turn.id if session is not None and session.turn is not None else None

    async def patch(self, session_id: str, patch: SessionPatch) -> Session:
        """Rename or change settings, and tell it to all who listen."""
        check_session(self.services.settings(), patch.settings)
        record = await self.services.store.update_session(
            session_id, title=patch.title, settings=patch.settings
        )
        session = self._live.get(session_id)
        if session is not None:
            session.record = record
            await session.configured()
        return record

    async def delete(self, session_id: str) -> None:
        """End the session and delete all that belongs to it. Raises ``not_found``."""
        session = self._live.pop(session_id, None)
        if session is not None:
            await session.close()
        await self.services.store.delete_session(session_id)

    async def close(self) -> None:
        """End every session; running turns are marked as stopped by the server."""
        sessions = list(self._live.values())
        self._live.clear()
        await asyncio.gather(*(session.close() for session in sessions))
