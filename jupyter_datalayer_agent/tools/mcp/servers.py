"""The MCP servers of a Jupyter server: started at their first use, ended when idle."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio

from ...models.connections.key_store import KeyStore
from ..context import ToolContext, ToolFailure
from ..registry import ToolOutcome
from .config_files import ConfigFiles, Found
from .connection import Connection, ConnectionFailed
from .definition import ServerDefinition
from .elicitations import RunningCall
from .listed import ListedTool, visible
from .results import failure, outcome
from .sdk import Sdk, SdkError
from .server_log import ServerLog
from .sign_in.grants import Grants
from .sign_in.sign_ins import SignIns
from .state_file import StateFile

log = logging.getLogger(__name__)

ServerState = Literal["stopped", "starting", "running", "failed"]
WAIT_SECONDS = 10.0
"""Of a message, for servers whose tools are not known yet."""


@dataclass(frozen=True)
class McpOptions:
    """``call_seconds`` that a call may take, ``idle_seconds`` after which a server is ended that
    nobody uses. ``is_allowed``: whether an administrator allows MCP servers."""

    call_seconds: float = 120.0
    idle_seconds: float = 900.0
    is_allowed: bool = True


@dataclass
class _Running:
    """A server that was started, or failed to."""

    server: ServerDefinition
    log: ServerLog = field(default_factory=ServerLog)
    connection: Connection | None = None
    problem: str | None = None
    wants_sign_in: bool = False
    calls: int = 0
    starting: asyncio.Task[Connection] | None = None
    idle: asyncio.TimerHandle | None = None


class McpServers:
    """The servers that are defined and allowed, and their connections. For one event loop."""

    def __init__(
        self,
        files: ConfigFiles,
        state: StateFile,
        root: Path | None,
        options: Callable[[], McpOptions] = McpOptions,
        keys: KeyStore | None = None,
    ) -> None:
        self.files = files
        self.state = state
        self._root = root
        self._options = options
        self._running: dict[str, _Running] = {}
        self._sdk: asyncio.Task[Sdk] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        grants = Grants(keys or KeyStore(state.path.parent), state)
        self.sign_ins = SignIns(grants, self._loaded, self._on_signed_in)

    @property
    def is_allowed(self) -> bool:
        """Whether an administrator allows MCP servers."""
        return self._options().is_allowed

    def found(self) -> Found:
        """The servers that are defined, and what is wrong with their files."""
        if not self.is_allowed:
            return Found((), (), None)
        return self.files.read()

    def usable(self) -> list[ServerDefinition]:
        """The servers that are switched on."""
        return [each for each in self.found().servers if self.state.is_enabled(each)]

    # -- what is known of a server

    def status(self, server: ServerDefinition) -> ServerState:
        """What the server does now."""
        running = self._of(server)
        if running is None:
            return "stopped"
        if running.starting is not None:
            return "starting"
        if running.connection is not None and running.connection.is_open:
            return "running"
        return "failed" if running.problem else "stopped"

    def problem(self, server: ServerDefinition) -> str | None:
        """Why it does not run, if it failed."""
        running = self._of(server)
        return running.problem if running is not None else None

    def wants_sign_in(self, server: ServerDefinition) -> bool:
        """Whether it refused access until the user signs in."""
        running = self._of(server)
        if running is None:
            return False
        connection = running.connection
        return running.wants_sign_in or (connection is not None and connection.wants_sign_in)

    def connection(self, server: ServerDefinition) -> Connection | None:
        """The connection, while there is one."""
        running = self._of(server)
        return running.connection if running is not None else None

    def log_of(self, server: ServerDefinition) -> list[str]:
        """The newest lines of its log."""
        running = self._running.get(server.key)
        return running.log.lines() if running is not None else []

    # -- starting and ending

    async def start_unknown(self, report: Callable[[str], Awaitable[None]]) -> bool:
        """Start the servers whose tools are not known yet, and wait a while for these. They go on
        starting after it. Whether one has become known."""
        unknown = [
            each
            for each in self.usable()
            if self.state.listed(each) is None and self.status(each) != "failed"
        ]
        if not unknown:
            return False
        names = ", ".join(visible(each.name, 40) for each in unknown)
        await report(f"Starting {names}")
        tasks = [asyncio.ensure_future(self.start(each)) for each in unknown]
        for task in tasks:
            task.add_done_callback(_retrieved)
        await asyncio.wait(tasks, timeout=WAIT_SECONDS)
        return any(self.state.listed(each) is not None for each in unknown)

    async def start(self, server: ServerDefinition) -> Connection:
        """The server's connection, started if need be. Raises ``ConnectionFailed``."""
        running = self._running.get(server.key)
        if running is not None and running.server.fingerprint != server.fingerprint:
            await self.stop(running.server)
            running = None
        if running is None:
            running = self._running[server.key] = _Running(server)
        if running.connection is not None and running.connection.is_open:
            return running.connection
        if running.starting is None:
            running.starting = asyncio.create_task(self._open(running))
            running.starting.add_done_callback(_retrieved)
        # Who waits may be cancelled, and others wait, too.
        return await asyncio.shield(running.starting)

    async def stop(self, server: ServerDefinition) -> None:
        """End the server, if it runs. Its log is kept."""
        running = self._running.get(server.key)
        if running is None:
            return
        if running.starting is not None:
            running.starting.cancel()
            await asyncio.wait([running.starting])
        running.problem = None
        await self._close(running)

    async def close(self) -> None:
        """End all servers."""
        await self.sign_ins.close()
        await asyncio.gather(*(self.stop(each.server) for each in list(self._running.values())))
        if self._ending:
            await asyncio.wait(self._ending)

    async def try_out(self, server: ServerDefinition) -> tuple[Connection, list[ListedTool]]:
        """Start a server that is not saved, list its tools and end it. Raises
        ``ConnectionFailed``."""
        tools: list[ListedTool] = []
        sdk = await self._loaded()
        connection = Connection(server, sdk, ServerLog(), self._root, tools.extend)
        try:
            await connection.open()
        finally:
            await connection.close()
        return connection, tools

    # -- calls

    async def call(
        self,
        server: ServerDefinition,
        tool: ListedTool,
        arguments: dict[str, Any],
        context: ToolContext,
    ) -> ToolOutcome:
        """Call a tool as it was when the message was sent. Raises ``ToolFailure``."""
        shown = visible(server.name, 40)
        what = f"{tool.title} of {shown}"
        self._check(server, tool)
        if self.status(server) != "running":
            await context.status(f"Starting {shown}")
        try:
            connection = await self.start(server)
        except ConnectionFailed as error:
            raise _unavailable(shown, str(error)) from error
        self._check_unchanged(server, tool)
        running = self._running[server.key]
        with self._counted(running):
            try:
                with anyio.fail_after(self._options().call_seconds) as limit:
                    asking = RunningCall(context.ask_form, limit)
                    result = await connection.call(tool.name, arguments, asking)
            except TimeoutError as error:
                self._end_stuck(running)
                raise ToolFailure(
                    "timeout",
                    f"{shown} did not answer within {self._options().call_seconds:g} seconds.",
                    "The call was cancelled; it may still have had an effect. Try something "
                    "smaller, or go on without this tool.",
                    summary=f"{what}: no answer in time",
                ) from error
            except SdkError as error:
                raise failure(error, what, shown) from error
            except ConnectionFailed as error:
                running.problem = str(error)
                raise _unavailable(shown, running.log.redact(str(error))) from error
        return outcome(result, what, shown)

    def _check(self, server: ServerDefinition, tool: ListedTool) -> None:
        """What the user switched off or removed meanwhile is not called."""
        now = next((each for each in self.usable() if each.key == server.key), None)
        if now is None or now.fingerprint != server.fingerprint:
            problem = f"The MCP server {server.name} was removed, changed or switched off."
        elif not self.state.tool_enabled(server, tool):
            problem = f"The user has switched off {tool.name} of {server.name}."
        else:
            return
        raise ToolFailure(
            "not_allowed", problem, "Go on without it.", summary=f"Not done: {problem}"
        )

    def _check_unchanged(self, server: ServerDefinition, tool: ListedTool) -> None:
        listed = {each.name: each for each in self.state.listed(server) or []}
        now = listed.get(tool.name)
        if now is not None and now.content_hash == tool.content_hash:
            return
        what = "no longer has this tool" if now is None else "has changed this tool"
        raise ToolFailure(
            "not_found" if now is None else "stale",
            f"{server.name} {what} since the message was sent. It was not called.",
            "The tools as they are now come with the user's next message.",
            summary=f"Not done: {server.name} {what}",
        )

    # -- inside

    def _of(self, server: ServerDefinition) -> _Running | None:
        running = self._running.get(server.key)
        if running is None or running.server.fingerprint != server.fingerprint:
            return None
        return running

    async def _open(self, running: _Running) -> Connection:
        server = running.server
        running.problem = None
        running.wants_sign_in = False
        connection = Connection(
            server,
            await self._loaded(),
            running.log,
            self._root,
            lambda tools: self._keep(server, tools),
            self.sign_ins,
        )
        try:
            await connection.open()
            running.connection = connection
            self._end_when_idle(running)
            return connection
        except ConnectionFailed as error:
            running.problem = str(error)
            running.wants_sign_in = connection.wants_sign_in
            raise
        finally:
            running.starting = None

    async def _on_signed_in(self, server: ServerDefinition) -> None:
        await self.stop(server)
        asyncio.ensure_future(self.start(server)).add_done_callback(_retrieved)

    async def _loaded(self) -> Sdk:
        if self._sdk is None:
            self._sdk = asyncio.ensure_future(asyncio.to_thread(Sdk))
        return await asyncio.shield(self._sdk)

    def _keep(self, server: ServerDefinition, tools: list[ListedTool]) -> None:
        try:
            self.state.set_listed(server, tools)
        except OSError as error:
            log.error("%s cannot be written: %s", self.state.path, error)

    @contextlib.contextmanager
    def _counted(self, running: _Running) -> Iterator[None]:
        running.calls += 1
        try:
            yield
        finally:
            running.calls -= 1
            self._end_when_idle(running)

    def _end_when_idle(self, running: _Running) -> None:
        if running.idle is not None:
            running.idle.cancel()
        loop = asyncio.get_running_loop()
        running.idle = loop.call_later(self._options().idle_seconds, self._on_idle, running)

    def _on_idle(self, running: _Running) -> None:
        if not running.calls:
            self._end(running)

    def _end_stuck(self, running: _Running) -> None:
        """End a server that did not answer, unless others wait for it; the next call starts it."""
        if running.calls == 1:
            self._end(running)

    def _close(self, running: _Running) -> Awaitable[None]:
        """End its connection, of which nobody gets hold any more."""
        if running.idle is not None:
            running.idle.cancel()
        connection, running.connection = running.connection, None
        return asyncio.sleep(0) if connection is None else connection.close()

    def _end(self, running: _Running) -> None:
        task = asyncio.ensure_future(self._close(running))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


def _unavailable(server: str, problem: str) -> ToolFailure:
    return ToolFailure(
        "server_error",
        f"The MCP server {server} cannot be used. {problem}",
        "Go on without it, and report to the user that it has a problem.",
        summary=f"{server} cannot be used. {problem}",
    )


def _retrieved(task: asyncio.Task[Any]) -> None:
    """An error that nobody waits for any more is no error of the event loop."""
    if not task.cancelled():
        task.exception()
