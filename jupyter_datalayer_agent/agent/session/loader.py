"""Loads a session: its history, its queued messages, and the turn that waits for the user."""

from __future__ import annotations

import logging

from ...protocol.errors import AgentError
from ..events.channel import EventChannel
from ..history.history import read_history
from ..runtime import Runtime
from ..state import RetainedState, SessionState
from .actor import LiveSession

log = logging.getLogger(__name__)


async def load(
    runtime: Runtime,
    session_id: str,
    channel: EventChannel | None = None,
    retained: RetainedState | None = None,
) -> LiveSession:
    """A session from the database. A turn that waited for the user when its server ended keeps
    waiting; queued messages stay queued, or the first one runs.

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
