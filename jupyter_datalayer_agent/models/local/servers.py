"""The processes that serve models on this computer: started at first use, ended when idle."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from ..types import ModelError
from .added_models import AddedModels, LocalModel
from .memory import available, needed, size_text
from .process import ModelProcess
from .readiness import readiness_of, too_large

log = logging.getLogger(__name__)

PROGRESS_SECONDS = 2.0
"""Between reports of how much is loaded."""


_CHANGED = (
    "{name} was added anew, and the former one still answers. Send this again when it has "
    "finished, or stop that answer."
)


@dataclass(frozen=True)
class LocalOptions:
    """``idle_seconds`` after which a process ends that nobody uses; ``threads`` of each, None for
    as many as leave the computer usable."""

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
        """The process of a model, which does not end meanwhile unless it fails. It may still be
        loading. Raises ``ModelError`` where it cannot be started, saying why."""
        async with self._starting:
            running = await self._find_or_start(name)
            running.begin_use()
        try:
            yield running
        finally:
            running.end_use()
            # One that was ended meanwhile, as by ``close``, leaves no task behind.
            if not running.users and running in self._running.values():
                self._idle(running)

    async def close(self) -> None:
        """End all processes."""
        async with self._starting:
            for running in list(self._running.values()):
                await self._end(running)

    def processes(self) -> list[ModelProcess]:
        """Those that run."""
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
        """End processes that nobody uses if the model does not fit beside them."""
        for running in list(self._running.values()):
            if needed(model) <= self._free():
                return
            if not running.users:
                await self._end(running)
        problem = too_large(model, self._free())
        if problem:
            raise ModelError("server", problem, retryable=False)

    def _free(self) -> int:
        """Bytes that are available, without those that models take which are being loaded."""
        return available() - sum(each.outstanding for each in self._running.values())

    def _idle(self, running: RunningModel) -> None:
        """Nobody uses it now: end it later, or at once if it is still loading."""
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
    """A process and how many calls use it; ``idle`` ends it where nobody does."""

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
        """It is used again."""
        if self.idle is not None:
            self.idle.cancel()
            self.idle = None

    @property
    def outstanding(self) -> int:
        """Bytes that it will yet take."""
        process = self.process
        return 0 if self.is_loaded else max(0, needed(process.model) - process.loaded_bytes())

    async def loading(self) -> AsyncGenerator[str, None]:
        """What to show until the model is loaded. Raises ``ModelError`` if that fails."""
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
            # It was read, and is arranged for this computer's processor.
            return f"Preparing {self._name} ({size_text(size)})"
        return f"Loading {self._name} ({size_text(size)}, {100 * loaded // size}%)"

    @property
    def _name(self) -> str:
        return self.process.model.name


def usual_threads() -> int:
    """A thread for each core but one; both of two, since the process has a low priority."""
    import psutil

    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    return max(1, min(int(cores), max(2, int(cores) - 1)))
