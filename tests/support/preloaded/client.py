"""Asks a process with the imports for children."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

LONGEST_MESSAGE = 1 << 20
START_SECONDS = 90.0


@dataclass
class Program:
    """What is to run, and where: ``module`` as after ``python -m``. With ``own_session`` it leads a
    process group, and ends when the process ended that asked for it."""

    module: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str
    own_session: bool = False


class Child:
    """A started program: the part of ``subprocess.Popen`` that Jupyter and the tests use.

    It is the child of another process, so what it ended with is not known: 0 stands for any end.
    """

    stdin = stdout = None
    stderr: IO[bytes] | None = None

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

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _has_ended(self, seconds: float | None) -> bool:
        ended = select.poll()
        ended.register(self._descriptor, select.POLLIN)
        return bool(ended.poll(None if seconds is None else seconds * 1000))

    def __del__(self) -> None:
        os.close(self._descriptor)


def ask(path: str, program: Program, stdout: int = 1, stderr: int = 2) -> Child:
    """A child of the process that listens at ``path``. Raises ``OSError`` where none does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked:
        asked.connect(path)
        socket.send_fds(asked, [json.dumps(asdict(program)).encode()], [stdout, stderr])
        answer, descriptors, _, _ = socket.recv_fds(asked, 64, 1)
    if not descriptors:
        raise ConnectionError("The process with the imports ended; its error is above.")
    return Child(int(answer), descriptors[0])


class Preloaded:
    """A process of that kind, ``servers`` or ``kernels``: one for all who name the same folder,
    made by the first who wants it. It ends with the process ``owner``."""

    def __init__(self, kind: str, folder: Path, owner: int) -> None:
        self._kind = kind
        self._owner = owner
        self.path = str(folder / kind)
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Let it import, unless it was begun before; returns at once."""
        try:
            os.close(os.open(f"{self.path}.begun", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        command = [sys.executable, "-m", "tests.support.preloaded.process"]
        self._process = subprocess.Popen(
            [*command, self._kind, self.path, str(self._owner)],
            cwd=Path(__file__).parents[3],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def wait(self) -> str:
        """The path, when it is ready. Raises ``RuntimeError`` when it does not come."""
        self.begin()
        deadline = time.monotonic() + START_SECONDS
        while not Path(self.path).exists():
            has_ended = self._process is not None and self._process.poll() is not None
            if has_ended or time.monotonic() > deadline:
                raise RuntimeError("The process with the imports ended; its error is above.")
            time.sleep(0.02)
        return self.path
