"""An editor: the protocol package's own client, over the agent's real standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import acp
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    RequestPermissionResponse,
    ResourceContentBlock,
    TextContentBlock,
)

from tests.support.jupyter import RunningServer

Result = TypeVar("Result")
Answer = str | Callable[[Any], Awaitable[str | None]]


class Editor(acp.Client):
    """Records what it is sent. ``answers`` are the ids of the options that its user chooses, one
    for each permission request in order, or functions that wait first (None: cancelled)."""

    def __init__(self) -> None:
        self.updates: dict[str, list[Any]] = {}
        self.asked: list[Any] = []
        self.answers: list[Answer] = []
        self._changed = asyncio.Condition()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        # Before anything is waited for: the answer to the prompt may have come with it.
        self.updates.setdefault(session_id, []).append(update)
        async with self._changed:
            self._changed.notify_all()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: Any, **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append((tool_call, options))
        async with self._changed:
            self._changed.notify_all()
        answer = self.answers.pop(0)
        chosen = answer if isinstance(answer, str) else await answer(tool_call)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        assert chosen in [each.option_id for each in options]
        return RequestPermissionResponse(
            outcome=AllowedOutcome(outcome="selected", option_id=chosen)
        )

    async def until(self, condition: Callable[[], bool], seconds: float = 60) -> None:
        """Wait for what it is to be sent."""

        async def wait() -> None:
            async with self._changed:
                await self._changed.wait_for(condition)

        await asyncio.wait_for(wait(), seconds)

    def of_kind(self, session_id: str, *kinds: str) -> list[Any]:
        """The updates of these kinds."""
        found = self.updates.get(session_id, [])
        return [each for each in found if each.session_update in kinds]

    def text(self, session_id: str) -> str:
        """The agent's messages."""
        chunks = self.of_kind(session_id, "agent_message_chunk")
        return "".join(each.content.text for each in chunks)


class Agent:
    """The connection to the agent, and its process."""

    def __init__(self, connection: Any, process: Process) -> None:
        self.connection = connection
        self.process = process

    async def new(self, folder: Path) -> str:
        """A new session."""
        made = await self.connection.new_session(cwd=str(folder), mcp_servers=[])
        return str(made.session_id)

    async def ask(self, session_id: str, *blocks: Any) -> Any:
        """Send a prompt of texts, and of files to link."""
        prompt = [link(each) if isinstance(each, Path) else each for each in blocks]
        prompt = [text(each) if isinstance(each, str) else each for each in prompt]
        return await self.connection.prompt(session_id=session_id, prompt=prompt)


def text(content: str) -> TextContentBlock:
    return TextContentBlock(type="text", text=content)


def link(file: Path) -> ResourceContentBlock:
    return ResourceContentBlock(type="resource_link", name=file.name, uri=file.as_uri())


@contextlib.asynccontextmanager
async def open_editor(
    server: RunningServer, *, whole: bool = False
) -> AsyncIterator[tuple[Editor, Agent]]:
    """``jupyter datalayer-agent acp`` for an editor in the server's root, initialized; ``whole``
    makes it start its private server as a user's does."""
    module = "jupyter_datalayer_agent.cli"
    if RunningServer.preloaded is not None and not whole:
        RunningServer.preloaded()
        module = "tests.support.preloaded.cli"
    editor = Editor()
    async with acp.spawn_agent_process(
        editor,
        *(sys.executable, "-m", module, "acp"),
        env=server.environment,
        cwd=server.root,
        # The SDK's 2 s are not enough on a busy machine: it ends what has just ended, and fails.
        transport_kwargs={"stderr": None, "shutdown_timeout": 30.0},
    ) as (connection, process):
        await connection.initialize(
            protocol_version=acp.PROTOCOL_VERSION, client_capabilities=ClientCapabilities()
        )
        yield editor, Agent(connection, process)


class OpenEditor:
    """An editor that stays open over several tests, in an event loop of its own."""

    def __init__(self, server: RunningServer) -> None:
        self._loop = asyncio.new_event_loop()
        self._context = open_editor(server)

    def __enter__(self) -> OpenEditor:
        self._editor, self._agent = self.run(self._context.__aenter__())
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.run(self._context.__aexit__(None, None, None))
        finally:
            self._loop.close()

    @contextlib.asynccontextmanager
    async def again(self) -> AsyncIterator[tuple[Editor, Agent]]:
        """The same editor, of which nothing has been asked yet."""
        self._editor.asked.clear()
        self._editor.answers.clear()
        yield self._editor, self._agent

    def run(self, test: Coroutine[Any, Any, Result]) -> Result:
        """Run a test's coroutine."""
        return self._loop.run_until_complete(asyncio.wait_for(test, 100))


def run(test: Coroutine[Any, Any, Result]) -> Result:
    """Run a test's coroutine."""
    return asyncio.run(asyncio.wait_for(test, 100))
