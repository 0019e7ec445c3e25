"""Rewinding a conversation: later turns are withdrawn, with or without their changes.

The documents come first: if they cannot be restored, the conversation stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...protocol import events
from ...protocol.errors import AgentError
from ...protocol.ops import GoBack, Undo
from ..history.history import user_item
from ..state import SessionState
from . import undo

WENT_BACK = (
    "[The user went back to this point and withdrew what was said after it. Documents and "
    "kernels may still hold what was done then: read cells before you change or run them.]"
)
"""The note to the model after the turn that the user went back to."""


async def go_back(session: SessionState, op: GoBack) -> None:
    """Withdraw turns and emit that. Raises ``AgentError``; then no turn was withdrawn."""
    if session.is_busy:
        raise AgentError(
            "turn_in_progress",
            "A turn or a summary is running. Wait for its end or stop it, then go back.",
        )
    withdrawals = session.runtime.store.withdrawals
    gone = await withdrawals.after(session.id, op.turn_id, op.include_turn)
    if not gone:
        raise AgentError("invalid_request", "Nothing came after this turn.")
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
    """Undo the turns' changes, the newest first; returns, in order, the turns of which some
    remain."""
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
