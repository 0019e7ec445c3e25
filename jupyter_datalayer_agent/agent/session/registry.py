"""The sessions in memory: each is loaded once, and unloaded when idle."""

from __future__ import annotations

import asyncio
import logging
import time
from weakref import WeakValueDictionary

from ...protocol.base import Audience, now_ms
from ...protocol.errors import AgentError
from ...protocol.events import SessionDeleted
from ...protocol.ops import Op
from ...protocol.page import WaitingSession
from ...protocol.renames import Rename
from ...protocol.requests import ChatRequest, Session, SessionCreate, SessionPatch
from ...settings.turn_settings import check_session, loosened_in_session
from ..asker import Asker, Starters
from ..events import EventChannel
from ..history import Item, read_history, user_item
from ..runtime import Runtime
from ..state import RetainedState, SessionState
from .actor import LiveSession

# Loads a session: its history, its queued messages, and the turn that waits for the user.


log = logging.getLogger(__name__)


async def load(
    runtime: Runtime,
    session_id: str,
    channel: EventChannel | None = None,
    retained: RetainedState | None = None,
) -> LiveSession:
    """Load a session from the database. A turn that waited for the user when its server ended keeps
    waiting; queued messages then stay queued, otherwise the first one runs.

    ``channel`` is an existing one with listeners.

    Raises ``AgentError`` ``not_found``.
    """
    store = runtime.store
    await store.recover(session_id)
    waiting = await store.plans.take_waiting(session_id)
    seq = await store.events.last_seq(session_id)
    if channel is None:
        channel = EventChannel(store, session_id, seq, runtime.telemetry)
    channel.seq = seq
    unfinished = None if waiting is None else waiting.turn_id
    state = SessionState.of(
        runtime,
        await store.sessions.get(session_id),
        channel,
        await read_history(store, session_id, without=unfinished),
        await store.turn_reader.created_paths(session_id),
        retained,
    )
    session = LiveSession(state)
    session.put_back(await store.queue.waiting(session_id))
    if waiting is None:
        session.run_queued()
        return session
    try:
        await session.resume(waiting)
    except AgentError as error:
        log.warning("Turn %s cannot be resumed: %s", waiting.turn_id, error.message)
        await store.turns.abandon(waiting.turn_id)
        await session.close()
        return await load(runtime, session_id, channel, retained)
    return session


IDLE_SECONDS = 30 * 60.0
DELETED = "This session is being deleted."
RETENTION_SECONDS = 3600.0
"""Seconds between checks for expired conversations."""
BUSY_PAUSE = 60.0
"""Seconds until an unused but busy session is checked again."""


class SessionRegistry:
    """Live sessions by id. A session is loaded when it is first needed.

    One that is idle and unused for ``idle_seconds`` is unloaded. Its listeners stay subscribed, and
    the next op loads it again. An unloaded session without activity for ``retention_days`` (0:
    never) is deleted when another is loaded.
    """

    def __init__(
        self,
        runtime: Runtime,
        idle_seconds: float = IDLE_SECONDS,
        retention_days: int = 0,
    ) -> None:
        self.runtime = runtime
        self._idle_seconds = idle_seconds
        self._retention_ms = retention_days * 24 * 3_600_000
        self._next_look = 0.0
        self._retaining: asyncio.Task[None] | None = None
        self._live: dict[str, LiveSession] = {}
        self._loading: dict[str, asyncio.Future[LiveSession]] = {}
        self._deleting: set[str] = set()
        self._starters: dict[str, Starters] = {}
        self._retained: dict[str, RetainedState] = {}
        # A channel exists as long as its session or a listener does.
        self._channels: WeakValueDictionary[str, EventChannel] = WeakValueDictionary()
        self._sweeper: asyncio.Task[None] | None = None
        self._resuming: asyncio.Task[None] | None = None
        # By the time of each rename that is not stored yet.
        self._concerned: dict[int, list[str]] = {}
        runtime.notebooks.renames.follow(self)

    async def create(
        self, request: SessionCreate | None = None, creator: str | None = None
    ) -> Session:
        """Create an empty session; ``creator`` is the key of the client that it is for."""
        request = request or SessionCreate()
        check_session(self.runtime.settings(), request.settings)
        given = {} if request.title is None else {"title": request.title}
        record = await self.runtime.store.sessions.create(**given, settings=request.settings)
        self._starters[record.id] = Starters(session=creator)
        return record

    async def begin(self, creator: str | None = None) -> LiveSession:
        """Create an empty session that is live at once; see ``create``."""
        record = await self.create(creator=creator)
        runtime = self.runtime
        channel = EventChannel(runtime.store, record.id, record.last_seq, runtime.telemetry)
        session = LiveSession(SessionState.of(runtime, record, channel))
        self._take_in(session)
        return session

    async def live(self, session_id: str) -> LiveSession:
        """The live session, loaded if necessary. Raises ``AgentError`` ``not_found``."""
        while (session := self.loaded(session_id)) is None:
            if session_id in self._deleting:
                raise AgentError("not_found", DELETED)
            if session_id in self._live:
                await self._live[session_id].gone()
            loading = self._loading.get(session_id)
            if loading is None:
                loading = asyncio.ensure_future(self._load(session_id))
                self._loading[session_id] = loading
                loading.add_done_callback(lambda _: self._loading.pop(session_id, None))
            await asyncio.shield(loading)
        session.state.touch()
        return session

    async def of(self, request: ChatRequest, creator: str | None = None) -> LiveSession:
        """The session that the request names. If it names none, a new one is created and its id put
        into the request; see ``create``."""
        if request.session_id is not None:
            return await self.live(request.session_id)
        session = await self.begin(creator)
        request.session_id = session.id
        return session

    async def _load(self, session_id: str) -> LiveSession:
        channel = self._channels.get(session_id)
        session = await load(self.runtime, session_id, channel, self._retained.get(session_id))
        self._retained.pop(session_id, None)
        self._take_in(session)
        return session

    def _take_in(self, session: LiveSession) -> None:
        self._live[session.id] = session
        # Who started its turns is remembered while the session is unloaded.
        session.state.starters = self._starters.setdefault(session.id, session.state.starters)
        self._channels[session.id] = session.state.channel
        session.state.waiting.changed = self._notify_waiting
        self._notify_waiting()
        if self._sweeper is None or self._sweeper.done():
            self._sweeper = asyncio.create_task(self._sweep())
        self._retain()

    async def submit(
        self, session_id: str, op: Op, audience: Audience, asker: Asker, op_id: str | None = None
    ) -> str:
        """Queue an op of the session. Returns its id, ``op_id`` or a new one. Raises
        ``AgentError``: ``not_found``, or why the op is invalid or not the asker's to send."""
        while True:
            session = await self.live(session_id)
            await session.check(op, asker)
            if not session.ended:
                return session.submit(op, audience, op_id, asker.key)

    def loaded(self, session_id: str | None) -> LiveSession | None:
        """The session if it is in memory. Neither loads it nor keeps it from being unloaded."""
        session = self._live.get(session_id or "")
        return session if session is not None and not session.ended else None

    def running_turn(self, session_id: str) -> str | None:
        """The id of the turn that runs in the session, if any."""
        session = self._live.get(session_id)
        return session.turn.id if session is not None and session.turn is not None else None

    def waits(self, session_id: str) -> bool:
        """Whether the session's turn waits for the user."""
        session = self._live.get(session_id)
        return session is not None and session.waits

    def resume_waiting(self) -> None:
        """Resume turns that waited for the user when the server ended, once the first page
        connects."""
        if self._resuming is None:
            self._resuming = asyncio.create_task(self._resume_waiting())

    async def _resume_waiting(self) -> None:
        try:
            for session_id in await self.runtime.store.plans.left_waiting():
                await self.live(session_id)
        except AgentError as error:
            log.warning("What waited for the user is resumed when it is opened: %s", error)

    def renamed(self, rename: Rename) -> None:
        """See ``Follower``: updates sessions in memory."""
        concerned = [each.id for each in self._live.values() if each.renamed(rename)]
        for retained in self._retained.values():
            retained.seen.renamed(rename)
        self._concerned[rename.at] = concerned

    def concerned_by(self, rename: Rename) -> list[str]:
        """The sessions in memory that know a document that was just renamed; returned once."""
        return self._concerned.pop(rename.at, [])

    def _notify_waiting(self) -> None:
        """Tell the pages which sessions wait for the user, except inline chats, which ask where
        they are."""
        waiting = [
            WaitingSession(session_id=each.id, title=each.state.record.title)
            for each in sorted(
                self._live.values(), key=lambda each: each.state.used_at, reverse=True
            )
            if each.waits and each.turn is not None and each.turn.request.location != "inline"
        ]
        self.runtime.pages.notify_waiting(waiting)

    async def patch(self, session_id: str, patch: SessionPatch, asker: Asker) -> Session:
        """Rename or change settings, and notify all listeners. Raises ``AgentError``."""
        base = self.runtime.settings()
        check_session(base, patch.settings)
        now = (await self.runtime.store.sessions.get(session_id)).settings
        starters = self._starters.get(session_id, Starters())
        starters.check_settings(loosened_in_session(base, now, patch.settings), asker)
        if session_id in self._channels:
            await self.live(session_id)
        record = await self.runtime.store.sessions.update(
            session_id, title=patch.title, settings=patch.settings
        )
        session = self._live.get(session_id)
        if session is not None:
            session.state.record = record
            await session.state.emit_configured()
        return record

    async def delete(self, session_id: str) -> None:
        """End the session, delete all its data, and notify listeners. Raises ``not_found``."""
        if session_id in self._deleting:
            raise AgentError("not_found", DELETED)
        self._deleting.add(session_id)
        try:
            if (loading := self._loading.get(session_id)) is not None:
                # Otherwise it could be loaded after it was deleted from the database.
                await asyncio.wait([loading])
            channel = self._channels.get(session_id)
            session = self._live.pop(session_id, None)
            self._retained.pop(session_id, None)
            self._starters.pop(session_id, None)
            if session is not None:
                await session.close()
            await self.runtime.store.sessions.delete(session_id)
            await self.runtime.forget(session_id)
        finally:
            self._deleting.discard(session_id)
        if channel is not None:
            channel.send_unsaved(SessionDeleted(), None)

    async def close(self) -> None:
        """End every session; running turns are marked as stopped by the server."""
        for task in (self._sweeper, self._resuming, self._retaining):
            if task is not None:
                task.cancel()
        self._sweeper = None
        sessions = list(self._live.values())
        self._live.clear()
        await asyncio.gather(*(session.close() for session in sessions))

    # -- idle sessions -------------------------------------------------------------------------

    async def _sweep(self) -> None:
        """Unload idle sessions when due; ends when none is in memory."""
        while self._live:
            now = time.monotonic()
            for session in list(self._live.values()):
                if self._live.get(session.id) is not session:
                    # Deleted, or loaded anew, while another one was unloaded.
                    continue
                if session.ended:
                    del self._live[session.id]
                elif self._due(session) <= now and session.idle:
                    del self._live[session.id]
                    self._retained[session.id] = session.unload()
                    await self._end_scratch_kernel(session.id)
                    log.debug("Session %s leaves the memory", session.id)
            pauses = [max(self._due(each) - now, 0) for each in self._live.values()]
            busy = min(BUSY_PAUSE, self._idle_seconds)
            await asyncio.sleep(min((each or busy for each in pauses), default=0))

    # -- retention -----------------------------------------------------------------------------

    def _retain(self) -> None:
        """Delete expired conversations, once an hour at most."""
        now = time.monotonic()
        if self._retention_ms and now >= self._next_look:
            self._next_look = now + RETENTION_SECONDS
            self._retaining = asyncio.create_task(self._delete_unused())

    async def _delete_unused(self) -> None:
        before = now_ms() - self._retention_ms
        try:
            for session_id in await self.runtime.store.sessions.unused(before):
                if session_id not in self._channels and session_id not in self._loading:
                    await self.delete(session_id)
                    log.info("Session %s was deleted: it is older than retention_days", session_id)
        except AgentError as error:
            log.warning("Conversations that are too old were not deleted: %s", error)

    async def _end_scratch_kernel(self, session_id: str) -> None:
        try:
            await self.runtime.notebooks.scratch.end(session_id, goes_on=True)
        except Exception:
            # A kernel that cannot be ended must not keep all sessions in memory.
            log.exception("Session %s: its scratch kernel could not be ended", session_id)

    def _due(self, session: LiveSession) -> float:
        return session.state.used_at + self._idle_seconds


# Updates what is stored and in memory when documents are renamed.


class RecordedRenames:
    """Renames documents in the database and in memory, and notifies their sessions."""

    def __init__(self, runtime: Runtime, sessions: SessionRegistry) -> None:
        self._runtime = runtime
        self._sessions = sessions

    async def record(self, rename: Rename) -> None:
        """Store the new path in place of the old one; what was deleted keeps its path."""
        if rename.is_deletion:
            await self._runtime.store.renames.note(rename)
            return
        await self._runtime.notebooks.follow_kernels(rename)
        concerned = self._sessions.concerned_by(rename)
        note = note_of(rename)
        sent = await self._runtime.store.renames.apply(rename, concerned, [note])
        for session_id, was_sent in sent.items():
            session = self._sessions.loaded(session_id)
            if session is None:
                continue
            if was_sent:
                session.state.history.note(note)
            else:
                session.state.unsent_notes.append(note)


def note_of(rename: Rename) -> Item:
    """A note to the model, which would otherwise use the old path."""
    return user_item(f"[{rename.old} was renamed. Its path is now {rename.new}.]")
