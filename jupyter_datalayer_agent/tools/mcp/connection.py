"""A connection to one MCP server: its process or its address, and the session with it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...models.connections.key_store import KeyStoreError
from .bounded_http import GUARD, Bound
from .definition import DefinitionError, ListedTool, Resolved, ServerDefinition, visible
from .elicitations import Elicitations, RunningCall
from .guard import LARGEST, TOO_LARGE
from .sdk import Sdk, SdkError, Streams
from .server_log import ServerLog
from .sign_in import SignIns

MOST_TOOLS, MOST_PAGES = 1_000, 100
START_SECONDS = 120.0
"""To start: a package may have to be downloaded first."""
LIST_SECONDS = 30.0
CONNECTION_CLOSED = -32000
"""The SDK's error code for calls that were not answered."""
END_SECONDS = 6.0
"""For a connection to end on its own."""


class ConnectionFailed(Exception):
    """A server could not be started, or no longer answers: says why, for a user."""


@dataclass(frozen=True)
class ServerInfo:
    """What a server says about itself."""

    name: str
    version: str


class Connection:
    """A session with a server, from ``open`` to ``close``.

    ``on_list`` gets its tools when it starts and whenever it reports that they changed. The
    session's contexts are all entered and left in one task, as anyio requires. ``wants_sign_in``:
    the server refused access and offers a sign-in.
    """

    def __init__(
        self,
        server: ServerDefinition,
        sdk: Sdk,
        log: ServerLog,
        root: Path | None,
        on_list: Callable[[list[ListedTool]], None],
        sign_ins: SignIns | None = None,
    ) -> None:
        self.server = server
        self.info: ServerInfo | None = None
        self.wants_sign_in = False
        # If a server refuses the user's own token, the user has to replace it: no sign-in helps.
        self._has_authorization = any(each.lower() == "authorization" for each in server.headers)
        self._sign_ins = sign_ins
        self._sdk = sdk
        self._log = log
        self._root = root
        self._on_list = on_list
        self._elicitations = Elicitations(server.name, sdk, log)
        self._session: Any = None
        self._status = 0
        self._too_large = asyncio.Event()
        self._has_ended = asyncio.Event()
        self._is_closing = asyncio.Event()
        self._is_changed = asyncio.Event()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether it can be used."""
        return self._session is not None and not self._has_ended.is_set()

    async def open(self) -> None:
        """Start the server and list its tools. Raises ``ConnectionFailed``."""
        self._task = asyncio.create_task(self._run())
        try:
            await asyncio.wait_for(asyncio.shield(self._ready), START_SECONDS)
        except asyncio.TimeoutError:
            await self.close()
            raise ConnectionFailed(
                f"It did not answer within {START_SECONDS:g} seconds. Its log may say why."
            ) from None
        except BaseException:
            await self.close()
            raise

    async def call(
        self, name: str, arguments: Mapping[str, Any], running: RunningCall | None = None
    ) -> dict[str, Any]:
        """The result of a call; ``running`` lets the server ask its user. Raises ``SdkError`` and
        ``ConnectionFailed``."""
        async with self._elicitations.during(running):
            return await self._call(name, arguments)

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self._status = 0
        self._too_large.clear()
        calling = asyncio.ensure_future(self._sdk.call_tool(self._session, name, arguments))
        ending = asyncio.ensure_future(_any_of(self._has_ended, self._too_large))
        try:
            await asyncio.wait([calling, ending], return_when=asyncio.FIRST_COMPLETED)
            if calling.done():
                return calling.result()
        except SdkError as error:
            if error.code != CONNECTION_CLOSED:
                raise SdkError(error.code, self._why(error.message)) from error
        finally:
            ending.cancel()
            if not calling.done():
                calling.cancel()
                await asyncio.wait([calling])
        if self._too_large.is_set():
            if self._sdk.ends_with_an_error:
                self._has_ended.set()
            raise SdkError(TOO_LARGE, f"The answer has more than {LARGEST:,} bytes.")
        raise ConnectionFailed(await self._why_ended("It ended during the call."))

    async def close(self) -> None:
        """End the session, and the process. Safe to call again."""
        self._is_closing.set()
        if self._task is None:
            return
        await asyncio.wait([self._task], timeout=END_SECONDS)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=END_SECONDS)

    # -- the task

    async def _run(self) -> None:
        problem: str | None = None
        try:
            resolved = self.server.resolved()
            self._log.redact = resolved.redacted
            async with contextlib.AsyncExitStack() as stack:
                await self._serve(stack, resolved)
        except DefinitionError as error:
            problem = str(error)
        except SdkError as error:
            problem = self._why(f"It answered: {visible(error.message, 300)}")
            if error.code == CONNECTION_CLOSED:
                problem = await self._why_ended("It ended before it answered.")
        except ConnectionFailed as error:
            problem = await self._why_ended(str(error))
        except OSError as error:
            problem = f"It cannot be started: {error.strerror or error}."
        except asyncio.CancelledError:
            problem = "It was stopped."
        except Exception as error:  # noqa: BLE001 - the SDK and anyio raise errors of many kinds
            problem = await self._why_ended(_first_line(error))
        finally:
            self._session = None
            self._has_ended.set()
            await self._elicitations.close()
            if problem is not None:
                self._log.add(problem)
            if not self._ready.done():
                failed = ConnectionFailed(self._log.redact(problem or self._why("It ended.")))
                self._ready.set_exception(failed)
                # There may be no one left waiting.
                self._ready.exception()

    async def _serve(self, stack: contextlib.AsyncExitStack, resolved: Resolved) -> None:
        streams = await self._streams(stack, resolved)
        session = await stack.enter_async_context(
            self._sdk.session(await self._watched(stack, streams), self._root, self._on_notified)
        )
        hello = await self._unless_ended(self._sdk.initialize(session))
        said = hello.get("serverInfo") or {}
        self.info = ServerInfo(
            visible(str(said.get("name", "")), 100), visible(str(said.get("version", "")), 40)
        )
        has_tools = "tools" in (hello.get("capabilities") or {})
        self._on_list(await self._tools(session) if has_tools else [])
        self._session = session
        self._log.add(f"Connected: {self.info.name} {self.info.version}")
        self._ready.set_result(None)
        while not self._is_closing.is_set() and not self._has_ended.is_set():
            await _any_of(self._is_closing, self._has_ended, self._is_changed)
            if self._is_changed.is_set() and self.is_open:
                self._is_changed.clear()
                await self._list_again(session)
                # Asked at most once a second, in case a server keeps changing them.
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._is_closing.wait(), 1)

    async def _list_again(self, session: Any) -> None:
        try:
            tools = await asyncio.wait_for(self._tools(session), LIST_SECONDS)
        except (SdkError, ConnectionFailed, asyncio.TimeoutError) as error:
            self._log.add(f"Its changed list of tools could not be read: {error!r}")
        else:
            self._on_list(tools)
            self._log.add(f"Its tools changed: {len(tools)} now.")

    async def _tools(self, session: Any) -> list[ListedTool]:
        found: dict[str, ListedTool] = {}
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await self._unless_ended(self._sdk.list_tools(session, cursor))
            for each in page.get("tools", []):
                tool = ListedTool.of(each)
                if tool is None:
                    name = visible(str(each.get("name")), 80)
                    self._log.add(f"Tool left out, its name or schema is invalid: {name}")
                elif len(found) < MOST_TOOLS:
                    found.setdefault(tool.name, tool)
            following = page.get("nextCursor")
            if not following or following == cursor or len(found) >= MOST_TOOLS:
                break
            cursor = following
        return list(found.values())

    async def _unless_ended(self, request: Awaitable[dict[str, Any]]) -> dict[str, Any]:
        """The answer. Raises ``ConnectionFailed`` if the server ends first."""
        asked = asyncio.ensure_future(request)
        ended = asyncio.ensure_future(_any_of(self._has_ended, self._is_closing))
        try:
            await asyncio.wait([asked, ended], return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                raise ConnectionFailed("It ended before it answered.")
            return asked.result()
        finally:
            ended.cancel()
            asked.cancel()

    async def _streams(self, stack: contextlib.AsyncExitStack, resolved: Resolved) -> Streams:
        if resolved.url is not None:
            bound = Bound(self._on_response, self._on_too_large)
            auth = await self._signed_in(resolved)
            return await stack.enter_async_context(
                self._sdk.http(resolved.url, resolved.headers, bound, auth)
            )
        errors = stack.enter_context(self._log.of_process())
        command = _found(resolved, self.server)
        # -I and -S: the guard needs no packages, and must import nothing from the working folder.
        guarded = [sys.executable, "-I", "-S", str(GUARD), *command]
        folder = resolved.cwd or (str(self._root) if self._root is not None else None)
        return await stack.enter_async_context(
            self._sdk.stdio(guarded, resolved.env, folder, errors)
        )

    async def _signed_in(self, resolved: Resolved) -> Any:
        """The authentication with the user's sign-in, None without one."""
        if self._sign_ins is None or resolved.url is None or self._has_authorization:
            return None
        try:
            found = await self._sign_ins.grant(self.server, resolved.url)
        except KeyStoreError as error:
            raise ConnectionFailed(f"Its sign-in could not be read. {error}") from error
        if found is None:
            return None
        grant, auth = found
        self._log.redact = lambda text: grant.redacted(resolved.redacted(text))
        return auth

    async def _watched(self, stack: contextlib.AsyncExitStack, streams: Streams) -> Streams:
        """The streams, wrapped so that their end is noticed."""
        import anyio

        sending, receiving = anyio.create_memory_object_stream[Any](0)
        stack.callback(sending.close)
        stack.callback(receiving.close)
        read, write = streams
        # Version 1 of the SDK leaves it open.
        stack.push_async_callback(read.aclose)

        async def forward() -> None:
            try:
                async with sending:
                    async for message in read:
                        incoming = self._sdk.incoming(message)
                        if incoming is None or not self._elicitations.take(incoming, write):
                            await sending.send(message)
            except (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream):
                pass
            finally:
                self._has_ended.set()

        group = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(group.cancel_scope.cancel)
        group.start_soon(forward)
        return receiving, write

    async def _on_notified(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "notifications/tools/list_changed":
            self._is_changed.set()
        elif method == "notifications/message":
            text = f"[{params.get('level')}] {params.get('data')}"
            self._log.add(visible(text, 1_000))

    def _on_response(self, status: int, headers: Any) -> None:
        # 405: it has no stream for messages of its own, which is optional.
        if status != 405:
            self._status = status if status >= 300 else 0
        challenge = str(headers.get("www-authenticate", "")).lower()
        if status == 401 and challenge.startswith("bearer"):
            self.wants_sign_in = not self._has_authorization

    def _on_too_large(self) -> None:
        self._too_large.set()

    async def _why_ended(self, problem: str) -> str:
        if self.server.url is not None:
            return self._why(problem)
        # Its last output may still be on its way.
        await asyncio.sleep(0.05)
        return f"{problem} {self._log.end()}".strip()

    def _why(self, otherwise: str) -> str:
        if self.wants_sign_in:
            return "Sign-in required (401)."
        if self._status in (401, 403):
            return f"It refused access (status {self._status}). Check its headers in mcp.json."
        if self._status == 404:
            return "No MCP server found at this address (404)."
        if 300 <= self._status < 400:
            return f"It redirects to another address (status {self._status}). Use that one."
        if self._status:
            return f"It answered with status {self._status}."
        return otherwise


async def _any_of(*events: asyncio.Event) -> None:
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()


def _found(resolved: Resolved, server: ServerDefinition) -> list[str]:
    """The command with the program's path. Raises ``DefinitionError``."""
    program, *args = resolved.command
    path = resolved.env.get("PATH", os.environ.get("PATH"))
    # The programs of this Python's environment need not be on the path.
    own = os.pathsep.join([path or os.defpath, os.path.dirname(sys.executable)])
    found = shutil.which(program, path=own)
    if found is None:
        installer = {
            "npx": " Install Node.js.",
            "uvx": " Install uv.",
            "uv": " Install uv.",
            "docker": " Install Docker.",
        }.get(program, "")
        raise DefinitionError(
            f"The program {program} was not found.{installer} Or give its whole path as the "
            f"command of {server.name} in {server.file}."
        )
    return [found, *args]


def _first_line(error: BaseException) -> str:
    """What went wrong; in a group of errors, the first one."""
    # Python 3.10 has no exception groups; anyio brings its own.
    while isinstance(inner := getattr(error, "exceptions", None), tuple) and inner:
        error = inner[0]
    if isinstance(error, SdkError) and error.code == CONNECTION_CLOSED:
        return "It ended before it answered."
    if isinstance(error, ConnectionFailed | SdkError):
        return visible(str(error), 300)
    if type(error).__name__ in ("ConnectError", "ConnectTimeout"):
        return "Nothing answers at its address. Is the server running?"
    text = visible(str(error), 300)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
