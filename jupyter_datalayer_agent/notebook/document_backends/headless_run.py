"""Runs without a page: cells in order, their outputs saved as they arrive."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ...protocol.cells import CellRun, SetOutputs
from ..document import DocumentError, Progress
from ..edits.batch import Cell, EditedCells, execution_count_of, source_of, with_outputs
from ..kernel.connection import KernelConnection
from ..kernel.execution import Execution
from ..kernel.execution_log import ExecutionLog
from ..kernel.kernels import Kernels
from ..kernel.outputs import CellOutputs
from ..locks import uncancelled
from ..renames import TrackedPath
from .contents import ChangedOnDisk, NotebookFiles

log = logging.getLogger(__name__)

SAVE_EVERY = 1.0
# Saving may take at most this share of the time, however large the notebook is.
SAVE_SHARE = 0.2

# Whether the outputs were written; false if the page disconnected or closed the notebook.
WriteOutputs = Callable[[list[SetOutputs]], Awaitable[bool]]
_TRIES = 5


class OutputSaver:
    """Writes the outputs of a run's cells, at most once a second and once at the end.

    ``divert`` returns another way to write if a page has opened the notebook meanwhile; the
    ``first`` write is after this many seconds.
    """

    def __init__(
        self,
        document: TrackedPath,
        files: NotebookFiles,
        divert: Callable[[], WriteOutputs | None],
        metadata: dict[str, Any],
        *,
        first: float = SAVE_EVERY,
    ) -> None:
        self.document = document
        self.files = files
        self.problem: str | None = None
        self._left_out: str | None = None
        self._divert = divert
        self._metadata = metadata
        self._dirty: dict[str, CellOutputs] = {}
        self._ours: set[str] = set()
        self._wake = asyncio.Event()
        self._lock = asyncio.Lock()
        self._next = time.monotonic() + first
        self._task = asyncio.ensure_future(self._loop())

    @property
    def path(self) -> str:
        """Where the notebook is now."""
        return self.document.path

    def changed(self, outputs: CellOutputs, *, ours: bool = True) -> None:
        """There is something to write; a cell that is not ``ours`` is from an earlier run."""
        if outputs.cell is None or outputs.cell[0].path != self.path:
            return
        cell_id = outputs.cell[1]
        if ours:
            self._ours.add(cell_id)
        elif cell_id in self._ours:
            return  # it was run again
        self._dirty[cell_id] = outputs
        self._wake.set()

    async def close(self) -> None:
        """Write everything that is pending."""
        self._task.cancel()
        await asyncio.wait([self._task])
        await self.flush()

    async def _loop(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            await asyncio.sleep(max(0.0, self._next - time.monotonic()))
            await self.flush()

    async def flush(self) -> None:
        """Write what is pending; a failure is kept in ``problem`` for the run's report."""
        await uncancelled(self._flush())

    async def _flush(self) -> None:
        async with self._lock:
            dirty, self._dirty = self._dirty, {}
            if not dirty:
                return
            began = time.monotonic()
            outputs = [
                SetOutputs(
                    cell_id=cell_id,
                    outputs=cell.snapshot(),
                    execution_count=cell.execution_count,
                )
                for cell_id, cell in dirty.items()
            ]
            try:
                await self._send(outputs)
            except DocumentError as error:
                log.warning("outputs of %s were not saved: %s", self.path, error)
                self.problem = f"Its outputs could not be saved: {error}"
            else:
                self.problem = self._left_out
            took = time.monotonic() - began
            self._next = time.monotonic() + max(SAVE_EVERY, took / SAVE_SHARE)

    async def _send(self, outputs: list[SetOutputs]) -> None:
        for _ in range(_TRIES):
            to_page = self._divert()
            if to_page is None:
                await self._write(outputs)
                return
            if await to_page([each for each in outputs if each.cell_id in self._ours]):
                return
        raise DocumentError("internal", f"{self.path} is being opened and closed repeatedly")

    async def _write(self, outputs: list[SetOutputs]) -> None:
        for _ in range(_TRIES):
            loaded = await self.files.load(self.path)
            new = {each.cell_id: each for each in outputs}
            cells: list[Cell] = []
            touched = []
            for cell in loaded.cells:
                result = new.get(cell["id"])
                if result is not None and self._belongs(result, cell):
                    cell = with_outputs(cell, result.outputs, result.execution_count)
                    touched.append(cell["id"])
                cells.append(cell)
            if not touched:
                if self._ours.isdisjoint(new):
                    return
                raise DocumentError("not_found", "the cells were deleted while they ran")
            metadata = {**self._metadata, **loaded.metadata}
            try:
                saved = await self.files.save(loaded, EditedCells(cells, [], touched), metadata)
            except ChangedOnDisk:
                continue
            left_out = "Its outputs are not in {}: its format or a save hook leaves them out."
            self._left_out = left_out.format(self.path) if saved.without_outputs else None
            return
        raise DocumentError("internal", f"{self.path} changes faster than it can be saved")

    def _belongs(self, result: SetOutputs, cell: Cell) -> bool:
        """Whether the cell shows this run; an earlier one may have been replaced since."""
        if cell["cell_type"] != "code":
            return False
        return cell["id"] in self._ours or execution_count_of(cell) == result.execution_count


class HeadlessRun:
    """One call of ``run``: these cells of the file, through the notebook's own kernel."""

    def __init__(
        self,
        document: TrackedPath,
        files: NotebookFiles,
        kernels: Kernels,
        executions: ExecutionLog,
        *,
        divert: Callable[[], WriteOutputs | None],
        stop_on_error: bool,
        timeout: float,
        on_progress: Progress | None,
    ) -> None:
        self.document = document
        self.files = files
        self.kernels = kernels
        self.executions = executions
        self.stop_on_error = stop_on_error
        self.timeout = timeout
        self._divert = divert
        self._on_progress = on_progress
        self._executed: list[Execution] = []

    @property
    def path(self) -> str:
        """Where the notebook is now."""
        return self.document.path

    async def run(self, cell_ids: Sequence[str]) -> list[CellRun]:
        """One result a cell. Ends early, with fewer, once a page has opened the notebook."""
        loaded = await self.files.load(self.path)
        places = {cell["id"]: index for index, cell in enumerate(loaded.cells)}
        for cell_id in cell_ids:
            if cell_id not in places:
                raise DocumentError(
                    "not_found", f"There is no cell with id {cell_id}.", "Read the notebook again."
                )
        plan = [(loaded.cells[places[each]], places[each]) for each in cell_ids]
        if not any(_reason_to_skip(cell) is None for cell, _ in plan):
            return [_skipped(cell, index, _reason_to_skip(cell)) for cell, index in plan]
        # Outputs that could not be saved would be lost.
        await self.files.check_writable(self.path)
        kernel_id = await self.kernels.kernel_for(self.path, loaded.metadata)
        self.executions.enter(self.path, kernel_id)
        waiting = [cell["id"] for cell, _ in plan if _reason_to_skip(cell) is None]
        for cell_id in waiting:
            self.executions.pending(self.path, cell_id)

        async def run(connection: KernelConnection) -> list[CellRun]:
            saver = OutputSaver(
                self.document, self.files, self._divert, await self._metadata(connection)
            )
            try:
                return await self._run_all(connection, saver, plan)
            finally:
                await saver.close()
                for execution in self._executed:
                    execution.forget()

        try:
            return await self.kernels.use(kernel_id, run)
        finally:
            for cell_id in waiting:
                self.executions.dropped(self.path, cell_id)

    async def _metadata(self, connection: KernelConnection) -> dict[str, Any]:
        """The kernel metadata that JupyterLab adds to a notebook without any."""
        try:
            return {"kernelspec": await self.kernels.describe(connection.name)}
        except DocumentError:
            return {}  # uninstalled since its start

    async def _run_all(
        self, connection: KernelConnection, saver: OutputSaver, plan: list[tuple[Cell, int]]
    ) -> list[CellRun]:
        runs: list[CellRun] = []
        stopped: str | None = None
        for cell, index in plan:
            reason = stopped or _reason_to_skip(cell)
            if reason is not None:
                runs.append(_skipped(cell, index, reason))
                continue
            if runs and self._divert() is not None:
                break  # a page has the notebook now; it runs the rest
            run = await self._run_cell(connection, saver, cell)
            run.cell_id, run.index = cell["id"], index
            runs.append(run)
            stopped = self._reason_to_stop(run)
        await saver.flush()
        if saver.problem is not None:
            for run in runs:
                if run.status != "skipped":
                    run.note = " ".join(filter(None, [run.note, saver.problem]))
        return runs

    def _reason_to_stop(self, run: CellRun) -> str | None:
        if run.kernel_died:
            return "Not run: the kernel died."
        if run.status == "timeout":
            return "Not run: a cell before it timed out."
        if run.status != "ok" and self.stop_on_error:
            return "Not run: a cell before it failed."
        return None

    async def _run_cell(
        self, connection: KernelConnection, saver: OutputSaver, cell: Cell
    ) -> CellRun:
        cell_id = cell["id"]
        started = asyncio.Event()

        def on_started() -> None:
            self.executions.started(self.path, cell_id)
            saver.changed(execution.outputs)
            started.set()

        def on_output() -> None:
            saver.changed(execution.outputs)
            while execution.outputs.updated:
                saver.changed(execution.outputs.updated.pop(), ours=False)

        execution = Execution(
            connection,
            source_of(cell),
            store_history=True,
            cell=(self.document, cell_id),
            on_started=on_started,
            on_output=on_output,
        )
        self._executed.append(execution)
        reporting = asyncio.ensure_future(self._report_start(cell_id, started))
        run: CellRun | None = None
        try:
            run = await execution.run(self.timeout)
            return run
        finally:
            if started.is_set():
                saver.changed(execution.outputs)
                self._log(cell_id, execution, run)
                await reporting
                if self._on_progress is not None:
                    await self._on_progress(cell_id, "finished")
            else:
                reporting.cancel()

    async def _report_start(self, cell_id: str, started: asyncio.Event) -> None:
        await started.wait()
        if self._on_progress is not None:
            await self._on_progress(cell_id, "started")

    def _log(self, cell_id: str, execution: Execution, run: CellRun | None) -> None:
        error = run.error if run is not None else execution.error
        self.executions.finished(
            self.path,
            cell_id,
            success=run is not None and run.status == "ok",
            order=execution.outputs.execution_count,
            duration=execution.duration_ms,
            error=error.ename if error is not None else None,
        )


def _reason_to_skip(cell: Cell) -> str | None:
    if cell["cell_type"] != "code":
        return f"A {cell['cell_type']} cell has nothing to run."
    if not source_of(cell).strip():
        return "The cell is empty."
    return None


def _skipped(cell: Cell, index: int, reason: str | None) -> CellRun:
    return CellRun(cell_id=cell["id"], index=index, status="skipped", note=reason)
