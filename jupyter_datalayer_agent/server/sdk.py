"""The agent for other programs: its descriptor, and its registration with agent SDKs."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import EntryPoint
from typing import Any, get_args

from jupyter_server.utils import url_path_join

from ..agent.context.system_prompt import system_prompt
from ..agent.events import SerializedEvent, TurnEvents
from ..agent.session.registry import SessionRegistry
from ..entry_points import load
from ..protocol.base import Mode
from ..protocol.context import Attachment
from ..protocol.descriptor import (
    AgentCapabilities,
    AgentDescriptor,
    DescribedMode,
    DescribedService,
    DescribedTool,
)
from ..protocol.errors import AgentError
from ..protocol.ops import Interrupt, UserMessage
from ..protocol.requests import AGENT_PREFIX, ChatReply, ChatRequest
from .base.handler import Parts, check_message, key_of

# The agent's descriptor, with this server's tools, services and modes.


AGENT_ID = "datalayer-autonomous"
ENDPOINTS = {
    "health": "health",
    "chat": "chat",
    "stream": "chat/stream",
    "sessions": "sessions",
    "events": "sessions/{id}/events",
    "ops": "sessions/{id}/ops",
    "tools": "tools",
    "services": "services",
    "openapi": "openapi.json",
}
"""Routes that a program needs first; ``openapi.json`` describes all."""


def descriptor(parts: Parts, base_url: str) -> AgentDescriptor:
    """The descriptor of the agent on the server with this base URL (``/`` or ``/user/ada/``)."""
    return AgentDescriptor(
        id=AGENT_ID,
        display_name="Datalayer Data Science Agent",
        description=(
            "Reads, writes and runs Jupyter notebooks: it plans a task, carries it out step by "
            "step, repairs what fails, and reports only what it has read back."
        ),
        version=parts.version,
        capabilities=AgentCapabilities(
            multi_turn=True,
            autonomous=True,
            file_operations=True,
            terminal_access=False,
            workspace_access=True,
        ),
        modes=[
            DescribedMode(id=mode, system_prompt=system_prompt(mode, "off"))
            for mode in get_args(Mode)
        ],
        services=[
            DescribedService(id=each.id, name=each.name, description=each.description)
            for each in parts.service_registry()
        ],
        tools=[
            DescribedTool(name=each.name, description=each.description, changes=each.changes)
            for each in parts.registry
        ],
        base_url=base_url,
        endpoints={
            name: url_path_join(base_url, "datalayer-agent", path)
            for name, path in ENDPOINTS.items()
        },
    )


# The function that an agent SDK calls: it runs a message as a planned task.


Emit = Callable[[dict[str, Any]], Awaitable[None] | None]
"""Called with each event of the turn in the wire's form; an asynchronous one is awaited."""


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
        """Plan the message's task and carry it out. Returns the ``ChatReply`` in the wire's form.

        ``session_id`` continues a session, None begins a new one; ``notebook`` is the path of the
        notebook that the task is about. Cancelling the call interrupts the task, whose changes can
        be undone like any others. An approval waits 10 minutes for an op ``approval_decision``,
        from a page or from a client that sends this ``secret`` (at least 16 characters) as
        ``X-Datalayer-Agent-Client``. Raises ``AgentError``: ``turn_in_progress`` if the session is
        busy, ``not_found``, ``no_model`` and others.
        """
        if not AGENT_PREFIX.sub("", message).strip():
            raise AgentError("invalid_request", "The message is empty. Describe the task.")
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
                # The caller cancelled the task, or can no longer follow it.
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


# Registers the agent with an agent SDK that is installed, if there is one.
#
# An SDK is an entry point of the group ``jupyter_datalayer_agent.sdk``: a function
# ``register(descriptor, run)`` that returns a function to unregister, or None; both may be
# asynchronous. ``descriptor`` is the JSON object of ``GET descriptor``, ``run`` is ``Tasks.run``.


log = logging.getLogger(__name__)


class Registrations:
    """The agent SDKs that this agent is registered with."""

    def __init__(self) -> None:
        self._unregister: dict[str, Callable[[], Any]] = {}

    async def add(self, points: Sequence[EntryPoint], parts: Parts, base_url: str) -> None:
        """Register with all SDKs. The failure of one is logged, and the others go on."""
        described = descriptor(parts, base_url).to_wire()
        tasks = Tasks(parts.sessions)
        for point in points:
            try:
                add = await asyncio.to_thread(load, point)
                unregister = add(described, tasks.run)
                if inspect.isawaitable(unregister):
                    unregister = await unregister
            except Exception:
                # Third-party code may raise anything.
                log.exception("The agent SDK %s (%s) could not be used", point.name, point.value)
                continue
            if unregister is not None:
                self._unregister[point.name] = unregister
            log.info("Registered as %s with the agent SDK %s", AGENT_ID, point.name)

    async def remove(self) -> None:
        """Unregister from all."""
        while self._unregister:
            name, unregister = self._unregister.popitem()
            try:
                done = unregister()
                if inspect.isawaitable(done):
                    await done
            except Exception:
                log.exception("Unregistering from the agent SDK %s failed", name)
