"""A session comes back into memory: its history, what waits in it, and the turn that was asked."""

from __future__ import annotations

import logging

from ..protocol.errors import AgentError
from .history import read_history
from .services import Services
from .session import LiveSession

log = logging.getLogger(__name__)


async def load(services: Services, session_id: str) -> LiveSession:
    """A session as the database has it. A turn that waited for the person when its server ended
    waits on; messages that waited go on waiting, or the first one runs.

    Raises ``AgentError`` ``not_found``.
    """
    store = services.store
    await store.recover(session_id)
    waiting = await store.take_waiting_turn(session_id)
    session = LiveSession(
        services,
        await store.get_session(session_id),
        await read_history(
            store,
            session_id,
            without=None if waiting is None else waiting.turn_id,
        ),
        await store.created_paths(session_id),
        await store.last_seq(session_id),
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
        return await load(services, session_id)
    return session
