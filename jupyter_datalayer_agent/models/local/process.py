"""One process that serves a model, as the Jupyter server has it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path
from typing import IO, Any

from ..types import ModelError
from .added_models import LocalModel
from .memory import CACHE_MIB, size_text

log = logging.getLogger(__name__)

PROGRAM = Path(__file__).resolve().parent / "llama_process"
MOST_LINES = 60
"""Of what the process logs, for the message if it fails."""

END_SECONDS = 2.0
"""For a process to end after its output or its connections did."""

_ERROR_LINE = re.compile(r"^[\d.]+ E \S+ +(?:\S+: )?(.+)")
_NO_MEMORY = re.compile(
    r"bad_alloc|out of memory|cannot allocate|failed to allocate", re.IGNORECASE
)


class ModelProcess:
    """llama.cpp with one model, on a port and with a key of its own.

    Started from the event loop's own thread: Linux ends the process with the thread that started
    it. It is in a session of its own, so that Ctrl+C in the server's terminal does not reach it.
    """

    def __init__(self, model: LocalModel, threads: int, program: Path = PROGRAM) -> None:
        self.model = model
        self.key = secrets.token_urlsafe(32)
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._log: deque[str] = deque(maxlen=MOST_LINES)
        self._process = subprocess.Popen(
            [sys.executable, str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Python looks for modules in the program's own folder, whatever the working folder is.
            cwd=str(program),
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        job = {
            "path": model.path,
            "window": model.window,
            "threads": threads,
            "cache_mib": CACHE_MIB,
            # Neither on the command line nor in the environment, which other programs can read.
            "key": self.key,
            "parent": os.getpid(),
        }
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            # It stays open: its end tells the process that the server is gone.
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()
        self._readers = [
            threading.Thread(target=reader, args=(pipe,), daemon=True, name=f"local-{model.name}")
            for reader, pipe in (
                (self._read_log, self._process.stderr),
                (self._read_answer, self._process.stdout),
            )
        ]
        for thread in self._readers:
            thread.start()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    async def address(self) -> str:
        """Where it listens, once the model is loaded. Raises ``ModelError``."""
        answer = await asyncio.shield(self._answer)
        if "address" in answer:
            return str(answer["address"])
        reported = answer.get("error")
        message = await asyncio.to_thread(self.failure, reported)
        raise ModelError("server", message, retryable=False)

    def ends(self) -> bool:
        """Whether it has ended, or does so within ``END_SECONDS``; to be called in a thread."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        return not self.is_alive

    def loaded_bytes(self) -> int:
        """How much of the model is in memory by now, at most all of it."""
        import psutil

        try:
            used: int = psutil.Process(self.pid).memory_info().rss
        except psutil.Error:
            return 0
        return min(used, self.model.size)

    def failure(self, reported: str | None = None) -> str:
        """Why the process ended or did not load its model, for a user. Waits for its end, which
        comes a moment after that of its output."""
        self.ends()
        for thread in self._readers:
            thread.join(timeout=1)
        code = self._process.poll()
        text = "\n".join(self._log)
        log.error("The process of %s ended with %s: %s", self.model.id, code, text[-4000:])
        name, size = self.model.name, size_text(self.model.size)
        if code == -getattr(signal, "SIGKILL", 9) or _NO_MEMORY.search(text):
            return (
                f"The local model {name} ({size}) was ended by the system, most likely because the "
                "memory ran out. Close other programs or kernels, or take a smaller model."
            )
        if code == -getattr(signal, "SIGILL", 4):
            return (
                "The installed llama.cpp does not run on this computer's processor. Build it here: "
                "pip install --force-reinstall --no-binary xllamacpp xllamacpp"
            )
        errors = [match[1] for line in self._log if (match := _ERROR_LINE.match(line))]
        detail = errors[0] if errors else reported or f"exit code {code}"
        return (
            f"llama.cpp could not go on with the local model {name}: {detail}. The server's log "
            "has the details; a newer llama.cpp may know more models: "
            "pip install --upgrade xllamacpp"
        )

    async def end(self) -> None:
        """End the process, which has nothing to save. Safe to call again."""
        self._process.kill()  # no effect if it has ended
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._process.wait()
        for thread in self._readers:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _read_log(self, pipe: IO[bytes]) -> None:
        for line in pipe:
            self._log.append(line.decode("utf-8", "replace").rstrip())

    def _read_answer(self, pipe: IO[bytes]) -> None:
        line = pipe.readline()
        try:
            answer = json.loads(line) if line else {}
        except ValueError:
            answer = {}
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(self._settle, answer)

    def _settle(self, answer: dict[str, Any]) -> None:
        if not self._answer.done():
            self._answer.set_result(answer)
