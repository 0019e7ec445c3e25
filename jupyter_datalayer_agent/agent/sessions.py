"""The sessions that are in memory, each loaded once, and let go when nobody needs it."""

from __future__ import annotations

import asyncio
import logging
import time
from weakref import WeakValueDictionary

from ..protocol.errors import AgentError
from ..protocol.events import SessionDeleted
from ..protocol.ops import Op
from ..protocol.page import WaitingSession
from ..protocol.requests import Session, SessionCreate, SessionPatch
from .channel import EventChannel
from .history import History
from .loading import load
from .services import Services
from .session import Kept, LiveSession
from .settings import check_session
from .waiting import Audience

log = logging.getLogger(__name__)

IDLE_SECONDS = 30 * 60.0
BUSY_PAUSE = 60.0
"""Seconds until a session that is busy, though nobody used it for long, is looked at again."""


class Sessions:
    """Live sessions by id. A session is loaded when somebody first needs it live.

    One that is at rest and that nobody used for ``idle_seconds`` leaves the memory; who listens to
    it goes on listening, and what is sent to it loads it again.
    """

    def __init__(self, services: Services, idle_seconds: float = IDLE_SECONDS) -> None:
        self.services = services
        self._idle_seconds = idle_seconds
        self._live: dict[str, LiveSession] = {}
        self._loading: dict[str, asyncio.Future[LiveSession]] = {}
        self._kept: dict[str, Kept] = {}
        # A channel lives as long as its session, or anybody who listens to it.
        self._channels: WeakValueDictionary[str, EventChannel] = WeakValueDictionary()
        self._sweeper: asyncio.Task[None] | None = None
        self._recalling: asyncio.Task[None] | None = None

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
        services = self.services
        channel = EventChannel(services.store, record.id, record.last_seq, services.telemetry)
        session = LiveSession(self.services, record, History(), [], channel)
        self._take_in(session)
        return session

    async def live(self, session_id: str) -> LiveSession:
        """The session in memory, loaded if need be. Raises ``AgentError`` ``not_found``."""
        while (session := self.loaded(session_id)) is None:
            if session_id in self._live:
                await self._live[session_id].gone()
            loading = self._loading.get(session_id)
            if loading is None:
                loading = asyncio.ensure_future(self._load(session_id))
                self._loading[session_id] = loading
                loading.add_done_callback(lambda _: self._loading.pop(session_id, None))
            await asyncio.shield(loading)
        session.touch()
        return session

    async def _load(self, session_id: str) -> LiveSession:
        channel = self._channels.get(session_id)
        session = await load(self.services, session_id, channel, self._kept.get(session_id))
        self._kept.pop(session_id, None)
        self._take_in(session)
        return session

    def _take_in(self, session: LiveSession) -> None:
        self._live[session.id] = session
        self._channels[session.id] = session.channel
        session.waiting.changed = self._tell_waiting
        self._tell_waiting()
        if self._sweeper is None:
            self._sweeper = asyncio.create_task(self._sweep())

    async def submit(self, session_id: str, op: Op, audience: Audience) -> str:
        """Put an op on the session's queue; its id. Raises ``AgentError``: ``not_found``, or what
        makes that the op cannot be carried out."""
        while True:
            session = await self.live(session_id)
            await session.check(op)
            if not session.ended:
                return session.submit(op, audience)

    def loaded(self, session_id: str | None) -> LiveSession | None:
        """The session where it is in memory; one that rests is left at rest."""
        session = self._live.get(session_id or "")
        return session if session is not None and not session.ended else None

    def running_turn(self, session_id: str) -> str | None:
        """The id of the turn that runs in the session, if any."""
        session = self._live.get(session_id)
        return session.turn.id if session is not None and session.turn is not None else None

    def waits(self, session_id: str) -> bool:
        """Whether the session's turn waits for the person."""
        session = self._live.get(session_id)
        return session is not None and session.waits

    def recall_waiting(self) -> None:
        """Take up what waited for the person when its server ended: once, as the first page comes,
        so that nothing waits unseen."""
        if self._recalling is None:
            self._recalling = asyncio.create_task(self._recall())

    async def _recall(self) -> None:
        try:
            for session_id in await self.services.store.sessions_left_waiting():
                await self.live(session_id)
        except AgentError as error:
            log.warning("What waited for the person is taken up when it is opened: %s", error)

    def _tell_waiting(self) -> None:
        """Tell the pages which sessions wait for the person; the chat in a cell asks there."""
        waiting = [
            WaitingSession(session_id=each.id, title=each.record.title)
            for each in sorted(self._live.values(), key=lambda each: each.used_at, reverse=True)
            if each.waits and each.turn is not None and each.turn.about.location != "inline"
        ]
        self.services.pages.tell_waiting(waiting)

    async def patch(self, session_id: str, patch: SessionPatch) -> Session:
        """Rename or change settings, and tell it to all who listen."""
        check_session(self.services.settings(), patch.settings)
        if session_id in self._channels:
            await self.live(session_id)
        record = await self.services.store.update_session(
            session_id, title=patch.title, settings=patch.settings
        )
        session = self._live.get(session_id)
        if session is not None:
            session.record = record
            await session.configured()
        return record

    async def delete(self, session_id: str) -> None:
        """End the session, delete all that belongs to it, and tell it. Raises ``not_found``."""
        channel = self._channels.get(session_id)
        session = self._live.pop(session_id, None)
        self._kept.pop(session_id, None)
        if session is not None:
            await session.close()
        await self.services.store.delete_session(session_id)
        await self.services.forget(session_id)
        if channel is not None:
            channel.tell_unsaved(SessionDeleted(), None)

    async def close(self) -> None:
        """End every session; running turns are marked as stopped by the server."""
        for task in (self._sweeper, self._recalling):
            if task is not None:
                task.cancel()
        self._sweeper = None
        sessions = list(self._live.values())
        self._live.clear()
        await asyncio.gather(*(session.close() for session in sessions))

    # -- idle sessions -------------------------------------------------------------------------

    async def _sweep(self) -> None:
        """Let sessions go as their time comes; ends when none is in memory."""
        while self._live:
            now = time.monotonic()
            for session in list(self._live.values()):
                if session.ended:
                    del self._live[session.id]
                elif self._due(session) <= now and session.at_rest:
                    del self._live[session.id]
                    self._kept[session.id] = session.let_go()
                    await self.services.notebooks.rest_scratch(session.id)
                    log.debug("Session %s leaves the memory", session.id)
            pauses = [max(self._due(each) - now, 0) for each in self._live.values()]
            busy = min(BUSY_PAUSE, self._idle_seconds)
            await asyncio.sleep(min((each or busy for each in pauses), default=0))
        self._sweeper = None

    def _due(self, session: LiveSession) -> float:
        return session.used_at + self._idle_seconds
