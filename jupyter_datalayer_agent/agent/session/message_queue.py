"""The messages of a session that are queued while a turn runs: stored, and announced to all.

If the user stops a turn, queued messages are held: the stop was meant for everything pending, so
they do not start automatically.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ...protocol import events
from ...protocol.errors import AgentError
from ...protocol.renames import Rename
from ...store.records import StoredOp
from ...store.store import Store
from ..events import EventChannel
from ..message import Message


class MessageQueue:
    """Waiting messages, the next one first."""

    def __init__(self, store: Store, session_id: str, channel: EventChannel) -> None:
        self._store = store
        self._session_id = session_id
        self._channel = channel
        self._messages: list[Message] = []

    @property
    def has_next(self) -> bool:
        """Whether a message is queued that is not held."""
        return any(not message.held for message in self._messages)

    def put_back(self, waiting: Sequence[StoredOp]) -> None:
        """Queue these messages again, as before the session was unloaded."""
        self._messages += [Message(each.op_id, each.op, "page", held=each.held) for each in waiting]

    def renamed(self, rename: Rename) -> None:
        """Use the new path of a renamed document in the messages."""
        for message in self._messages:
            message.renamed(rename)

    async def add(self, message: Message) -> None:
        """Queue a message."""
        event = events.OpQueued(op_id=message.op_id, message=message.op.request.message)
        await self._store.queue.save(self._session_id, message.op_id, message.op, events=[event])
        self._messages.append(message)

    async def take(self) -> Message | None:
        """Remove and return the next message that is not held; None if there is none, here or in
        the database."""
        while message := next((each for each in self._messages if not each.held), None):
            if await self._leave(message, "started"):
                return message
        return None

    async def hold(self) -> None:
        """Hold the queued messages, except those from places that show no queue, where someone
        waits for the answer and would wait forever."""
        held = [
            each
            for each in self._messages
            if not each.held and each.result is None and each.op.request.location in ("panel", None)
        ]
        if not held:
            return
        op_ids = [each.op_id for each in held]
        holds = [events.OpHeld(op_id=op_id) for op_id in op_ids]
        for each in held:
            each.held = True
        await self._store.queue.hold(self._session_id, op_ids, events=holds)

    async def remove(self, op_id: str) -> None:
        """Remove a message for the user. Raises ``AgentError`` ``not_found``."""
        message = self._find(op_id)
        await self._leave(message, "removed")
        message.refuse(AgentError("not_found", "The message was removed from the queue."))

    def put_first(self, op_id: str) -> None:
        """Move a message to the front, held or not. Raises ``AgentError`` ``not_found``."""
        message = self._find(op_id)
        message.held = False
        self._messages.remove(message)
        self._messages.insert(0, message)

    def refuse_all(self, error: AgentError) -> None:
        """Fail the waiting callers; the messages stay in the database."""
        for message in self._messages:
            message.refuse(error)

    def _find(self, op_id: str) -> Message:
        for message in self._messages:
            if message.op_id == op_id:
                return message
        raise AgentError("not_found", "This message is no longer queued.")

    async def _leave(self, message: Message, reason: Literal["started", "removed"]) -> bool:
        """Take a message off the queue, unless that cannot be stored."""
        event = events.OpDequeued(op_id=message.op_id, reason=reason)
        removed = await self._store.queue.remove(self._session_id, message.op_id, events=[event])
        if not removed:
            # Another server took it, and stored the event under a number that is not sent here.
            self._channel.send_unsaved(event, None)
        self._messages.remove(message)
        return removed
