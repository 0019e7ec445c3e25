"""A notebook whose backend is chosen for each call, and again just before each write."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

from ...protocol.cells import CellEdit, CellRun, PageCell, PageNotebook, UpdateCell
from ..cancellation import uncancelled
from ..document import BackendName, DocumentError, Progress
from ..edits.checkpoints import Recorder
from ..edits.recorded_names import Names
from ..kernel.acts import GuardedRun, NotAllowed
from ..kernel.connection import KernelDied
from ..kernel.execution_log import ExecutionLog
from ..kernel.kernels import KernelLost, Kernels
from ..kernel.run_observer import RunObserver
from ..page.hub import NotOpen, PageGone
from ..page_kernels import PageKernels
from ..renames import TrackedPath
from ..same_cells import text_id
from .browser import Allow, BrowserDocument, PageDisconnected, changes_of
from .cell_ids import KnownAddresses
from .file import Applied, FileDocument
from .handover import HandOver
from .headless_run import OutputSaver

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
