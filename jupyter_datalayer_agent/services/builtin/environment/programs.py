"""Runs uv or pip on an environment, never by a shell; what it prints is the progress."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ....secrets_in_text import without_user_info
from ...action import ActionFailed, Progress

PROGRESS_SECONDS = 0.5
MOST_OUTPUT = 200_000
_END_SECONDS = 5.0
_WRITE_SECONDS = 60.0
INSTALLS = re.compile(r"^(?:Installing collected packages|Prepared \d+ package)", re.M)
UNINSTALLS = re.compile(r"^(?:Uninstalling |Uninstalled \d+ package)", re.M)
"""The lines of pip and uv after which packages are written or removed."""


@dataclass(frozen=True)
class Done:
    """How a program ended: its exit code, what it printed to stdout, and to stderr."""

    code: int
    output: str
    errors: str

    @property
    def tail(self) -> str:
        """The end of what it printed, for the user; without passwords in addresses."""
        text = without_user_info(self.errors.strip() or self.output.strip())
        return "\n".join(text.splitlines()[-15:])[-2_000:]


def uv() -> str | None:
    """uv, where there is one: of the server's own environment, or on its path."""
    own = Path(sysconfig.get_path("scripts")) / ("uv.exe" if os.name == "nt" else "uv")
    return str(own) if own.exists() else shutil.which("uv")


def pip_command(python: str, *arguments: str) -> list[str]:
    """A command of pip on the environment of an interpreter, by uv where there is one."""
    if (program := uv()) is not None:
        return [program, "pip", arguments[0], "--python", python, *arguments[1:]]
    # Isolated: the server's PYTHONPATH is none of that environment.
    return [python, "-I", "-m", "pip", arguments[0], "--disable-pip-version-check", *arguments[1:]]


async def run(
    command: Sequence[str],
    progress: Progress | None = None,
    writes: re.Pattern[str] | None = None,
    directory: Path | None = None,
) -> Done:
    """Run a program to its end, in the user's home or another ``directory``. It is ended, with its
    children, when the task is cancelled.

    ``writes`` matches the line after which it changes the environment: from there on it is not
    ended but waited for, since half of a package would be left. Raises ``ActionFailed`` where it
    cannot be started.
    """
    try:
        process = _start(command, directory or Path.home())
    except OSError as error:
        raise ActionFailed(f"{command[0]} could not be started: {error.strerror}.") from error
    # Threads of its own: it may take minutes, for which those of all others would be taken.
    threads = ThreadPoolExecutor(3, "program")
    in_thread = functools.partial(asyncio.get_running_loop().run_in_executor, threads)
    streams = [each for each in (process.stdout, process.stderr) if each is not None]
    printed = [_Printed(functools.partial(in_thread, _more, s), progress, writes) for s in streams]
    read = asyncio.gather(*(each.read() for each in printed))
    end = asyncio.gather(read, in_thread(process.wait))
    try:
        await asyncio.shield(end)
    except BaseException:
        try:
            if any(each.is_writing for each in printed):
                await asyncio.wait({end}, timeout=_WRITE_SECONDS)
        finally:
            await asyncio.shield(asyncio.to_thread(_end, process))
            # Of what it printed the end is near, but where a process that left its group goes on.
            await asyncio.wait({end}, timeout=_END_SECONDS)
        raise
    finally:
        threads.shutdown(wait=False)
        if end.done():
            for stream in streams:
                stream.close()
    (output, errors), code = end.result()
    return Done(code, output, errors)


async def must(
    command: Sequence[str],
    what: str,
    progress: Progress | None = None,
    writes: re.Pattern[str] | None = None,
) -> Done:
    """The same for a program that must succeed; ``what`` did not come about otherwise.

    Raises ``ActionFailed`` with what it printed.
    """
    done = await run(command, progress, writes)
    if done.code == 0:
        return done
    if "No module named pip" in done.errors:
        raise ActionFailed(
            f"{what}: the kernel's environment has no pip, and the server no uv. Install uv into "
            "the server's environment."
        )
    raise ActionFailed(f"{what}:\n\n```\n{done.tail}\n```")


class _Printed:
    """What a program prints to one of its streams."""

    def __init__(
        self,
        more: Callable[[], Awaitable[bytes]],
        progress: Progress | None,
        writes: re.Pattern[str] | None,
    ) -> None:
        self._more = more
        self._progress = progress
        self._writes = writes
        self.is_writing = False

    async def read(self) -> str:
        """All of it, to the end."""
        parts: list[bytes] = []
        size, shown = 0, 0.0
        while data := await self._more():
            if size < MOST_OUTPUT:
                parts.append(data)
                size += len(data)
            text = data.decode("utf-8", "replace").strip()
            if self._writes is not None and self._writes.search(text):
                self.is_writing = True
            lines = text.splitlines()
            if self._progress and lines and time.monotonic() - shown >= PROGRESS_SECONDS:
                shown = time.monotonic()
                await self._progress(without_user_info(lines[-1].strip())[:120])
        return b"".join(parts).decode("utf-8", "replace")


def _start(command: Sequence[str], directory: Path) -> subprocess.Popen[bytes]:
    # Not by asyncio: on Windows, Jupyter's event loop has no subprocesses.
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=directory,
        start_new_session=True,
        env={**os.environ, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
    )


def _more(stream: IO[bytes]) -> bytes:
    return os.read(stream.fileno(), 65_536)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it and its children, at first politely: interrupted, pip puts back what it replaced and
    removes its temporary files."""
    if sys.platform == "win32":
        process.kill()
        process.wait()
        return
    for sign in (signal.SIGINT, signal.SIGTERM):
        if process.poll() is not None:
            break
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
    # The children too, which may have heard nothing of it.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    _wait_for(process.pid)


def _wait_for(group: int) -> None:
    """On a busy machine a process that was killed may finish what it was writing."""
    deadline = time.monotonic() + _END_SECONDS
    while _runs(group) and time.monotonic() < deadline:
        time.sleep(0.01)


def _runs(group: int) -> bool:
    """Whether a process of the group runs; one that nobody has waited for has ended, too."""
    import psutil

    for pid in psutil.pids():
        with contextlib.suppress(OSError, psutil.Error):
            if os.getpgid(pid) == group and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                return True
    return False
