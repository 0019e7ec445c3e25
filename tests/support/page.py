"""A page without a browser: the other end of ``WS page``, for tests and benchmarks in Python.

What a browser does with requests is tested in a browser; this one answers as it is set to.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import queue
import threading
from collections.abc import Callable
from typing import Any

import requests
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.support.jupyter import CLIENT, RunningServer

GOING_AWAY = 1001

Answer = Callable[[dict[str, Any]], dict[str, Any] | None]


def browser_headers(server: RunningServer) -> dict[str, str]:
    """What a browser sends that has signed in with the server's token."""
    with requests.Session() as browser:
        browser.get(f"{server.url}api/me", params={"token": server.token}, timeout=60)
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    return {"Cookie": cookies, "Origin": server.url.rstrip("/")}


class FakePage:
    """Connects on entry, says hello, and keeps every message in ``received``.

    It is the user's: while it is connected, the requests of ``server`` are the page's own. What it
    has no ``answer`` to, None included, it leaves unanswered. ``frame_bytes`` counts the bytes of
    all frames that came, their heads included. ``headers`` are those of a browser; left out, it
    signs in by the server's token, as browsers do. A page that was connected before says until
    when it knows of renames; what comes before the welcome is in ``missed``.
    """

    def __init__(
        self,
        server: RunningServer,
        client_id: str = "page-1",
        answer: Answer | None = None,
        headers: dict[str, str] | None = None,
        renames_known_until: int | None = None,
    ) -> None:
        self.client_id = client_id
        self.renames_known_until = renames_known_until
        self.received: queue.Queue[dict[str, Any]] = queue.Queue()
        self.frame_bytes = 0
        self._server = server
        self._headers = headers
        self._answer = answer
        self._connection: WebSocketClientConnection | None = None
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._close: Callable[[Any], None] = lambda connection: connection.close()

    def __enter__(self) -> FakePage:
        self._thread.start()
        assert self._ready.wait(30)
        known = {"renamesKnownUntil": self.renames_known_until}
        self.send({"type": "hello", "clientId": self.client_id, "key": CLIENT, **known})
        self.missed: list[dict[str, Any]] = []
        while (message := self.received.get(timeout=30))["type"] != "welcome":
            self.missed.append(message)
        assert message["clientId"] == self.client_id
        self.renames_known_until = message["renamesKnownUntil"]
        return self

    def __exit__(self, *error: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Close the connection as a browser does whose page is closed or loaded anew."""
        self._end(lambda connection: connection.close(GOING_AWAY))

    def break_off(self) -> None:
        """Break the connection, as a network does, while the page stays as it is."""
        self._end(lambda connection: connection.protocol.stream.close())

    def _end(self, close: Callable[[Any], None]) -> None:
        if self._thread.is_alive():
            self._close = close
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        url = self._server.url.replace("http", "ws", 1) + "datalayer-agent/page"
        request = HTTPRequest(url, headers=self._headers or browser_headers(self._server))
        self._connection = self._loop.run_until_complete(websocket_connect(request))
        reader = self._loop.create_task(self._read())
        self._ready.set()
        with contextlib.suppress(KeyboardInterrupt):
            self._loop.run_forever()
        self._close(self._connection)
        self._loop.run_until_complete(asyncio.gather(reader, return_exceptions=True))
        self._connection.close()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _read(self) -> None:
        assert self._connection is not None
        while (text := await self._connection.read_message()) is not None:
            self.frame_bytes += frame_size(text)
            message = json.loads(text)
            if message["type"] == "request" and self._answer is not None:
                found = self._answer(message)
                answer = {"type": "response", "requestId": message["requestId"]}
                if found is not None:
                    await self._connection.write_message(json.dumps(answer | found))
            self.received.put(message)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message to the server."""
        self.send_text(json.dumps(message))

    def send_text(self, text: str | bytes) -> None:
        """Send a text, or bytes as a binary message, that need not be a message's JSON."""

        async def write() -> None:
            assert self._connection is not None
            await self._connection.write_message(text, binary=isinstance(text, bytes))

        asyncio.run_coroutine_threadsafe(write(), self._loop).result(30)

    def wait_for(self, kind: str, timeout: float = 30) -> dict[str, Any]:
        """The next message of that type; for an event, of that event's type."""
        while True:
            message = self.received.get(timeout=timeout)
            if message["type"] == kind:
                return message
            if message["type"] == "event" and message["event"]["type"] == kind:
                event: dict[str, Any] = message["event"]
                return event


def request_in_page(
    server: RunningServer, method: str, path: str, **options: Any
) -> requests.Response:
    """A request as a page of the user's sends it, whatever only the user decides."""
    with FakePage(server, client_id="of-the-user"):
        return server.request(method, path, **options)


def post_in_page(server: RunningServer, path: str, body: Any) -> Any:
    """The JSON answer of a POST of a page, which must succeed."""
    answer = request_in_page(server, "POST", path, json=body)
    assert answer.ok, f"{answer.status_code} {answer.text}"
    return answer.json()


def submit_in_page(server: RunningServer, session: str, op: dict[str, Any]) -> None:
    """Submit an op as the user does in a page, whoever started the turn."""
    post_in_page(server, f"sessions/{session}/ops", op)


def frame_size(text: str | bytes) -> int:
    """Bytes of a server's frame with this text (RFC 6455, 5.2)."""
    length = len(text.encode() if isinstance(text, str) else text)
    return length + (2 if length < 126 else 4 if length < 65_536 else 10)
