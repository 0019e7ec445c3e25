"""Rewinds a conversation: withdraws later turns, with or without their changes.

Documents come first: if they cannot be restored, the conversation stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...protocol import events
from ...protocol.errors import AgentError
from ...protocol.ops import GoBack, Undo
from ...protocol.requests import Session
from ..history import user_item
from ..runtime import Runtime
from ..state import SessionState
from . import undo

# Forks: a copy of a conversation up to a turn, which continues separately.


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


WENT_BACK = (
    "[The user went back to this point and withdrew what was said after it. Documents and "
    "kernels may still hold what was done then: read cells before you change or run them.]"
)
"""The note to the model after the turn that the user went back to."""


async def go_back(session: SessionState, op: GoBack) -> None:
    """Withdraw turns, and report it. If it raises ``AgentError``, no turn was withdrawn."""
    if session.is_busy:
        raise AgentError(
            "turn_in_progress",
            "A turn or a summary is running. Wait for it to end, or stop it, then go back.",
        )
    withdrawals = session.runtime.store.withdrawals
    gone = await withdrawals.after(session.id, op.turn_id, op.include_turn)
    if not gone:
        raise AgentError("invalid_request", "No turns follow this one.")
    left = await _take_back(session, gone) if op.documents else []
    event = events.WentBack(
        to_turn_id=op.turn_id,
        include_turn=op.include_turn,
        withdrawn=gone,
        documents=op.documents,
        left=left,
    )
    await withdrawals.withdraw(session.id, gone, [event], [user_item(WENT_BACK)])
    session.is_stale = True
    await session.reload()


async def _take_back(session: SessionState, turn_ids: Sequence[str]) -> list[str]:
    """Undo the turns' changes, newest first. Returns, in order, the turns that still have
    changes."""
    store = session.runtime.store
    left = []
    for turn_id in reversed(turn_ids):
        if "open" in (await store.checkpoints.states(turn_id)).values():
            try:
                await undo.take_back(session, Undo(turn_id=turn_id))
            except AgentError as error:
                raise AgentError(
                    error.code, f"The conversation stays as it is. {error.message}", error.detail
                ) from error
        if set((await store.checkpoints.states(turn_id)).values()) - {"undone"}:
            left.append(turn_id)
    return left[::-1]
