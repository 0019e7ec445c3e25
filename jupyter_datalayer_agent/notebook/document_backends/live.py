"""A notebook whose backend is chosen for each call, and again just before each write."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

from ...protocol.cells import (
    DEAD_KERNEL,
    CellEdit,
    CellRun,
    CellRunError,
    PageCell,
    PageNotebook,
    UpdateCell,
)
from ..document import BackendName, DocumentError, Progress
from ..edits.checkpoints import Names, Recorder
from ..kernel.acts import GuardedRun, NotAllowed
from ..kernel.connection import KernelDied
from ..kernel.execution import SWALLOWED
from ..kernel.execution_log import ExecutionLog
from ..kernel.kernels import KernelLost, Kernels
from ..kernel.run_observer import Request, RunObserver
from ..locks import uncancelled
from ..page import NotOpen, PageGone
from ..page_kernels import PageKernels
from ..renames import TrackedPath
from ..same_cells import text_id
from .browser import Allow, BrowserDocument, PageDisconnected, changes_of
from .cell_ids import KnownAddresses
from .file import Applied, FileDocument
from .headless_run import OutputSaver

# A page disconnects during a run: the cells that it had sent are followed to their end without
# it.


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


log = logging.getLogger(__name__)

Backend = BrowserDocument | FileDocument
_TRIES = 5


class LiveDocument:
    """What ``NotebookService.open`` returns. Edits and runs hold the notebook's lock. ``check``
    raises ``DocumentError`` where the notebook has no file: a page that shows it would save, and so
    make, one."""

    def __init__(
        self,
        document: TrackedPath,
        choose: Callable[[], Backend],
        check: Callable[[], Awaitable[None]],
        lock: Callable[[], AbstractAsyncContextManager[None]],
        saver: Callable[[], OutputSaver],
        kernels: Kernels,
        page_kernels: PageKernels,
        executions: ExecutionLog,
        formatted: Callable[[Sequence[PageCell]], Awaitable[dict[str, str]]],
        addresses: KnownAddresses,
        recorder: Recorder | None = None,
    ) -> None:
        self._document = document
        self._addresses = addresses
        self.choose = choose
        self._check = check
        self.saver = saver
        self.kernels = kernels
        self.page_kernels = page_kernels
        self.executions = executions
        self._formatted = formatted
        self._lock = lock
        self._recorder = recorder

    @property
    def path(self) -> str:
        """Where the notebook is now."""
        return self._document.path

    @property
    def backend(self) -> BackendName:
        """The backend that a call would use now."""
        return self.choose().backend

    async def read(
        self,
        cell_ids: Sequence[str] | None = None,
        *,
        outputs: bool = False,
        brief: bool = False,
        whole: bool = False,
    ) -> PageNotebook:
        """All cells in order, or the named ones."""
        if cell_ids is not None:
            cell_ids = await self._present(cell_ids)
        for _ in range(_TRIES):
            document = self.choose()
            try:
                notebook = await document.read(cell_ids, outputs=outputs, brief=brief, whole=whole)
            except (NotOpen, PageGone):
                continue  # by now it is open elsewhere, or nowhere
            if document.backend == "browser":
                notebook = self.executions.reported(await self.page_kernels.existing(notebook))
            if notebook.ids_kept:
                return notebook
            if document.backend == "browser" and cell_ids is None:
                texts = [(each.id, text_id(each.type, each.source)) for each in notebook.cells]
                self._addresses.seen(self.path, texts)
            return notebook.with_former(self._addresses.now(self.path))
        raise _restless(self.path)

    async def _present(self, cell_ids: Sequence[str]) -> list[str]:
        """The ids that the cells have in the backend that is used now: a notebook whose file keeps
        no ids has others in a page."""
        now = await self._now()
        return [now.get(each, each) for each in cell_ids]

    async def _now(self) -> dict[str, str]:
        if not self._addresses.knows(self.path):
            return {}
        await self.read()
        return self._addresses.now(self.path)

    async def edit(self, edits: Sequence[CellEdit]) -> Applied:
        """Apply the batch whole or not at all, save, and read the touched cells back."""
        async with self._lock():
            await self._check()
            edits = Names(await self._now()).edits(edits)
            if self._recorder is None:
                return await self._edit(edits)
            async with self._recorder.edit(self, edits) as correct:
                applied = await self._edit(edits)
                if applied.altered:
                    await correct(applied.altered)
                return applied

    async def _edit(self, edits: Sequence[CellEdit]) -> Applied:
        unanswered = False
        for _ in range(_TRIES):
            document = self.choose()
            try:
                if unanswered and (done := await _already(document, edits)) is not None:
                    return done
                applied = await document.edit(edits)
            except NotOpen:
                continue
            except PageGone:
                unanswered = True
            else:
                if isinstance(document, BrowserDocument):
                    applied = await self._as_formatted(document, applied)
                # What a page names is known when it is closed.
                with contextlib.suppress(DocumentError):
                    await self._now()
                return applied
        raise _restless(self.path)

    async def _as_formatted(self, document: BrowserDocument, applied: Applied) -> Applied:
        """Put into the page what a save hook made of the cells as the page saved them."""
        cells = {cell.id: cell for cell in applied.cells}
        try:
            sources = await self._formatted(applied.cells)
            if not sources:
                return applied
            edits = [
                UpdateCell(cell_id=each, base_hash=cells[each].hash, source=source)
                for each, source in sources.items()
            ]
            after = await document.edit(edits)
        except (DocumentError, NotOpen, PageGone) as error:
            # The user types in it already, or closed it: the page keeps what it has.
            log.info("%s is formatted in its file only: %s", self.path, error)
            return applied
        cells |= {cell.id: cell for cell in after.cells}
        changed = frozenset(each for each in sources if each in cells)
        changes = [
            change.model_copy(update={"after": cells[change.cell_id].source})
            if change.cell_id in changed
            else change
            for change in applied.changes
        ]
        return Applied(changes, list(cells.values()), changed, changed)

    async def run(
        self,
        cell_ids: Sequence[str],
        *,
        stop_on_error: bool = True,
        timeout: float,
        on_progress: Progress | None = None,
    ) -> list[CellRun]:
        """Run the cells in this order; one result a cell, with its real status."""
        async with self._lock():
            await self._check()
            cell_ids = await self._present(cell_ids)
            run = _LiveRun(self, stop_on_error, timeout, on_progress)
            if self._recorder is None:
                return await run.run(list(cell_ids))
            async with self._recorder.run(self, cell_ids):
                return await run.run(list(cell_ids))


class _LiveRun:
    """One call of ``run``, whether or not the page stays connected."""

    def __init__(
        self,
        document: LiveDocument,
        stop_on_error: bool,
        timeout: float,
        on_progress: Progress | None,
    ) -> None:
        self.live = document
        self.stop_on_error = stop_on_error
        self.timeout = timeout
        self.on_progress = on_progress
        self.results: list[CellRun] = []

    async def run(self, cell_ids: list[str]) -> list[CellRun]:
        remaining = cell_ids
        for _ in range(_TRIES):
            if not remaining:
                return self.results
            document = self.live.choose()
            if isinstance(document, BrowserDocument):
                remaining = await self._in_page(document, remaining)
                continue
            runs = await document.run(
                remaining,
                stop_on_error=self.stop_on_error,
                timeout=self.timeout,
                on_progress=self.on_progress,
            )
            self.results += runs
            remaining = remaining[len(runs) :]
        if not remaining:
            return self.results
        raise _restless(self.live.path)

    async def _in_page(self, document: BrowserDocument, cell_ids: list[str]) -> list[str]:
        """Run in the page; returns the cells that remain if it disconnected."""
        watch = RunObserver(self.live.kernels, self.live.path)
        try:
            notebook = await document.read(cell_ids)
            cells = {cell.id: cell for cell in notebook.cells}
            kernel_id = await self._have_kernel(notebook)
            await watch.ready(cell.source for cell in cells.values())
            async with self.live.kernels.guarded(kernel_id) as guarded:
                allow = self._allow(guarded, [cells[each] for each in cell_ids])
                try:
                    runs = await document.run(
                        cell_ids,
                        stop_on_error=self.stop_on_error,
                        timeout=self.timeout,
                        on_progress=self.on_progress,
                        watch=watch,
                        guarded=guarded,
                        allow=allow,
                    )
                except PageDisconnected:
                    return await self._take_over(cell_ids, cells, watch)
            self.results += runs
            return cell_ids[len(runs) :]
        except NotAllowed as refusal:
            note = refusal.message
            self.results += [CellRun(cell_id=e, status="aborted", note=note) for e in cell_ids]
            return []
        except (NotOpen, PageGone, KernelLost):
            return cell_ids  # before anything was sent to run
        except asyncio.CancelledError:
            # A page that only lost its connection shows the outputs itself when it is back.
            if watch.was_stopped and not document.page.is_away:
                await uncancelled(self._keep_outputs(cells, watch))
            raise
        finally:
            await watch.close()

    def _allow(self, guarded: GuardedRun, cells: Sequence[PageCell]) -> Allow | None:
        """Returns the hashes of the cells once they may run, so that the page runs no other text,
        and raises ``DocumentError``. None where nobody decides."""
        code = [each for each in cells if each.type == "code" and each.source.strip()]
        if not code or not guarded.is_decided:
            return None

        async def allow() -> dict[str, str]:
            try:
                await guarded.allowed([(each.id, each.source) for each in code])
            except KernelDied as died:
                kind = KernelLost if died.by_itself else DocumentError
                raise kind("kernel_error", str(died)) from died
            return {each.id: each.hash for each in code}

        return allow

    async def _have_kernel(self, notebook: PageNotebook) -> str | None:
        """See to it that the page can run the cells: in the notebook's kernel, alive; its id.
        None where there is nothing to run."""
        if not any(cell.type == "code" and cell.source.strip() for cell in notebook.cells):
            return None
        name = notebook.kernel_name
        metadata = {
            "kernelspec": {"name": name} if name else {},
            "language_info": {"name": notebook.kernel_language} if notebook.kernel_language else {},
        }
        kernel_id = await self.live.page_kernels.kernel_for(self.live.path, metadata)
        self.live.executions.enter(self.live.path, kernel_id)
        self.live.kernels.processes.about_to_run(kernel_id)
        return kernel_id

    async def _take_over(
        self, cell_ids: list[str], cells: dict[str, PageCell], watch: RunObserver
    ) -> list[str]:
        """Follow what the page has begun to its end; returns the remaining cells."""
        try:
            same = _same_cells(cells, (await self.live.read(outputs=True)).cells)
        except asyncio.CancelledError:
            await watch.stop()
            await uncancelled(self._keep_outputs(cells, watch))
            raise
        taken = self._hand_over(cells, same, watch)
        try:
            rest = await taken.run(cell_ids)
        finally:
            self.results += taken.results
        if any(each not in same for each in rest):
            # Unsaved text is lost with the page: the file has another source.
            note = "Not run: the page was closed with unsaved changes."
            self.results += [CellRun(cell_id=each, status="skipped", note=note) for each in rest]
            return []
        return [same[each].id for each in rest]

    async def _keep_outputs(self, cells: dict[str, PageCell], watch: RunObserver) -> None:
        """Save the outputs of a run that was stopped when its page was closed."""
        try:
            same = _same_cells(cells, (await self.live.read(outputs=True)).cells)
        except DocumentError as error:
            log.warning("outputs of %s were not saved: %s", self.live.path, error)
            return
        await self._hand_over(cells, same, watch).keep()

    def _hand_over(
        self, cells: dict[str, PageCell], same: dict[str, PageCell], watch: RunObserver
    ) -> HandOver:
        return HandOver(
            watch,
            self.live.saver(),
            self.live.executions,
            cells,
            same,
            timeout=self.timeout,
            stop_on_error=self.stop_on_error,
            on_progress=self.on_progress,
        )


def _same_cells(before: dict[str, PageCell], now: Sequence[PageCell]) -> dict[str, PageCell]:
    """The cells of another backend with the same source: by id, or by place if ids differ."""
    by_id = {cell.id: cell for cell in now}
    same = {}
    for cell in before.values():
        other = by_id.get(cell.id) or (now[cell.index] if cell.index < len(now) else None)
        if other is not None and other.hash == cell.hash:
            same[cell.id] = other
    return same


async def _already(document: Backend, edits: Sequence[CellEdit]) -> Applied | None:
    """The result of a batch that a page applied before it disconnected, None if it did not."""
    cells = {cell.id: cell for cell in (await document.read()).cells}
    for edit in edits:
        cell = cells.get(edit.cell_id)
        if edit.op == "delete":
            done = cell is None
        elif edit.op == "move":
            return None  # positions cannot be checked; moving again does no harm
        elif edit.op == "outputs":
            return None
        else:
            done = cell is not None and edit.source in (None, cell.source)
        if not done:
            return None
    touched = [cells[edit.cell_id] for edit in edits if edit.cell_id in cells]
    return Applied(changes_of(document.path, edits, {}, cells), touched)


def _restless(path: str) -> DocumentError:
    return DocumentError(
        "internal",
        f"{path} is being opened and closed repeatedly; nothing was done.",
        "Try again, with the notebook open in one page.",
    )
