"""The fixture server over Streamable HTTP, on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .fixture import SETS, Server


class HttpServer(ThreadingHTTPServer):
    """``seen`` are the headers of each request; ``status`` is answered in place of a message;
    ``streams``: answers are events of a stream."""

    daemon_threads = True
    status = 200
    token: str | None = None
    redirect: str | None = None
    streams = False

    def __init__(self, sets: list[str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[dict[str, str]] = []
        self.sets = sets

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/mcp"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HttpServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.seen.append({name.lower(): value for name, value in self.headers.items()})
        if self.server.redirect is not None:
            return self._reply(307, b"", location=self.server.redirect)
        if self.server.token and self.headers.get("authorization") != self.server.token:
            return self._reply(401, b"{}")
        if self.server.status != 200:
            return self._reply(self.server.status, b"{}")
        sent: list[dict[str, Any]] = []
        fixture = Server(self.server.sets)
        fixture.send = sent.append  # type: ignore[method-assign]
        fixture.on_message(json.loads(body))
        if not sent:
            return self._reply(202, b"")
        answer = json.dumps({"jsonrpc": "2.0", **sent[-1]}).encode()
        if self.server.streams:
            event = b"event: message\r\nid: 7\r\ndata: " + answer + b"\r\n\r\n"
            return self._reply(200, event, content_type="text/event-stream")
        return self._reply(200, answer)

    def do_GET(self) -> None:
        self._reply(405, b"")

    def _reply(
        self, status: int, body: bytes, content_type: str = "application/json", **headers: str
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def http_server(*sets: str) -> Iterator[HttpServer]:
    assert set(sets) <= set(SETS)
    with HttpServer(list(sets)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
