"""Forks: a copy of a conversation up to a turn, which continues on its own."""

from __future__ import annotations

from ...protocol.requests import Session
from ..history.history import user_item
from ..runtime import Runtime

COPIED = (
    "[The conversation up to here was copied; it goes on from here. Documents and kernels are as "
    "they are now, which may differ from what is above. Read cells before you change them.]"
)
"""The note to the model after the last turn that was copied."""


async def fork(runtime: Runtime, session_id: str, turn_id: str | None) -> Session:
    """A new session with the conversation up to and including the turn (None: all of it).

    Raises ``AgentError``: ``not_found``, ``turn_in_progress`` for a turn that runs.
    """
    forks = runtime.store.forks
    return await forks.fork(session_id, turn_id, [user_item(COPIED)])
