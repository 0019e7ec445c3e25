"""A session comes back into memory: its history, what waits in it, and the turn that was asked."""

from __future__ import annotations

import logging

from ..protocol.errors import AgentError
from .channel import EventChannel
from .history import read_history
from .services import Services
from .session import Kept, LiveSession

log = logging.getLogger(__name__)


async def load(
    services: Services,
    session_id: str,
    channel: EventChannel | None = None,
    kept: Kept | None = None,
) -> LiveSession:
    """A session as the database has it. A turn that waited for the person when its server ended
    waits on; messages that waited go on waiting, or the first one runs.

    ``channel`` is the one that somebody listens to already, ``kept`` what was kept in memory.

    Raises ``AgentError`` ``not_found``.
    """
    store = services.store
    await store.recover(session_id)
    waiting = await store.take_waiting_turn(session_id)
    seq = await store.last_seq(session_id)
    if channel is None:
        channel = EventChannel(store, session_id, seq, services.telemetry)
    channel.go_on_after(seq)
    session = LiveSession(
        services,
        await store.get_session(session_id),
        await read_history(
            store,
            session_id,
            without=None if waiting is None else waiting.turn_id,
        ),
        await store.created_paths(session_id),
        channel,
        kept,
    )
    session.put_back(await store.queued_ops(session_id))
    if waiting is None:
        session.go_on()
        return session
    try:
        await session.take_up(waiting)
    except AgentError as error:
        log.warning("Turn %s cannot be taken up: %s", waiting.turn_id, error.message)
        await store.abandon(waiting.turn_id)
        await session.close()
        return await load(services, session_id, channel, kept)
    return session
