"""``mcp``: the MCP server over standard input and output, as a bridge to a Jupyter server.

Each line of the input is a message, which is posted to the server's ``mcp`` route; what comes back
is a line of the output. The session is the server's: nothing of MCP is decided here.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from .failure import CommandFailed
from .server import AgentServer, server_for

SESSION_HEADER = "Mcp-Session-Id"
VERSION_HEADER = "MCP-Protocol-Version"
RECONNECT_SECONDS = (0.1, 0.5, 2.0, 5.0)
LAST_ANSWERS_SECONDS = 1.0
IDLE_SHUTDOWN = (
    # Should this command be killed, its server ends by itself, within two days.
    "--ServerApp.shutdown_no_activity_timeout=86400",
    "--MappingKernelManager.cull_idle_timeout=86400",
)
ACTIVITY_SECONDS = 3600.0
LOST = "The Jupyter server cannot be reached: it may have been stopped. Restart this MCP server."


def mcp(given: argparse.Namespace) -> int:
    """Bridge until the input ends."""
    root = Path(given.root or Path.cwd())
    if not root.is_dir():
        raise CommandFailed(f"There is no folder {root}.")
    # A client that wants us gone sends this; a private server must end with us.
    signal.signal(signal.SIGTERM, _leave)
    with server_for(root, IDLE_SHUTDOWN) as server:
        print(f"Serving {server.root} by {server.url}", file=sys.stderr)
        asyncio.run(Bridge(server).run())
    return 0


def _leave(*_: object) -> None:
    raise SystemExit(0)


class Bridge:
    """One client's messages and answers."""

    def __init__(self, server: AgentServer) -> None:
        self._server = server
        self._session: str | None = None
        self._version: str | None = None
        self._initialize: dict[str, Any] | None = None
        self._forwards: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Task[None] | None = None
        self._beginning = asyncio.Lock()

    async def run(self) -> None:
        """Until the input ends; then the session ends, and with it what it has running."""
        import httpx

        headers = {"Authorization": f"token {self._server.token}"} if self._server.token else {}
        timeout = httpx.Timeout(30, read=None)
        # A proxy that the environment names is not for a server on this machine.
        async with httpx.AsyncClient(headers=headers, timeout=timeout, trust_env=False) as client:
            self._client = client
            self._url = f"{self._server.url}datalayer-agent/mcp"
            active = asyncio.create_task(self._stay_active())
            try:
                async for line in _lines():
                    message = _parsed(line)
                    if message is None:
                        _write(_error(None, -32700, "The message is not valid JSON."))
                    elif message.get("method") == "initialize":
                        # Nothing can be sent before its answer.
                        await self._forward(message)
                    else:
                        task = asyncio.create_task(self._forward(message))
                        self._forwards.add(task)
                        task.add_done_callback(self._forwards.discard)
                if self._forwards:
                    # What a script asked for before it closed the input.
                    await asyncio.wait(self._forwards, timeout=LAST_ANSWERS_SECONDS)
            finally:
                listener = [] if self._listener is None else [self._listener]
                for task in [active, *self._forwards, *listener]:
                    task.cancel()
                if self._session is not None:
                    with contextlib.suppress(httpx.HTTPError):
                        await client.delete(self._url, headers=self._headers())

    async def _stay_active(self) -> None:
        """A private server must not take a client that is silent for one that is gone."""
        import httpx

        while True:
            await asyncio.sleep(ACTIVITY_SECONDS)
            with contextlib.suppress(httpx.HTTPError):
                await self._client.get(f"{self._server.url}datalayer-agent/health")

    def _headers(self, **more: str) -> dict[str, str]:
        headers = {"Accept": "application/json, text/event-stream", **more}
        if self._session is not None:
            headers[SESSION_HEADER] = self._session
        if self._version is not None:
            headers[VERSION_HEADER] = self._version
        return headers

    async def _forward(self, message: dict[str, Any]) -> None:
        """Post a message, and write what it is answered with."""
        import httpx

        try:
            if message.get("method") == "initialize":
                self._initialize = message
                self._session = self._version = None
                await self._post(message)
                return
            session = self._session
            if not await self._post(message):
                # The server was started again, or ended a session that was idle for long.
                await self._begin_again(session)
                if not await self._post(message):
                    _fail(message, "The session has ended.")
        except httpx.HTTPError:
            _fail(message, LOST)

    async def _begin_again(self, ended: str | None) -> None:
        async with self._beginning:
            if self._session != ended or self._initialize is None:
                return
            self._session = self._version = None
            await self._post(self._initialize, show=False)
            await self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def _post(self, message: dict[str, Any], *, show: bool = True) -> bool:
        """Post a message; False where its session is not known (any more)."""
        async with self._client.stream(
            "POST", self._url, json=message, headers=self._headers()
        ) as response:
            if response.status_code == 404 and SESSION_HEADER in response.request.headers:
                return False
            if response.headers.get("Content-Type", "").startswith("text/event-stream"):
                is_answered, last = await self._write_events(response)
                if not is_answered:
                    await self._resume(message, last)
                return True
            body = (await response.aread()).decode()
            answer = _parsed(body)
            if response.status_code >= 400:
                error = (answer or {}).get("error") or {}
                _fail(message, str(error.get("message") or f"HTTP {response.status_code}"))
            elif answer is not None:
                if message.get("method") == "initialize":
                    self._session = response.headers.get(SESSION_HEADER)
                    self._version = (answer.get("result") or {}).get("protocolVersion")
                if show:
                    _write(answer)
            elif message.get("method") == "notifications/initialized":
                self._listener = asyncio.create_task(self._listen())
            return True

    async def _write_events(self, response: Any) -> tuple[bool, str]:
        """Write the messages of a stream: whether the answer was among them, and the id of the last
        event."""
        import httpx

        last = ""
        with contextlib.suppress(httpx.TransportError):
            async for event_id, message in _events(response):
                last = event_id or last
                if message is not None:
                    _write(message)
                    if "method" not in message:
                        return True, last
        return False, last

    async def _resume(self, message: dict[str, Any], last: str) -> None:
        """Go on with the answer of a request whose stream broke."""
        import httpx

        for seconds in RECONNECT_SECONDS if last else ():
            await asyncio.sleep(seconds)
            headers = self._headers(**{"Last-Event-ID": last})
            with contextlib.suppress(httpx.TransportError):
                async with self._client.stream("GET", self._url, headers=headers) as response:
                    if response.status_code != 200:
                        break
                    is_answered, newest = await self._write_events(response)
                    if is_answered:
                        return
                    last = newest or last
        _fail(message, LOST)

    async def _listen(self) -> None:
        """Write what the server sends by itself, for as long as the session lasts."""
        import httpx

        session, pauses = self._session, iter(RECONNECT_SECONDS)
        while self._session == session:
            with contextlib.suppress(httpx.TransportError):
                async with self._client.stream(
                    "GET", self._url, headers=self._headers()
                ) as response:
                    if response.status_code != 200:
                        return
                    pauses = iter(RECONNECT_SECONDS)
                    await self._write_events(response)
            await asyncio.sleep(next(pauses, RECONNECT_SECONDS[-1]))


async def _lines() -> AsyncIterator[str]:
    """The lines of the standard input, read in a thread that does not keep the process alive."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        rest = b""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            # Python aborts when it ends while a thread waits in ``sys.stdin``.
            while data := os.read(sys.stdin.fileno(), 65536):
                *whole, rest = (rest + data).split(b"\n")
                for line in whole:
                    loop.call_soon_threadsafe(lines.put_nowait, line.decode(errors="replace"))
            loop.call_soon_threadsafe(lines.put_nowait, rest.decode(errors="replace"))
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    while (line := await lines.get()) is not None:
        if line.strip():
            yield line


async def _events(response: Any) -> AsyncIterator[tuple[str | None, dict[str, Any] | None]]:
    """The events of a stream: the id and the message, each where there is one."""
    event_id, data = None, ""
    async for line in response.aiter_lines():
        if line.startswith("id: "):
            event_id = line[4:]
        elif line.startswith("data: "):
            data += line[6:]
        elif not line:
            yield event_id, _parsed(data) if data else None
            event_id, data = None, ""


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _write(message: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
    sys.stdout.buffer.flush()


def _fail(message: dict[str, Any], text: str) -> None:
    """Answer a request with an error; a notification has no answer."""
    if "id" in message and "method" in message:
        _write(_error(message["id"], -32000, text))


def _error(request_id: Any, code: int, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}
