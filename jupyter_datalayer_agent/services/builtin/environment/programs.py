"""Runs uv or pip on an environment, never by a shell; what it prints is the progress."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import sys
import sysconfig
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...action import ActionFailed, Progress

PROGRESS_SECONDS = 0.5
MOST_OUTPUT = 200_000
_SECRET = re.compile(r"(?<=://)[^/\s@]+@")
_END_SECONDS = 5.0


@dataclass(frozen=True)
class Done:
    """How a program ended: its exit code, what it printed to stdout, and to stderr."""

    code: int
    output: str
    errors: str

    @property
    def tail(self) -> str:
        """The end of what it printed, for the user; without passwords in addresses."""
        text = _SECRET.sub("", (self.errors.strip() or self.output.strip()))
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


async def run(command: Sequence[str], progress: Progress | None = None) -> Done:
    """Run a program to its end. It is ended, with its children, when the task is cancelled.

    Raises ``ActionFailed`` where it cannot be started.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=Path.home(),
            start_new_session=True,
            env={**os.environ, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
        )
    except OSError as error:
        raise ActionFailed(f"{command[0]} could not be started: {error.strerror}.") from error
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        output, errors, code = await asyncio.gather(
            _read(process.stdout, progress), _read(process.stderr, progress), process.wait()
        )
    except BaseException:
        await asyncio.shield(_end(process))
        raise
    return Done(code, output, errors)


async def must(command: Sequence[str], what: str, progress: Progress | None = None) -> Done:
    """The same for a program that must succeed; ``what`` did not come about otherwise.

    Raises ``ActionFailed`` with what it printed.
    """
    done = await run(command, progress)
    if done.code == 0:
        return done
    if "No module named pip" in done.errors:
        raise ActionFailed(
            f"{what}: the kernel's environment has no pip, and the server no uv. Install uv into "
            "the server's environment."
        )
    raise ActionFailed(f"{what}:\n\n```\n{done.tail}\n```")


async def _read(stream: asyncio.StreamReader, progress: Progress | None) -> str:
    parts: list[bytes] = []
    size, shown = 0, 0.0
    while data := await stream.read(65_536):
        if size < MOST_OUTPUT:
            parts.append(data)
            size += len(data)
        lines = data.decode("utf-8", "replace").strip().splitlines()
        if progress is not None and lines and time.monotonic() - shown >= PROGRESS_SECONDS:
            shown = time.monotonic()
            await progress(_SECRET.sub("", lines[-1].strip())[:120])
    return b"".join(parts).decode("utf-8", "replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    """End it and its children, at first politely."""
    for sign in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        if process.returncode is not None:
            return
        try:
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, sign)
        except ProcessLookupError:
            pass
        try:
            await asyncio.wait_for(process.wait(), _END_SECONDS)
        except asyncio.TimeoutError:
            continue
