"""What an agent SDK calls: a message as a planned task."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Any

from ...agent.events.channel import SerializedEvent
from ...agent.request import AGENT_PREFIX
from ...agent.session.registry import SessionRegistry
from ...agent.session.turn_events import TurnEvents
from ...protocol.attachments import Attachment
from ...protocol.errors import AgentError
from ...protocol.ops import Interrupt, UserMessage
from ...protocol.requests import ChatReply, ChatRequest
from ..base.askers import key_of
from ..base.limits import check_message

Emit = Callable[[dict[str, Any]], Awaitable[None] | None]
"""Is given each event of the turn, as it is on the wire; awaited where it is asynchronous."""


class Tasks:
    """Runs messages as planned tasks."""

    def __init__(self, sessions: SessionRegistry) -> None:
        self._sessions = sessions

    async def run(
        self,
        message: str,
        *,
        session_id: str | None = None,
        notebook: str | None = None,
        emit: Emit | None = None,
        secret: str | None = None,
    ) -> dict[str, Any]:
        """Plan the message's task and carry it out; the ``ChatReply``, as it is on the wire.

        ``session_id`` goes on in a session, else there is a new one; ``notebook`` is the path of
        the one that it is about. Cancelling the call interrupts the task, whose changes can be
        undone as others. An approval waits 10 minutes for an op ``approval_decision`` of a page, or
        of whoever sends this ``secret`` of at least 16 characters as ``X-Datalayer-Agent-Client``.
        Raises ``AgentError``: ``turn_in_progress`` where the session is busy, ``not_found``,
        ``no_model`` and others.
        """
        if not AGENT_PREFIX.sub("", message).strip():
            raise AgentError("invalid_request", "The message is empty: say what is to be done.")
        request = ChatRequest(
            session_id=session_id,
            message=message if AGENT_PREFIX.match(message) else f"agent: {message}",
            mode="agent",
            location="api",
            active_notebook=notebook,
            attachments=[Attachment(kind="notebook", path=notebook)] if notebook else [],
        )
        check_message(request)
        session = await self._sessions.of(request)
        waiting: asyncio.Queue[SerializedEvent] = asyncio.Queue()
        leave = session.state.channel.listen(waiting.put_nowait)
        try:
            op_id, result = await session.chat(
                UserMessage(request=request), "stream", starter=key_of(secret)
            )
            try:
                if (refused := await session.started(op_id, result)) is not None:
                    raise refused
                await _pass_on(waiting, emit)
                reply: ChatReply = await asyncio.shield(result)
            except BaseException:
                # Whoever called does not want it any more, or cannot follow it.
                if not result.done():
                    session.submit(Interrupt())
                    await asyncio.wait([result])
                if not result.cancelled():
                    result.exception()
                raise
        finally:
            leave()
        return reply.to_wire()


async def _pass_on(waiting: asyncio.Queue[SerializedEvent], emit: Emit | None) -> None:
    """Emit the turn's events until its last one."""
    turn = TurnEvents()
    while True:
        event = await waiting.get()
        if turn.has(event) and emit is not None:
            emitted = emit(json.loads(event.text))
            if inspect.isawaitable(emitted):
                await emitted
        if turn.ends_with(event):
            return
