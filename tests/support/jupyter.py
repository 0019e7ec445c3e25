"""A real Jupyter server with the extension, as a process of its own, in folders of its own.

with RunningServer(tmp_path, api_base=model.base_url) as server:
    reply = server.post("chat", {"message": "..."})
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import requests

from .ports import free_port
from .preloaded import Child, Program, bare_environment
from .preloaded.client import ask
from .preloaded.modules import FONTS

TOKEN = "a-token-for-tests"
CLIENT = "the-secret-of-a-client-in-tests"
REPOSITORY = Path(__file__).parents[2]
PYTHONPATH = os.pathsep.join(map(str, (REPOSITORY, REPOSITORY / "tests" / "support" / "without")))


class RunningServer:
    """Starts on entry and ends on exit; ``start`` and ``kill`` in between, on the same folders.

    ``root`` is the server root. ``environment`` is added to that of the process, which holds no
    model's key of the machine. ``launcher`` is a command that takes the server's as its arguments.
    With ``own_interpreter`` nothing is imported beforehand: for tests of what is imported, and
    where something must not be.
    """

    preloaded: Callable[[], str] | None = None
    """The address of the process that forks preloaded servers; see ``tests/conftest.py``."""

    def __init__(
        self,
        folder: Path,
        *,
        api_base: str | None = None,
        environment: dict[str, str] | None = None,
        arguments: list[str] | None = None,
        launcher: list[str] | None = None,
        lab: bool = False,
        extension: bool = True,
        own_interpreter: bool = False,
    ) -> None:
        self.folder = folder
        self.root = folder / "root"
        self.root.mkdir(parents=True, exist_ok=True)
        self.lab = lab
        self.extension = extension
        self.arguments = arguments or []
        self.launcher = launcher or []
        self.own_interpreter = own_interpreter or launcher is not None
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self.log = folder / "server.log"
        self.process: subprocess.Popen[bytes] | Child | None = None
        home = folder / "home"
        home.mkdir(exist_ok=True)
        self.environment = bare_environment() | {
            "HOME": str(home),
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
            "IPYTHONDIR": str(home / "ipython"),
            "PYTHONPATH": PYTHONPATH,
            "PYTHONUNBUFFERED": "1",
            "PYTHONFAULTHANDLER": "1",
            # Kernels share the cores with much else; threads that wait for each other take longer.
            "OMP_NUM_THREADS": "1",
            # Each home is new, and looking at the machine's fonts takes seconds.
            "MPLCONFIGDIR": str(FONTS),
        }
        if api_base is not None:
            self.environment |= {
                "DATALAYER_AGENT_API_BASE": api_base,
                "DATALAYER_AGENT_MODEL": "openai/scripted",
                "OPENAI_API_KEY": "sk-test-0123456789abcdef",
            }
        self.added = environment or {}
        self.environment |= self.added
        self._connect(TOKEN)

    def _connect(self, token: str) -> None:
        self.token = token
        self._streams: list[requests.Response] = []
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"token {token}"
        # It is one client throughout: what it starts, it may decide on.
        self._session.headers["X-Datalayer-Agent-Client"] = CLIENT

    def _disconnect(self) -> None:
        for response in self._streams:
            response.close()
        self._session.close()

    def __enter__(self) -> RunningServer:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        self._disconnect()
        if error is not None and self.log.exists():
            print(self.log.read_text(errors="replace")[-8000:])

    def start(self) -> None:
        """Start the process and wait until it answers."""
        arguments = [
            "--no-browser",
            "--allow-root",
            f"--ServerApp.root_dir={self.root}",
            f"--ServerApp.port={self.port}",
            "--ServerApp.ip=127.0.0.1",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={TOKEN}",
            f"--ServerApp.jpserver_extensions={{'jupyter_datalayer_agent': {self.extension}}}",
            *self.arguments,
        ]
        module = "jupyterlab" if self.lab else "jupyter_server"
        with self.log.open("ab") as log:
            if type(self).preloaded is not None and not self.own_interpreter:
                program = Program(module, arguments, self.environment, str(self.folder))
                self.process = ask(type(self).preloaded(), program, log.fileno(), log.fileno())
            else:
                self.process = subprocess.Popen(
                    [*self.launcher, sys.executable, "-m", module, *arguments],
                    env=self.environment,
                    cwd=self.folder,
                    # A program of the server's that reads ours would make it non-blocking.
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
        self._wait_until_it_answers()

    def _wait_until_it_answers(self, seconds: float = 60) -> None:
        assert self.process is not None
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                # Nothing reports when a port is listened on but trying it; a bare connection is
                # cheap, so that it can be tried often and costs the starting server nothing.
                socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
                # Jupyter tries its port before it listens on it, and ends that connection.
                if requests.get(f"{self.url}api", timeout=60).ok:
                    return
            except (ConnectionError, requests.ConnectionError):
                time.sleep(0.005)
        raise RuntimeError(f"The server did not start:\n{self.log.read_text()[-4000:]}")

    def stop(self) -> None:
        """End the process in its own way, and at last in ours."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self._show_what_it_does()
            self.process.kill()
            self.process.wait()

    def _show_what_it_does(self) -> None:
        """What its threads do, for whoever looks for the reason why it does not end."""
        assert self.process is not None
        # With faulthandler it writes their stacks to the log.
        self.process.send_signal(signal.SIGABRT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        log = self.log.read_text(errors="replace")
        print(f"The server did not end in 20 s:\n{log[-8000:]}", file=sys.stderr)

    def kill(self) -> None:
        """``kill -9``: nothing of it gets to say goodbye."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def request(self, method: str, path: str, **options: Any) -> requests.Response:
        """A request to one of our routes (``chat``), or of Jupyter's (``/api/contents``)."""
        route = path[1:] if path.startswith("/") else f"datalayer-agent/{path}"
        return self._session.request(method, self.url + route, timeout=120, **options)

    def get(self, route: str, /, **parameters: Any) -> Any:
        """The JSON answer of a GET that must succeed."""
        return self._json(self.request("GET", route, params=parameters))

    def post(self, path: str, body: Any) -> Any:
        """The JSON answer of a POST that must succeed."""
        return self._json(self.request("POST", path, json=body))

    @staticmethod
    def _json(response: requests.Response) -> Any:
        assert response.ok, f"{response.status_code} {response.text}"
        return response.json()

    def stream(self, path: str, body: Any | None = None, **options: Any) -> Iterator[Any]:
        """The events of a stream as they come."""
        method = "GET" if body is None else "POST"
        response = self.request(method, path, json=body, stream=True, **options)
        self._streams.append(response)
        assert response.ok, f"{response.status_code} {response.text}"
        return self._events(response)

    @staticmethod
    def _events(response: requests.Response) -> Iterator[Any]:
        unfinished = b""
        with response:
            # As it comes. `iter_lines` copies all of a long line for each byte of it.
            for received in response.iter_content(chunk_size=None):
                *lines, unfinished = (unfinished + received).split(b"\n")
                for line in lines:
                    if line.startswith(b"data: "):
                        yield json.loads(line[6:])
