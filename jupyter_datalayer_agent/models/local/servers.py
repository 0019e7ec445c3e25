"""The processes that serve models on this computer: started at first use, ended when idle."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
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
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..types import ModelError, Readiness
from .added_models import AddedModels, LocalModel, added_models

# How much memory a model needs, and how much is available.


CACHE_MIB = 512
"""MiB of memory in which llama.cpp keeps other conversations that it has read, so that it need not
read one again to continue it."""

_CGROUP = Path("/sys/fs/cgroup")


def needed(model: LocalModel) -> int:
    """About how many bytes the model needs: for its weights, for the tokens in its window and for
    other conversations. Calculations take some 10% more; how much is not known beforehand."""
    of_tokens = model.window * model.kv_bytes
    return int(1.1 * model.size) + of_tokens + min(CACHE_MIB * 1024 * 1024, of_tokens)


def available(cgroup: Path = _CGROUP) -> int:
    """Bytes that are available now, on the machine or in the container, whichever is less."""
    import psutil

    free: int = psutil.virtual_memory().available
    most, used = _number(cgroup / "memory.max"), _number(cgroup / "memory.current")
    if most is not None and used is not None:
        # The kernel frees a container's cached files when memory is needed.
        free = min(free, max(0, most - used + _cached(cgroup / "memory.stat")))
    return free


def installed(cgroup: Path = _CGROUP) -> int:
    """Bytes of memory that the machine has, or that its container may use."""
    import psutil

    total: int = psutil.virtual_memory().total
    most = _number(cgroup / "memory.max")
    return total if most is None else min(total, most)


def size_text(count: int) -> str:
    """``1.1 GB``, ``540 MB`` or ``0.4 MB``."""
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.0f} MB" if count >= 1e7 else f"{count / 1e6:.1f} MB"


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # no such file, or "max"
        return None


def _cached(file: Path) -> int:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))


# Whether a local model could be started now.


INSTALL = 'pip install "jupyter-datalayer-agent[local]"'
MODULE = "xllamacpp"


def is_installed() -> bool:
    """Whether llama.cpp can be imported. The import itself happens in the model's own process."""
    importlib.invalidate_caches()
    return importlib.util.find_spec(MODULE) is not None


def readiness_of(name: str, models: AddedModels | None = None) -> Readiness:
    """Whether ``local/NAME`` could be called. Free memory is checked only when the model is
    started, since idle models are unloaded to make room."""
    model = (models or added_models()).find(name)
    if model is None:
        return Readiness(
            False,
            f"No local model is called {name.removeprefix('local/')}.",
            "Run `jupyter datalayer-agent models add FILE.gguf` in a terminal.",
        )
    problem = file_problem(model)
    if problem:
        again = f"models remove {model.name}` and then `models add` it again"
        return Readiness(False, problem, f"Put it back, or run `jupyter datalayer-agent {again}.")
    if problem := never_fits(model):
        return Readiness(False, problem)
    if not is_installed():
        return Readiness(
            False, "llama.cpp is not installed.", f"Run `{INSTALL}` where JupyterLab is installed."
        )
    return Readiness(True)


def file_problem(model: LocalModel) -> str:
    """What is wrong with the model's file; empty if it has not changed since it was added."""
    try:
        size = Path(model.path).stat().st_size
    except FileNotFoundError:
        return f"The file of {model.name} is missing: {model.path}."
    except OSError as error:
        return f"The file of {model.name} cannot be read: {error.strerror} ({model.path})."
    if size != model.size:
        return f"The file of {model.name} has changed since it was added: {model.path}."
    return ""


def never_fits(model: LocalModel, memory: int | None = None) -> str:
    """A message if the model needs more than the computer's whole ``memory``, in bytes, else
    empty."""
    memory = installed() if memory is None else memory
    wanted = needed(model)
    if wanted <= memory:
        return ""
    return (
        f"{model.name} needs about {size_text(wanted)} of memory, and this computer has "
        f"{size_text(memory)}. Add it with a smaller context window (--context), or choose a "
        "smaller model."
    )


def too_large(model: LocalModel, free: int | None = None) -> str:
    """A message if the model needs more memory than ``free`` bytes, else empty."""
    free = available() if free is None else free
    wanted = needed(model)
    if wanted <= free:
        return ""
    return (
        f"{model.name} needs about {size_text(wanted)} of memory, and {size_text(free)} are "
        "available. Close other programs or kernels, add it with a smaller context window "
        "(--context), or choose a smaller model."
    )


# The process that serves one model, seen from the Jupyter server.


log = logging.getLogger(__name__)

PROGRAM = Path(__file__).resolve().parent / "llama_process"
MOST_LINES = 60
"""Lines of the process's log that are kept, to explain a failure."""

END_SECONDS = 2.0
"""How long a process may take to end after its output or its connections have ended."""

_ERROR_LINE = re.compile(r"^[\d.]+ E \S+ +(?:\S+: )?(.+)")
_NO_MEMORY = re.compile(
    r"bad_alloc|out of memory|cannot allocate|failed to allocate", re.IGNORECASE
)


class ModelProcess:
    """llama.cpp with one model, on a port and with a key of its own.

    Start it in the event loop's own thread: Linux ends the process with the thread that started
    it. It has its own session, so that Ctrl+C in the server's terminal does not reach it.
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
        """The id of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    async def address(self) -> str:
        """Wait until the model is loaded, and return where it listens. Raises ``ModelError``."""
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
        """Explain to a user why the process ended or did not load its model. Waits for the process
        to end, which it does a moment after its output."""
        self.ends()
        for thread in self._readers:
            thread.join(timeout=1)
        code = self._process.poll()
        text = "\n".join(self._log)
        log.error("The process of %s ended with %s: %s", self.model.id, code, text[-4000:])
        name, size = self.model.name, size_text(self.model.size)
        if code == -getattr(signal, "SIGKILL", 9) or _NO_MEMORY.search(text):
            return (
                f"The system ended the local model {name} ({size}), most likely because memory "
                "ran out. Close other programs or kernels, or choose a smaller model."
            )
        if code == -getattr(signal, "SIGILL", 4):
            return (
                "The installed llama.cpp does not run on this computer's processor. Build it here: "
                "pip install --force-reinstall --no-binary xllamacpp xllamacpp"
            )
        errors = [match[1] for line in self._log if (match := _ERROR_LINE.match(line))]
        detail = errors[0] if errors else reported or f"exit code {code}"
        return (
            f"llama.cpp failed with the local model {name}: {detail}. The server's log has the "
            "details. A newer llama.cpp may support the model: pip install --upgrade xllamacpp"
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


PROGRESS_SECONDS = 2.0
"""Time between two reports of how much is loaded."""


_CHANGED = (
    "{name} was added again while its former version is still answering. Wait for that answer or "
    "stop it, then send this again."
)


@dataclass(frozen=True)
class LocalOptions:
    """An unused process ends after ``idle_seconds``. ``threads`` is the number for each process;
    None for as many as leave the computer usable."""

    idle_seconds: float = 900.0
    threads: int | None = None


class LocalServers:
    """At most one process for each model. To be used in one event loop."""

    def __init__(
        self,
        models: Callable[[], AddedModels],
        options: Callable[[], LocalOptions] = LocalOptions,
        start: Callable[[LocalModel, int], ModelProcess] = ModelProcess,
    ) -> None:
        self._models = models
        self._options = options
        self._start = start
        self._running: dict[str, RunningModel] = {}
        self._starting = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def use(self, name: str) -> AsyncGenerator[RunningModel, None]:
        """The process of a model, which is kept running inside the block. It may still be loading.
        Raises ``ModelError`` if it cannot be started."""
        async with self._starting:
            running = await self._find_or_start(name)
            running.begin_use()
        try:
            yield running
        finally:
            running.end_use()
            # A process that was ended meanwhile, by ``close`` for example, needs no task.
            if not running.users and running in self._running.values():
                self._idle(running)

    async def close(self) -> None:
        """End all processes."""
        async with self._starting:
            for running in list(self._running.values()):
                await self._end(running)

    def processes(self) -> list[ModelProcess]:
        """The processes that run."""
        return [each.process for each in self._running.values() if each.process.is_alive]

    def users(self, name: str) -> int:
        """How many calls use the model now."""
        running = self._running.get(name)
        return 0 if running is None else running.users

    async def _find_or_start(self, name: str) -> RunningModel:
        models = self._models()
        model, state = models.find(name), readiness_of(name, models)
        if model is None or not state.ready:
            raise ModelError("no_model", f"{state.reason} {state.what_to_do}".strip())
        running = self._running.get(model.name)
        if running is not None and running.process.is_alive and running.process.model == model:
            return running
        if running is not None and running.process.is_alive and running.users:
            raise ModelError("server", _CHANGED.format(name=model.name), retryable=False)
        if running is not None:
            await self._end(running)
        await self._make_room(model)
        options = self._options()
        started = self._start(model, options.threads or usual_threads())
        log.info("Local model %s: process %s", model.name, started.pid)
        running = self._running[model.name] = RunningModel(started)
        return running

    async def _make_room(self, model: LocalModel) -> None:
        """End unused processes until the model fits. Raises ``ModelError`` if it does not."""
        for running in list(self._running.values()):
            if needed(model) <= self._free():
                return
            if not running.users:
                await self._end(running)
        problem = too_large(model, self._free())
        if problem:
            raise ModelError("server", problem, retryable=False)

    def _free(self) -> int:
        """Bytes that are available, less those that models still being loaded will take."""
        return available() - sum(each.outstanding for each in self._running.values())

    def _idle(self, running: RunningModel) -> None:
        """End a process that nobody uses: later, or at once if it is still loading."""
        seconds = self._options().idle_seconds if running.is_loaded else 0.0
        running.idle = asyncio.create_task(self._end_after(running, seconds))

    async def _end_after(self, running: RunningModel, seconds: float) -> None:
        await asyncio.sleep(seconds)
        async with self._starting:
            if not running.users:
                running.idle = None
                await self._end(running)

    async def _end(self, running: RunningModel) -> None:
        if self._running.get(running.process.model.name) is running:
            del self._running[running.process.model.name]
        running.cancel_idle()
        await running.process.end()
        log.info(
            "Local model %s: process %s ended", running.process.model.name, running.process.pid
        )


class RunningModel:
    """A process and how many calls use it; ``idle`` is the task that ends it if none does."""

    def __init__(self, process: ModelProcess) -> None:
        self.process = process
        self.users = 0
        self.idle: asyncio.Task[None] | None = None
        self.is_loaded = False

    def begin_use(self) -> None:
        """Count one more call."""
        self.users += 1
        self.cancel_idle()

    def end_use(self) -> None:
        """Count one less."""
        self.users -= 1

    def cancel_idle(self) -> None:
        """Keep the process running."""
        if self.idle is not None:
            self.idle.cancel()
            self.idle = None

    @property
    def outstanding(self) -> int:
        """Bytes that it will take until it is loaded."""
        process = self.process
        return 0 if self.is_loaded else max(0, needed(process.model) - process.loaded_bytes())

    async def loading(self) -> AsyncGenerator[str, None]:
        """Yield what to show until the model is loaded. Raises ``ModelError`` if that fails."""
        address = asyncio.ensure_future(self.process.address())
        try:
            yield f"Loading {self._name} ({size_text(self.process.model.size)})"
            while not address.done():
                await asyncio.wait({address}, timeout=PROGRESS_SECONDS)
                if not address.done():
                    yield self._progress()
            await address
            self.is_loaded = True
        finally:
            address.cancel()

    def _progress(self) -> str:
        size, loaded = self.process.model.size, self.process.loaded_bytes()
        if loaded >= size:
            # All of it has been read, and is now rearranged for this computer's processor.
            return f"Preparing {self._name} ({size_text(size)})"
        return f"Loading {self._name} ({size_text(size)}, {100 * loaded // size}%)"

    @property
    def _name(self) -> str:
        return self.process.model.name


def usual_threads() -> int:
    """A thread for each core but one, and two on two cores, since the process has low priority."""
    import psutil

    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    return max(1, min(int(cores), max(2, int(cores) - 1)))
