"""One request to a kernel from sending to the end, with the status that it really had."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Literal

from ...protocol.cells import DEAD_KERNEL, CellRun, CellRunError
from ..document import DocumentError
from ..renames import TrackedPath
from .acts import NotAllowed
from .connection import KernelConnection, KernelDied, Message
from .outputs import OUTPUT_MESSAGES, CellOutputs

INTERRUPT_SECONDS = 10.0
LOST_SECONDS = 0.5
# Reply and idle travel on different channels; the later one is on its way when the first is here.
TRAILING_SECONDS = 4.0
LOOK_SECONDS = 0.5
SWALLOWED = (
    "The code did not stop when it was interrupted: the kernel is still busy with it. "
    "Restarting the kernel ends it, and loses its variables."
)


class Execution:
    """Runs one snippet of code; ``outputs`` grow while it runs."""

    def __init__(
        self,
        connection: KernelConnection,
        code: str,
        *,
        store_history: bool,
        cell: tuple[TrackedPath, str] | None = None,
        on_started: Callable[[], None] = lambda: None,
        on_output: Callable[[], None] = lambda: None,
    ) -> None:
        self.connection = connection
        self.code = code
        self.store_history = store_history
        self.outputs = CellOutputs(connection.displays, cell)
        self.error: CellRunError | None = None
        self.duration_ms: float | None = None
        self._on_started = on_started
        self._on_output = on_output
        self._started = asyncio.Event()
        self._idle = asyncio.Event()
        self._replied = asyncio.Event()
        self._reply_status: str | None = None
        self._started_at = 0.0
        self._condemned = False
        self._stopping: asyncio.Future[bool] | None = None
        self._msg_id: str | None = None
        self._cell = {} if cell is None else {"cellId": cell[1]}  # as JupyterLab names it

    async def run(self, timeout: float | None) -> CellRun:
        """Wait for our turn, run, and return the result; ``timeout`` in seconds from its start.

        On cancellation the kernel is interrupted if it is our request that runs there.
        """
        async with self.connection.guard(self.connection) as self._guarded:
            try:
                return await self._run(timeout)
            except KernelDied as died:
                return self._result("error", CellRunError(ename=DEAD_KERNEL, evalue=str(died)))
            except asyncio.CancelledError:
                await self._cancelled()
                raise
            except NotAllowed as refusal:
                run = self._result("aborted", None)
                run.note = refusal.message
                return run

    async def _run(self, timeout: float | None) -> CellRun:
        await self._refuse_stuck_kernel()
        await self._guarded.allowed([(self._cell.get("cellId"), self.code)])
        while True:
            await self.connection.wait_until_free()
            self._send()
            await self.connection.wait(self._started, None)
            if not self._dropped():
                break
            # A failing cell of the user's took ours out of the kernel's queue: it never began.
            self._reset()
        while not await self.connection.wait(self._idle, self._left(timeout)):
            if self._replied.is_set():
                break
            if not self._guarded.waits and self._left(timeout) == 0:
                return await self._timed_out(timeout or 0)
        await self.connection.wait(self._replied, TRAILING_SECONDS)
        await self.connection.wait(self._idle, TRAILING_SECONDS)
        if self.error is not None and await self.connection.is_ending():
            # Jupyter interrupts a kernel before it ends it, and the reply to that may come through.
            raise KernelDied(self.connection.death_reason)
        return self._ended()

    def _left(self, timeout: float | None) -> float | None:
        """The seconds that the code still has; while it waits for the user its time stops."""
        if timeout is None:
            return None
        if self._guarded.waits:
            return LOOK_SECONDS
        used = time.monotonic() - self._started_at - self._guarded.waited
        return max(timeout - used, 0)

    async def _refuse_stuck_kernel(self) -> None:
        stuck = self.connection.stuck
        if stuck is not None:
            await stuck.stopped()
        if stuck is not None and stuck.running:
            raise DocumentError("kernel_error", SWALLOWED, "selectKernel with kernelName does it.")
        if stuck is not None and not stuck.unfinished:
            self.connection.stuck = None

    def _send(self) -> None:
        self._msg_id = self.connection.send_execute(
            self.code,
            self._receive,
            store_history=self.store_history,
            metadata=self._guarded.metadata | self._cell,
        )

    def _dropped(self) -> bool:
        return self._reply_status == "aborted" and self._started_at == 0.0

    def _reset(self) -> None:
        self.connection.forget(self._msg_id or "")
        self._started.clear()
        self._idle.clear()
        self._replied.clear()
        self._reply_status = None

    def _receive(self, channel: str, message: Message) -> None:
        kind = message["header"]["msg_type"]
        content: dict[str, Any] = message["content"]
        if kind == "execute_reply":
            self._reply(content)
        elif kind == "execute_input":
            self.outputs.execution_count = content.get("execution_count")
            self._start()
        elif kind == "status" and content.get("execution_state") == "idle":
            self._end()
        elif kind in OUTPUT_MESSAGES:
            self._start()
            if kind == "error":
                self._failed(content)
            self.outputs.add(kind, content)
            self._on_output()

    def _start(self) -> None:
        if self._started_at:
            return
        self._started_at = time.monotonic()
        self._started.set()
        if self._condemned:
            # Given up while it waited; it must not run now that its turn has come.
            self._stopping = asyncio.ensure_future(self._interrupt_and_wait())
        else:
            self._on_started()

    def _end(self) -> None:
        if self._started_at and self.duration_ms is None:
            self.duration_ms = (time.monotonic() - self._started_at) * 1000
        self._idle.set()

    def _reply(self, content: dict[str, Any]) -> None:
        self._reply_status = str(content.get("status", "ok"))
        if self._reply_status == "error":
            self._failed(content)
        if self._reply_status != "aborted":
            self._start()
        if self._reply_status != "aborted" and content.get("execution_count") is not None:
            self.outputs.execution_count = content["execution_count"]
        self._replied.set()
        self._started.set()

    def _failed(self, content: dict[str, Any]) -> None:
        if self.error is None:
            self.error = CellRunError(
                ename=str(content.get("ename", "Error")),
                evalue=str(content.get("evalue", "")),
                traceback=[str(line) for line in content.get("traceback", [])],
            )

    @property
    def running(self) -> bool:
        """Whether the kernel has begun our request and not ended it."""
        return self._started_at > 0 and self.unfinished

    @property
    def unfinished(self) -> bool:
        """Whether the kernel works on our request, or will since it lies in its queue."""
        ended = self._idle.is_set() or self._replied.is_set()
        return self._msg_id is not None and not ended

    async def stopped(self) -> None:
        """Wait for an attempt to stop our request that is under way."""
        if self._stopping is not None:
            await asyncio.wait([self._stopping])

    async def interrupt(self) -> bool:
        """Interrupt our request if it runs, and await its end; whether it ended."""
        return await self._interrupt_and_wait() if self.running else True

    async def _interrupt_and_wait(self) -> bool:
        just_begun = time.monotonic() - self._started_at < LOST_SECONDS
        try:
            await self.connection.interrupt()
            if just_begun and not await self.connection.wait(self._idle, LOST_SECONDS):
                # A kernel may lose an interrupt between announcing the code and running it. Later
                # a second one could break what the code does about the first.
                await self.connection.interrupt()
            return await self.connection.wait(self._idle, INTERRUPT_SECONDS)
        except KernelDied:
            return True

    async def _timed_out(self, timeout: float) -> CellRun:
        stopped = await self.interrupt()
        note = f"It ran longer than {timeout:g} s and was interrupted."
        run = self._result("timeout", self.error if stopped else None)
        run.note = note if stopped else f"{note} {SWALLOWED}"
        if not stopped:
            self.connection.stuck = self
        return run

    async def _cancelled(self) -> None:
        if self._msg_id is None:
            return
        if not self._started_at and not self._replied.is_set():
            # It cannot be called back; the connection stays until it has begun and been stopped.
            self._condemned = True
            self.connection.stuck = self
            return
        if not await self.interrupt():
            self.connection.stuck = self

    def _ended(self) -> CellRun:
        status: Literal["ok", "error", "aborted"] = "ok"
        if self.error is not None or self._reply_status == "error":
            status = "error"
        elif self._reply_status == "aborted":
            status = "aborted"
        run = self._result(status, self.error)
        if not self._idle.is_set():
            run.note = "The kernel did not report the run's end; its outputs may be incomplete."
        return run

    def _result(
        self, status: Literal["ok", "error", "timeout", "aborted"], error: CellRunError | None
    ) -> CellRun:
        if self._started_at and self.duration_ms is None:
            self.duration_ms = (time.monotonic() - self._started_at) * 1000
        return CellRun(
            cell_id="",
            status=status,
            execution_count=self.outputs.execution_count,
            duration_ms=self.duration_ms,
            outputs=self.outputs.snapshot(),
            error=error,
        )

    def forget(self) -> None:
        """No longer take messages of this request, unless it may still have to be stopped."""
        if self._msg_id is not None and not self.unfinished:
            self.connection.forget(self._msg_id)
