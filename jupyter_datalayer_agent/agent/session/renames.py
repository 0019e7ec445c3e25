"""What is stored and in memory of renamed documents follows them."""

from __future__ import annotations

from ...protocol.renames import Rename
from ..history.history import Item, user_item
from ..runtime import Runtime
from .registry import SessionRegistry


class RecordedRenames:
    """Renames documents in the database and in memory, and notifies the sessions concerned."""

    def __init__(self, runtime: Runtime, sessions: SessionRegistry) -> None:
        self._runtime = runtime
        self._sessions = sessions

    async def record(self, rename: Rename) -> None:
        """What was kept under the old path gets the new one; what was deleted keeps its path."""
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
    """A note to the model, which would otherwise go on with the old path."""
    return user_item(f"[{rename.old} was renamed. Its path is now {rename.new}.]")
