"""Kernels that belong to a conversation and to no notebook, with limits on what they take."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from ...protocol.cells import CellRun
from ..document import DocumentError
from .acts import Act, refusing
from .confinement import Confinement, confinement
from .connection import KernelConnection, Message
from .execution import Execution
from .expressions import expression
from .limits import LimitPassed, Limits, allocation_refused, died_by_itself, too_long

if TYPE_CHECKING:
    from .guard import Guard
    from .kernels import Kernels

log = logging.getLogger(__name__)

NEW = "This is a new scratch kernel: nothing is defined or imported in it yet."
ENDED_SINCE = (
    "The scratch kernel ended since it was last used, and this is a new one: its variables and "
    "imports are gone."
)
NOT_CONFINED = (
    "It is not confined, since it runs where that is not possible: it can do what the user can."
)
# The output of processes that a kernel forked comes to it by a TCP port, which they cannot reach.
_OUTPUT_OF_FORKS = Path(__file__).with_name("output_of_forks.py")
STUCK_LOOKS = 10
STUCK_PAUSE = 0.1
_OUT_OF_MEMORY = ("MemoryError", "_ArrayMemoryError", "ArrowMemoryError")


@dataclass(frozen=True)
class ScratchRun:
    """How a call ended. ``passed``: the limit that it passed, or how the kernel died; ``note``:
    what is to be known of the kernel that it ran in."""

    run: CellRun
    passed: LimitPassed | None = None
    note: str | None = None


@dataclass
class _Scratch:
    """A running kernel. ``pid`` shows whether it was restarted by somebody; ``prepared`` for which
    of its lives it can show the output of what it forks. ``confinement``: None for none."""

    kernel_id: str
    pid: int | None
    confinement: Confinement | None
    used: bool = False
    prepared: int | None = None


class ScratchKernels:
    """One kernel for each key (a conversation), started when code is first run for it.

    They are kernels of the server like others: listed, culled and at last ended by it. Limits hold
    while a call runs; what code leaves running in the background is only held to the hard bound.
    """

    def __init__(
        self,
        kernels: Kernels,
        limits: Callable[[], Limits],
        network: Callable[[], bool] = lambda: False,
    ) -> None:
        self._kernels = kernels
        self._limits = limits
        self._network = network
        self._of: dict[str, _Scratch] = {}
        self._lost: set[str] = set()
        self._locks: dict[str, asyncio.Lock] = {}

    @property
    def memory(self) -> int | None:
        """Bytes that a kernel may use with its children; None for no limit."""
        return self._limits().memory

    def key_of(self, kernel_id: str) -> str | None:
        """The conversation that the kernel belongs to, if it is a scratch kernel."""
        return next((key for key, each in self._of.items() if each.kernel_id == kernel_id), None)

    async def kernel_id(self, key: str) -> str:
        """The id of the conversation's kernel, started if need be. Raises ``DocumentError``."""
        async with self._lock(key):
            return (await self._ready(key)).kernel_id

    async def run(self, key: str, code: str, seconds: float | None = None) -> ScratchRun:
        """Run code, after what runs for this conversation already, within the limits.

        ``seconds`` may shorten the limit of a call. Whatever the code does, the next call finds a
        kernel that works. Raises ``DocumentError`` when none can be started.
        """
        async with self._lock(key):
            scratch = await self._ready(key)
            note = self._note(key, scratch)
            scratch.used = True
            limits = self._limits()
            if seconds is not None:
                limits = Limits(limits.memory, limits.processes, min(seconds, limits.seconds))
            try:
                run, passed = await self._run(scratch, code, limits)
            except asyncio.CancelledError:
                # The user stopped it. Code that does not stop must not continue without a guard.
                await asyncio.shield(self._drop_if_stuck(key, scratch))
                raise
            if passed is not None and passed.died:
                await self._drop(scratch)
            return ScratchRun(run, passed, note or _why_not_permitted(run, scratch.confinement))

    async def end(self, key: str, *, goes_on: bool = False) -> None:
        """End the conversation's kernel, if it has one; its next call starts another.

        A conversation that ``goes_on`` is then notified that its variables are gone.
        """
        scratch = self._of.get(key)
        await self._drop(scratch)
        if not goes_on:
            self._lost.discard(key)
        elif scratch is not None:
            self._lost.add(key)
        lock = self._locks.get(key)
        if lock is not None and not lock.locked():
            del self._locks[key]

    # -- one kernel ----------------------------------------------------------------------------

    def _lock(self, key: str) -> asyncio.Lock:
        return self._locks.setdefault(key, asyncio.Lock())

    def _note(self, key: str, scratch: _Scratch) -> str | None:
        lost = key in self._lost
        self._lost.discard(key)
        if scratch.used and not lost:
            return None
        how = NOT_CONFINED if scratch.confinement is None else scratch.confinement.note
        return f"{ENDED_SINCE if lost else NEW} {how}"

    async def _ready(self, key: str) -> _Scratch:
        """The conversation's kernel, working."""
        scratch = self._of.get(key)
        if scratch is not None and await self._usable(scratch):
            pid = self._pid(scratch.kernel_id)
            if pid != scratch.pid:  # the user restarted it
                scratch.pid = pid
                self._lost.add(key)
                self._bound(pid)
            return scratch
        if scratch is not None:
            self._lost.add(key)
            await self._drop(scratch)
        wanted = await asyncio.to_thread(confinement, self._network(), tempfile.gettempdir())
        kernel_id = await self._kernels.start_scratch(wanted)
        pid = self._pid(kernel_id)
        is_confined = wanted is not None and pid is not None and wanted.holds(pid)
        if not is_confined:
            log.warning("Scratch kernel %s is not confined", kernel_id)
        scratch = _Scratch(kernel_id, pid, wanted if is_confined else None)
        self._of[key] = scratch
        self._bound(scratch.pid)
        return scratch

    def _bound(self, pid: int | None) -> None:
        """Bound the memory of a process that has run none of our code yet."""
        memory = self._limits().hard_memory
        if pid is not None and memory is not None:
            from .process_tree import bound_memory

            bound_memory(pid, memory)

    async def _usable(self, scratch: _Scratch) -> bool:
        manager = self._kernels.manager
        if scratch.kernel_id not in manager:
            return False  # culled, or shut down by the user
        kernel = manager.get_kernel(scratch.kernel_id)
        if not await ensure_async(kernel.is_alive()):
            return False
        try:
            async with self._kernels.connected(scratch.kernel_id) as connection:
                return not await _is_stuck(connection)
        except DocumentError:
            return False  # it has ended since we asked

    def _pid(self, kernel_id: str) -> int | None:
        """The process id of a kernel on this machine."""
        process = self._kernels.processes.of(kernel_id)
        return None if process is None else process.pid

    # -- one call ------------------------------------------------------------------------------

    async def _run(
        self, scratch: _Scratch, code: str, limits: Limits
    ) -> tuple[CellRun, LimitPassed | None]:
        async with self._kernels.own(scratch.kernel_id) as connection:
            _prepare(scratch, connection)
            execution = Execution(connection, code, store_history=False)
            watch = _Watch(execution)
            try:
                with refusing(lambda act: _refusal(act, scratch.confinement)):
                    async with watch.guarding(scratch.pid, limits):
                        run = await execution.run(limits.seconds)
                await watch.settled()
            finally:
                execution.forget()
            stuck = await _is_stuck(connection)
        died = run.kernel_died
        passed = watch.passed
        if passed is not None:
            passed = replace(passed, died=passed.died or died or stuck)
        elif run.status == "timeout":
            passed = too_long(limits.seconds, died=stuck)
        elif run.error is not None and died:
            passed = died_by_itself(run.error.evalue)
        elif run.error is not None and run.error.ename in _OUT_OF_MEMORY and limits.memory:
            passed = allocation_refused(limits.memory)
        return run, passed

    async def _drop_if_stuck(self, key: str, scratch: _Scratch) -> None:
        if not await self._usable(scratch):
            self._lost.add(key)
            await self._drop(scratch)

    async def _drop(self, scratch: _Scratch | None) -> None:
        """End the kernel at once."""
        manager = self._kernels.manager
        self._of = {key: each for key, each in self._of.items() if each is not scratch}
        if scratch is None or scratch.kernel_id not in manager:
            return
        if scratch.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                await asyncio.to_thread(_kill, scratch.pid)
        try:
            await ensure_async(manager.shutdown_kernel(scratch.kernel_id, now=True))
        except (HTTPError, KeyError, RuntimeError, OSError):
            log.warning("Scratch kernel %s was not shut down", scratch.kernel_id, exc_info=True)


def _prepare(scratch: _Scratch, connection: KernelConnection) -> None:
    """Make the way for the output of forked processes, before what is sent to the kernel next."""
    confined = scratch.confinement
    if confined is None or confined.network or scratch.prepared == scratch.pid:
        return
    scratch.prepared = scratch.pid
    source = _OUTPUT_OF_FORKS.read_text(encoding="utf-8")

    def heard(channel: str, message: Message) -> None:
        if message["header"]["msg_type"] == "execute_reply":
            connection.forget(msg_id)

    msg_id = connection.send_silent({"found": expression(source, "listen(shell)")}, heard)


def _refusal(act: Act, confined: Confinement | None) -> str | None:
    """Why the system would not permit what would be asked about; None where it would."""
    if confined is None:
        return None
    if act.kind in _CHANGES_FILES and not confined.covers(act.path):
        return f"a scratch kernel changes files only in {' and '.join(confined.writable)}"
    is_closed = act.kind == "connects to another machine" or act.path.startswith("port ")
    if act.kind in _CONNECTS and is_closed and not confined.network:
        return "a scratch kernel connects to nothing"
    return None


_CONNECTS = ("connects to another machine", "connects to another program")
_CHANGES_FILES = (
    "overwrites files",
    "removes or moves files",
    "changes what runs later",
    "changes permissions",
    "changes a database",
)


def _why_not_permitted(run: CellRun, confined: Confinement | None) -> str | None:
    """What is to be known of a confined kernel where the system did not permit something."""
    if confined is None or run.error is None or run.error.ename != PermissionError.__name__:
        return None
    return f"The code ran in a scratch kernel. {confined.note} {ELSEWHERE}"


ELSEWHERE = "The kernel of a notebook has no such limits: open one and run the code there."


class _Watch:
    """The guard of one call, and what follows from what it finds."""

    def __init__(self, execution: Execution) -> None:
        self.passed: LimitPassed | None = None
        self._execution = execution
        self._guard: Guard | None = None
        self._loop = asyncio.get_running_loop()
        self._interrupting: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def guarding(self, pid: int | None, limits: Limits) -> AsyncIterator[None]:
        """Watch the process where there is one on this machine."""
        if pid is None:
            yield
            return
        import psutil

        from .guard import Guard

        try:
            self._guard = await asyncio.to_thread(Guard, pid, limits, self._report)
        except psutil.Error:
            yield  # it has just ended; the call will find that out
            return
        with self._guard:
            yield

    def _report(self, passed: LimitPassed) -> None:
        with contextlib.suppress(RuntimeError):  # the server has ended meanwhile
            self._loop.call_soon_threadsafe(self._note, passed)

    def _note(self, passed: LimitPassed) -> None:
        if self.passed is None or passed.died:
            self.passed = passed
        if not passed.died and self._interrupting is None:
            self._interrupting = asyncio.ensure_future(self._interrupt())

    async def _interrupt(self) -> None:
        if not await self._execution.interrupt() and self._guard is not None:
            await asyncio.to_thread(self._guard.tree.kill)

    async def settled(self) -> None:
        """Wait for the guard's last look, and for an interrupt that is under way."""
        if self._guard is not None:
            await asyncio.to_thread(self._guard.join)
            await asyncio.sleep(0)  # what it reported to this loop comes first
        if self._interrupting is not None:
            await asyncio.wait([self._interrupting])


async def _is_stuck(connection: KernelConnection) -> bool:
    """Whether an earlier request still runs although it was interrupted. One that was abandoned
    before it began has a moment to begin, and is then stopped."""
    stuck = connection.stuck
    if stuck is None:
        return False
    for _ in range(STUCK_LOOKS):
        await stuck.stopped()
        if not stuck.unfinished:
            return False
        await asyncio.sleep(STUCK_PAUSE)
    return True


def _kill(pid: int) -> None:
    import psutil

    from .process_tree import ProcessTree

    try:
        ProcessTree(pid).kill()
    except psutil.Error:
        return
