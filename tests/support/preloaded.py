"""Servers as children of a process that has everything imported, so that a start costs no imports.

A test server is a real process of its own all the same: it runs ``python -m jupyter_server`` from
its first line, in its own folder and environment. Only what importing gives is there before:
Jupyter's modules, ours and litellm's, four seconds of a core for each server. Whoever tests or
measures the start itself starts a ``RunningServer`` with ``preloaded=False``.

``python -m tests.support.preloaded FD`` is that process: each message on the socket asks for one
server, and is answered with its process id and a file descriptor that tells when it ended.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import jupyter_datalayer_agent as package

# Beside all modules of this project and what the loader of litellm names: what a server with
# JupyterLab's extensions imports at its start, and litellm at its first call.
MODULES = (
    "anyio._backends._asyncio",
    "httpcore",
    "IPython",
    "jupyter_lsp.serverextension",
    "jupyter_lsp.virtual_documents_shadow",
    "jupyter_server.nbconvert.handlers",
    "jupyter_server.serverapp",
    "jupyter_server.services.kernels.handlers",
    "jupyter_server.services.nbconvert.handlers",
    "jupyter_server_terminals.app",
    "jupyterlab.commands",
    "jupyterlab.extensions",
    "jupyterlab_server",
    "notebook_shim.nbserver",
    "openai.resources",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "sqlalchemy.ext.asyncio",
    "tornado.platform.asyncio",
)
AT_A_CALL = (
    "litellm.litellm_core_utils.default_encoding",
    "litellm.llms.litellm_proxy.chat.transformation",
    "litellm.proxy._types",
)
LONGEST_MESSAGE = 1 << 20
NOWHERE = "/no-home-of-preloaded-servers"
"""What was asked for the person's folders too early, by a module when it is imported, shows."""


def bare_environment() -> dict[str, str]:
    """This process's, without a person's keys and what sets up Jupyter or the agent."""
    settings = ("_API_KEY", "JUPYTER_", "DATALAYER_AGENT_")
    return {
        name: value
        for name, value in os.environ.items()
        if not any(part in name for part in settings)
    }


@dataclass
class Program:
    """What is to run, and where: ``module`` as after ``python -m``."""

    module: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str
    log: str


class Child:
    """A started program: the part of ``subprocess.Popen`` that the tests use.

    It is the child of another process, so what it ended with is not known: 0 stands for any end.
    """

    def __init__(self, pid: int, descriptor: int) -> None:
        self.pid = pid
        self._descriptor = descriptor

    def poll(self) -> int | None:
        """``None`` while it runs, and 0 afterwards."""
        return 0 if self._has_ended(0) else None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises ``subprocess.TimeoutExpired``."""
        if not self._has_ended(timeout):
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return 0

    def send_signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _has_ended(self, seconds: float | None) -> bool:
        ended = select.poll()
        ended.register(self._descriptor, select.POLLIN)
        return bool(ended.poll(None if seconds is None else seconds * 1000))

    def __del__(self) -> None:
        os.close(self._descriptor)


class Preloaded:
    """Starts the process with the imports when the first program is asked for."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None

    def start(self, program: Program) -> Child:
        if self._socket is None:
            self._socket = self._begin()
        self._socket.send(json.dumps(asdict(program)).encode())
        answer, descriptors, _, _ = socket.recv_fds(self._socket, 64, 1)
        if not descriptors:
            raise RuntimeError("The process with the imports ended; its error stands above.")
        return Child(int(answer), descriptors[0])

    def _begin(self) -> socket.socket:
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.preloaded", str(its.fileno())],
            cwd=Path(__file__).parents[2],
            pass_fds=[its.fileno()],
            env=bare_environment() | {"HOME": NOWHERE},
            stdin=subprocess.DEVNULL,
        )
        its.close()
        # It ends when nobody is left who could ask.
        atexit.register(process.wait)
        atexit.register(ours.close)
        return ours


def import_all() -> None:
    """No thread may be left by it, since a child has none of its parent's."""
    from jupyter_datalayer_agent.models import loader

    gc.disable()
    for name in (*MODULES, *_own_modules()):
        importlib.import_module(name)
    with loader._import_environment():
        for name in ("litellm", *loader.NEEDED_MODULES, *AT_A_CALL):
            importlib.import_module(name)
    threads = len(os.listdir("/proc/self/task"))
    assert threads == 1, f"{threads} threads after the imports"
    gc.freeze()
    gc.enable()


def _own_modules() -> Iterator[str]:
    """But not what runs in kernels, which imports pandas."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if "__main__" not in module.name and ".templates.kernel." not in module.name:
            yield module.name


def become(program: Program) -> None:
    """Be the program from now on."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(program.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    os.chdir(program.folder)
    os.environ.clear()
    os.environ.update(program.environment)
    sys.argv = [program.module, *program.arguments]
    runpy.run_module(program.module, run_name="__main__", alter_sys=True)


def serve(asked: socket.socket) -> Program | None:
    """Make a child for each message. Returns its program in a child, and ``None`` at the end."""
    while message := asked.recv(LONGEST_MESSAGE):
        program = Program(**json.loads(message))
        pid = os.fork()
        if pid == 0:
            asked.close()
            return program
        descriptor = os.pidfd_open(pid)
        socket.send_fds(asked, [str(pid).encode()], [descriptor])
        os.close(descriptor)
        _bury()
    return None


def _bury() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def main(arguments: list[str]) -> None:
    asked = socket.socket(fileno=int(arguments[0]))
    import_all()
    program = serve(asked)
    if program is not None:
        become(program)


if __name__ == "__main__":
    main(sys.argv[1:])
