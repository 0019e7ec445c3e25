"""A page disconnects during a run: the cells that it had sent are followed to their end without
it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from ...protocol.cells import DEAD_KERNEL, CellRun, CellRunError, PageCell
from ..document import Progress
from ..kernel.connection import KernelDied
from ..kernel.execution import SWALLOWED
from ..kernel.execution_log import ExecutionLog
from ..kernel.run_observer import Request, RunObserver
from .headless_run import OutputSaver

LOST_BEFORE = "The page that ran it was closed; some of its output may be missing."
LOST = "The page that ran it was closed; its output is unknown."
UNKNOWN = "The page was closed while this cell ran; its result is unknown."
NO_KERNEL = "The page was closed while this cell ran, and its kernel is gone."
ENDED_UNSEEN = "It ended in the page, which was closed; its result is unknown."
NOT_SAVED = "Its outputs were not saved: the notebook does not hold the cell as it ran."


class HandOver:
    """Follows the cells of a run that a page began, from the kernel's messages.

    ``cells`` are the page's cells by id, ``now`` those with the same source in the notebook without
    the page.
    """

    def __init__(
        self,
        watch: RunObserver,
        saver: OutputSaver,
        executions: ExecutionLog,
        cells: Mapping[str, PageCell],
        now: Mapping[str, PageCell],
        *,
        timeout: float,
        stop_on_error: bool,
        on_progress: Progress | None,
    ) -> None:
        self.watch = watch
        self.saver = saver
        self.executions = executions
        self.cells = cells
        self.now = now
        self.timeout = timeout
        self.stop_on_error = stop_on_error
        self.results: list[CellRun] = []
        self._on_progress = on_progress

    async def run(self, cell_ids: Sequence[str]) -> list[str]:
        """Fill ``results``; returns the cells that have not begun."""
        try:
            rest = await self._see_through(list(cell_ids))
        finally:
            await self.saver.close()
        if self.saver.problem is not None:
            for run in self.results:
                if run.status != "skipped":
                    _note(run, self.saver.problem)
        return rest

    async def keep(self) -> None:
        """Save what was published of the cells that had begun, after the run was stopped without
        the page."""
        try:
            for cell_id in self.watch.begun:
                cell, now = self.cells.get(cell_id), self.now.get(cell_id)
                request = self.watch.find(cell_id, cell.source) if cell is not None else None
                if request is not None and now is not None and not request.dropped:
                    self._save(request, now)
                    self._log_stopped(request, now)
        finally:
            await self.saver.close()

    async def _see_through(self, rest: list[str]) -> list[str]:
        while rest and not self._must_stop():
            cell = self.cells.get(rest[0])
            if cell is None:
                return rest
            if cell.type != "code" or not cell.source.strip():
                note = "Not run: the cell has nothing to run."
                self.results.append(CellRun(cell_id=cell.id, status="skipped", note=note))
            elif not await self._see_cell(cell):
                return rest
            rest = rest[1:]
        for cell_id in rest:
            note = "Not run: a cell before it failed, or its result is unknown."
            self.results.append(CellRun(cell_id=cell_id, status="skipped", note=note))
        return []

    def _must_stop(self) -> bool:
        last = self.results[-1] if self.results else None
        if last is None or last.status in ("ok", "skipped"):
            return False
        return self.stop_on_error or last.status == "timeout" or last.kernel_died

    async def _see_cell(self, cell: PageCell) -> bool:
        """Follow a cell to its end; false if the page had not sent it."""
        reported = cell.id in self.watch.begun
        if reported:
            request = self.watch.find(cell.id, cell.source)
        else:
            request = await self.watch.unreported(cell.source)
            if request is None:
                return False
            await self._report(cell.id, "started")
        now = self.now.get(cell.id)
        if request is None:
            run = await self._unseen(cell)
        else:
            run = await self._seen(cell, request, now)
        run.index = now.index if now else cell.index
        self.results.append(run)
        if cell.id not in self.watch.finished:
            await self._report(cell.id, "finished")
        return True

    async def _seen(self, cell: PageCell, request: Request, now: PageCell | None) -> CellRun:
        if now is not None:
            self._save(request, now)
        run = CellRun(cell_id=cell.id, status="ok")
        left = max(0.0, self.timeout - (time.monotonic() - request.began_at))
        try:
            assert self.watch.connection is not None
            if not await self.watch.connection.wait(request.ended, left):
                await self._time_out(run, request)
            elif request.error is not None and await self.watch.connection.is_ending():
                # Jupyter interrupts a kernel before it ends it.
                raise KernelDied(self.watch.connection.death_reason)
        except KernelDied as died:
            run.status = "error"
            run.error = CellRunError(ename=DEAD_KERNEL, evalue=str(died))
        except asyncio.CancelledError:
            await self.watch.interrupt(request)
            if now is not None:
                self._log_stopped(request, now)
            raise
        self._complete(run, request)
        if now is None:
            _note(run, NOT_SAVED)
        else:
            self._log(now.id, run)
        return run

    def _save(self, request: Request, now: PageCell) -> None:
        """Save its outputs, those that are there and those that come."""
        request.outputs.cell = (self.saver.document, now.id)
        request.on_output = lambda: self.saver.changed(request.outputs)
        request.on_output()
        self.executions.started(self.saver.path, now.id)

    def _log_stopped(self, request: Request, now: PageCell) -> None:
        run = CellRun(cell_id=now.id, status="aborted")
        self._complete(run, request)
        self._log(now.id, run)

    def _complete(self, run: CellRun, request: Request) -> None:
        if run.status == "ok" and request.error is not None:
            run.status = "error"
        run.error = run.error or request.error
        run.execution_count = request.execution_count
        run.duration_ms = request.duration_ms
        run.outputs = request.outputs.snapshot()
        if not request.is_whole:
            _note(run, LOST if request.dropped else LOST_BEFORE)

    async def _time_out(self, run: CellRun, request: Request) -> None:
        run.status = "timeout"
        run.note = f"It ran longer than {self.timeout:g} s and was interrupted."
        if not await self.watch.interrupt(request):
            _note(run, SWALLOWED)

    async def _unseen(self, cell: PageCell) -> CellRun:
        """A cell that the page reported but the kernel did not."""
        run = CellRun(cell_id=cell.id, status="aborted", note=UNKNOWN)
        connection = self.watch.connection
        if cell.id in self.watch.finished:
            now = self.now.get(cell.id)
            run.outputs = list((now and now.outputs) or [])
            run.execution_count = now.execution_count if now else None
            run.note = ENDED_UNSEEN
        elif connection is None:
            run.note = NO_KERNEL
        else:
            try:
                await asyncio.wait_for(connection.wait_until_free(), self.timeout)
            except asyncio.TimeoutError:
                run.status = "timeout"
            except KernelDied as died:
                run.status, run.note = "error", None
                run.error = CellRunError(ename=DEAD_KERNEL, evalue=str(died))
            else:
                late = self.watch.find(cell.id, cell.source)
                if late is not None and late.ended.is_set():
                    return await self._seen(cell, late, self.now.get(cell.id))
        return run

    def _log(self, cell_id: str, run: CellRun) -> None:
        self.executions.finished(
            self.saver.path,
            cell_id,
            success=run.status == "ok",
            order=run.execution_count,
            duration=run.duration_ms,
            error=run.error.ename if run.error is not None else None,
        )

    async def _report(self, cell_id: str, state: str) -> None:
        if self._on_progress is not None:
            await self._on_progress(cell_id, state)  # type: ignore[arg-type]


def _note(run: CellRun, note: str) -> None:
    run.note = f"{run.note} {note}" if run.note else note
