"""The messages of a session that wait while a turn runs; they are kept, and told to all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..protocol import events
from ..protocol.errors import AgentError
from ..protocol.ops import UserMessage
from ..protocol.requests import ChatReply
from ..store.records import QueuedOp
from ..store.store import Store
from .channel import EventChannel
from .waiting import Audience


@dataclass
class Message:
    """A message that waits its turn; ``result`` is for the caller that waits for the reply."""

    op_id: str
    op: UserMessage
    audience: Audience
    result: asyncio.Future[ChatReply] | None = None

    def refuse(self, error: AgentError) -> None:
        """There will be no turn for it."""
        if self.result is not None and not self.result.done():
            self.result.set_exception(error)


class MessageQueue:
    """Waiting messages, the next one first."""

    def __init__(self, store: Store, session_id: str, channel: EventChannel) -> None:
        self._store = store
        self._session_id = session_id
        self._channel = channel
        self._messages: list[Message] = []

    def __len__(self) -> int:
        return len(self._messages)

    def put_back(self, waiting: Sequence[QueuedOp]) -> None:
        """These wait, as they did before the session was unloaded."""
        self._messages += [Message(each.op_id, each.op, "page") for each in waiting]

    async def add(self, message: Message) -> None:
        """Let a message wait."""
        event = events.OpQueued(op_id=message.op_id, message=message.op.request.message)

        async def write(written: Sequence[events.BaseEvent]) -> None:
            await self._store.save_queued_op(
                self._session_id, message.op_id, message.op, events=written
            )

        await self._channel.emit(write, event, None)
        self._messages.append(message)

    async def take(self) -> Message | None:
        """The next one, which waits no more; None where none waits, here or in the database."""
        while self._messages:
            message = self._messages.pop(0)
            if await self._leave(message, "started"):
                return message
        return None

    async def remove(self, op_id: str) -> None:
        """The person takes it back. Raises ``AgentError`` ``not_found``."""
        message = self._find(op_id)
        self._messages.remove(message)
        await self._leave(message, "removed")
        message.refuse(AgentError("not_found", "The message was taken back."))

    def put_first(self, op_id: str) -> None:
        """It is the next one. Raises ``AgentError`` ``not_found``."""
        message = self._find(op_id)
        self._messages.remove(message)
        self._messages.insert(0, message)

    def refuse_all(self, error: AgentError) -> None:
        """Nobody here takes them any more; they stay in the database."""
        for message in self._messages:
            message.refuse(error)

    def _find(self, op_id: str) -> Message:
        for message in self._messages:
            if message.op_id == op_id:
                return message
        raise AgentError("not_found", "This message does not wait any more.")

    async def _leave(self, message: Message, reason: Literal["started", "removed"]) -> bool:
        removed = False

        async def write(written: Sequence[events.BaseEvent]) -> None:
            nonlocal removed
            removed = await self._store.remove_queued_op(
                self._session_id, message.op_id, events=written
            )

        event = events.OpDequeued(op_id=message.op_id, reason=reason)
        await self._channel.emit(write, event, None)
        return removed
