"""The server of a command: a running one that serves the notebook, else a private one.

A private server listens on this machine only, with a secret token and no other extension, and ends
with the command.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from ..running_servers import running_servers
from .failure import CommandFailed

START_SECONDS = 60.0
ROUTE = "datalayer-agent/"
HEADERS = {"X-Datalayer-Agent-Client": secrets.token_urlsafe(32)}
"""By which the server knows who started a turn, and may answer what it asks."""
PROGRAM = "jupyter_datalayer_agent.cli.private_server"


@dataclass(frozen=True)
class AgentServer:
    """A Jupyter server with the extension; ``root`` is its root folder."""

    url: str
    token: str
    root: Path

    def path(self, file: Path) -> str:
        """The file's path under the root, as the server names it."""
        return file.resolve().relative_to(self.root).as_posix()

    def get(self, route: str, **query: str) -> Any:
        """The JSON answer of a GET. Raises ``CommandFailed``."""
        return self._json(requests.get(self._url(route), params=query, **self._options(60)))

    def post(self, route: str, body: Any) -> Any:
        """The JSON answer of a POST. Raises ``CommandFailed``."""
        return self._json(requests.post(self._url(route), json=body, **self._options(None)))

    def stream(self, route: str, body: Any = None) -> Iterator[dict[str, Any]]:
        """The events that a POST, or without a ``body`` a GET, answers with, as they come. Raises
        ``CommandFailed``."""
        method = "GET" if body is None else "POST"
        with requests.request(
            method, self._url(route), json=body, stream=True, **self._options(None)
        ) as response:
            self._check(response)
            yield {"type": "session", "sessionId": response.headers.get("X-Session-Id", "")}
            for line in response.iter_lines(chunk_size=1):
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])

    def _url(self, route: str) -> str:
        return f"{self.url}{ROUTE}{route}"

    def _options(self, seconds: float | None) -> dict[str, Any]:
        return {
            "headers": HEADERS | ({"Authorization": f"token {self.token}"} if self.token else {}),
            "timeout": seconds,
        }

    def _json(self, response: requests.Response) -> Any:
        self._check(response)
        return response.json()

    @staticmethod
    def _check(response: requests.Response) -> None:
        if response.ok:
            return
        try:
            message = response.json()["error"]["message"]
        except (ValueError, KeyError, TypeError):
            message = f"The server answered {response.status_code}."
        raise CommandFailed(message, 1)


@dataclass(frozen=True)
class PrivateServer(AgentServer):
    """A server that ends with the command."""

    process: subprocess.Popen[bytes]

    def end(self) -> None:
        """End it, and with it its kernels."""
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()


@contextlib.contextmanager
def server_for(folder: Path, arguments: Sequence[str] = ()) -> Iterator[AgentServer]:
    """A server whose root contains the folder: a running one, so that its open pages show what is
    done, else a private one, with these ``arguments``, that ends afterwards."""
    running = next(_running(folder.resolve()), None)
    if running is not None:
        yield running
        return
    with private_server(folder.resolve(), arguments) as started:
        yield started


def _running(folder: Path) -> Iterator[AgentServer]:
    for info in running_servers(folder):
        root = Path(info["root_dir"]).resolve()
        if not folder.is_relative_to(root):
            continue
        server = AgentServer(info["url"], info.get("token") or "", root)
        # It is dead, needs a password, or lacks our extension.
        with contextlib.suppress(requests.RequestException, CommandFailed):
            server.get("config")
            yield server


@contextlib.contextmanager
def private_server(root: Path, arguments: Sequence[str] = ()) -> Iterator[PrivateServer]:
    """A server for this command alone, with ``arguments`` as of ``jupyter server``."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(24)
    # Not in the arguments, which others on this machine can read.
    process = subprocess.Popen(
        [
            sys.executable, "-m", PROGRAM, "--no-browser",
            "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
            f"--ServerApp.root_dir={root}", "--ServerApp.open_browser=False",
            "--ServerApp.jpserver_extensions={'jupyter_datalayer_agent': True}",
            *(["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
            *arguments,
        ],
        env={**os.environ, "JUPYTER_TOKEN": token},
        # Closed with this process, and with it the server ends.
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    log = _Log(process)
    server = PrivateServer(f"http://127.0.0.1:{port}/", token, root, process)
    try:
        _wait(server, process, log)
        yield server
    finally:
        server.end()


class _Log:
    """Reads the private server's output, so that it never blocks; keeps the end of it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        import threading
        from collections import deque

        self._lines: deque[str] = deque(maxlen=30)
        self._process = process
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._lines.append(line.decode(errors="replace").rstrip())

    def text(self) -> str:
        """The last lines."""
        return "\n".join(self._lines)


def _wait(server: AgentServer, process: subprocess.Popen[bytes], log: _Log) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if requests.get(f"{server.url}{ROUTE}health", timeout=5).ok:
                return
        except requests.RequestException:
            time.sleep(0.05)
    raise CommandFailed(f"A Jupyter server could not be started:\n{log.text()}", 1)
