"""The MCP servers of a Jupyter server: started at first use, ended when idle."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio

from ...models.connections.key_store import KeyStore
from ...protocol.tools import ShareKind
from ..context import ToolContext, ToolFailure
from ..data_rows import looks_like_rows
from ..mime_text import plain
from ..outputs import OUTPUTS, ROW_DATA
from ..pictures import size_of
from ..redaction import Part, PrivateValue, text
from ..registry import Image, ToolOutcome
from .config_files import ConfigFiles, Found
from .connection import Connection, ConnectionFailed
from .definition import ListedTool, ServerDefinition, visible
from .elicitations import RunningCall
from .guard import TEXT, TOO_LARGE, cut_text
from .sdk import Sdk, SdkError
from .server_log import ServerLog
from .sign_in import Grants, SignIns
from .state_file import StateFile

# Turns an MCP server's answer to a call into the outcome of a tool.


PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
MOST_PICTURES = 8


def outcome(result: Mapping[str, Any], what: str, server: str) -> ToolOutcome:
    """The outcome of a call. Raises ``ToolFailure`` if the server reports an error.

    The output is the text, or both if there is also structured content. It counts as output, and as
    rows of data if it looks like some, in the settings for what may go to the model."""
    images: list[Image] = []
    said = cut_text(plain("\n".join(_parts(result.get("content") or [], images))), TEXT)
    kinds: frozenset[ShareKind] = OUTPUTS | ROW_DATA if looks_like_rows(said) else OUTPUTS
    shown = text(Part(said, kinds, f"answer of {len(said):,} characters"))
    structured = _bounded(result.get("structuredContent"))
    data = None if structured is None else PrivateValue(structured, OUTPUTS | ROW_DATA, "data")
    if result.get("isError"):
        raise ToolFailure(
            "server_error",
            shown or f"{server} reported an error without a message.",
            f"The MCP server {server} reported this. Correct the call, or go on without it.",
            summary=text(f"{what} failed: ", Part(visible(said, 200), kinds, "its message")),
            output=data,
            images=images,
        )
    output: Any = shown
    if data is not None:
        # Servers repeat it as text, for clients that do not support structured content.
        output = data if _is_same(said, structured) else {"text": shown, "data": data}
    return ToolOutcome(output, f"Used {what}", images=images)


def failure(error: SdkError, what: str, server: str) -> ToolFailure:
    """The failure of a call that the server did not carry out."""
    message = visible(error.message, 2_000)
    if error.code == TOO_LARGE:
        hint = "Ask for less: a part, a filter, a smaller limit."
        return ToolFailure("too_large", message, hint, summary=f"{what} failed: {message}")
    return ToolFailure(
        "invalid_arguments" if error.code == -32602 else "server_error",
        f"{server} answered with an error: {message}",
        "Correct the call, or go on without this tool.",
        summary=f"{what} failed: {visible(message, 200)}",
    )


def _parts(content: Any, images: list[Image]) -> Iterator[str]:
    """The parts as texts; pictures are added to ``images``."""
    for part in content if isinstance(content, list) else []:
        kind = part.get("type")
        if kind == "text":
            yield str(part.get("text", ""))
        elif kind in ("image", "audio"):
            yield _data(str(part.get("mimeType", kind)), str(part.get("data", "")), images)
        elif kind == "resource":
            yield _resource(part.get("resource") or {}, images)
        elif kind == "resource_link":
            about = [str(part[key]) for key in ("name", "uri", "description") if part.get(key)]
            yield f"[link: {visible(' · '.join(about), 1_000)}]"
        else:
            yield f"[part of type {visible(str(kind), 40)}]"


def _resource(resource: Mapping[str, Any], images: list[Image]) -> str:
    address = visible(str(resource.get("uri", "")), 500)
    if isinstance(resource.get("text"), str):
        return f"[{address}]\n{resource['text']}"
    mime = str(resource.get("mimeType", "binary"))
    return f"[{address}] {_data(mime, str(resource.get('blob', '')), images)}"


def _data(mime: str, data: str, images: list[Image]) -> str:
    mime = visible(mime.partition(";")[0].lower(), 60)
    if mime not in PICTURES:
        return f"[{mime}, {len(data) * 3 // 4:,} bytes, not shown]"
    if len(images) >= MOST_PICTURES:
        return f"[{mime}, {len(data) * 3 // 4:,} bytes, left out]"
    width, height = size_of(data)
    images.append(Image(mime=mime, data=data, width=width, height=height))
    return f"[picture {len(images)}: {mime}{f' {width}x{height}' if width else ''}]"


def _bounded(structured: Any) -> Any:
    if structured is None or len(text := json.dumps(structured)) <= TEXT:
        return structured
    return cut_text(text, TEXT)


def _is_same(text: str, structured: Any) -> bool:
    if not text.strip():
        return True
    try:
        return bool(json.loads(text) == structured)
    except (ValueError, RecursionError):
        return False


log = logging.getLogger(__name__)

ServerState = Literal["stopped", "starting", "running", "failed"]
WAIT_SECONDS = 10.0
"""For a message, while servers start whose tools are not known yet."""


@dataclass(frozen=True)
class McpOptions:
    """``call_seconds`` limits a call, and a server that is unused for ``idle_seconds`` is ended.
    ``is_allowed``: whether an administrator allows MCP servers."""

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
        """Start the servers whose tools are not known yet, and wait a while for them; they may take
        longer. Returns whether the tools of any became known."""
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
        # Cancelling one that waits must not affect the others.
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
        """Refuse what the user has switched off or removed since."""
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
            "The user's next message will come with the current tools.",
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
        """End its connection, which is no longer handed out."""
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
    """Read the task's error, so that the event loop does not report it when no one waits."""
    if not task.cancelled():
        task.exception()
