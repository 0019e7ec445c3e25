"""When a page goes away in the middle of a run: what became of the cell that it had sent."""

from __future__ import annotations

import asyncio
from typing import Any

from ..protocol.page import CellRun, CellRunError
from .connection import KernelConnection, KernelDied, Message
from .document import DocumentError
from .execution import INTERRUPT_SECONDS, SWALLOWED
from .kernels import Kernels
from .outputs import OUTPUT_MESSAGES, CellOutputs
from .pages import Page

LOST_BEFORE = (
    "The page that ran this cell went away; what the cell printed before that may be missing."
)
UNKNOWN = "The page went away while this cell ran. It has ended; how, is not known."


class Observed:
    """Somebody else's request, as far as it was published while we listened."""

    def __init__(self) -> None:
        self.outputs = CellOutputs()
        self.code: str | None = None
        self.execution_count: int | None = None
        self.error: CellRunError | None = None
        self.idle = asyncio.Event()

    def take(self, kind: str, content: dict[str, Any]) -> None:
        """One published message."""
        if kind == "execute_input":
            self.code = content.get("code")
            self.execution_count = content.get("execution_count")
        elif kind == "status" and content.get("execution_state") == "idle":
            self.idle.set()
        elif kind in OUTPUT_MESSAGES:
            self.outputs.add(kind, content)
            if kind == "error":
                self.error = CellRunError(
                    ename=str(content.get("ename", "Error")),
                    evalue=str(content.get("evalue", "")),
                    traceback=[str(line) for line in content.get("traceback", [])],
                )


class KernelWatch:
    """Listens to the notebook's kernel from the moment that the page's connection is lost.

    Nothing is connected while the page is there.
    """

    def __init__(self, kernels: Kernels, path: str, page: Page) -> None:
        self.kernels = kernels
        self.path = path
        self.page = page
        self.seen: dict[str, Observed] = {}
        self._ready = asyncio.Event()
        self._connection: KernelConnection | None = None
        self._task = asyncio.ensure_future(self._listen())

    async def close(self) -> None:
        """Stop listening."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _listen(self) -> None:
        await self.page.tab.went.wait()
        try:
            session = await self.kernels.session_of(self.path)
            if session is None:
                return
            async with self.kernels.connected(session["kernel"]["id"]) as connection:
                self._connection = connection
                stop = connection.watch_all(self._message)
                self._ready.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    stop()
        except DocumentError:
            return  # the kernel is gone; the run's end will say so
        finally:
            self._ready.set()

    def _message(self, message: Message) -> None:
        parent = message.get("parent_header") or {}
        if parent.get("msg_type") == "execute_request":
            observed = self.seen.setdefault(parent["msg_id"], Observed())
            observed.take(message["header"]["msg_type"], message["content"])

    async def end_of(self, cell_id: str, source: str | None, timeout: float) -> CellRun:
        """Wait for the end of the cell that the page had sent; ``timeout`` in seconds from now.

        What cannot be known is said: outputs from before we listened are lost.
        """
        await self._ready.wait()
        run = CellRun(cell_id=cell_id, status="aborted", note=UNKNOWN)
        if self._connection is None:
            run.note = "The page went away while this cell ran, and its kernel is gone."
            return run
        try:
            await asyncio.wait_for(self._connection.wait_until_free(), timeout)
        except asyncio.TimeoutError:
            observed = self._find(source)
            if observed is None or not observed.idle.is_set():
                return await self._time_out(run, observed, timeout)
        except KernelDied as died:
            run.status, run.note = "error", None
            run.error = CellRunError(ename="DeadKernelError", evalue=str(died))
            return run
        observed = self._find(source)
        return run if observed is None or not observed.idle.is_set() else _ended(run, observed)

    def _find(self, source: str | None) -> Observed | None:
        """Our cell among what was seen: what ran when we came, or what has its source."""
        for observed in self.seen.values():
            if observed.code is None or observed.code == source:
                return observed
        return None

    async def _time_out(self, run: CellRun, observed: Observed | None, timeout: float) -> CellRun:
        assert self._connection is not None
        run.status = "timeout"
        run.note = f"The page went away, and the cell ran {timeout:g} s longer; interrupted."
        await self._connection.interrupt()
        try:
            await asyncio.wait_for(self._connection.wait_until_free(), INTERRUPT_SECONDS)
        except asyncio.TimeoutError:
            run.note = f"{run.note} {SWALLOWED}"
        except KernelDied:
            return run
        if observed is not None:
            run.outputs = observed.outputs.snapshot()
        return run


def _ended(run: CellRun, observed: Observed) -> CellRun:
    run.status = "ok" if observed.error is None else "error"
    run.error = observed.error
    run.execution_count = observed.execution_count
    run.outputs = observed.outputs.snapshot()
    run.note = LOST_BEFORE if observed.code is None else None
    return run
