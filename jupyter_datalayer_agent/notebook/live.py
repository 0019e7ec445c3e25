"""A notebook whose backend is chosen anew for each call, and again just before each write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

from ..protocol.page import CellEdit, CellRun, PageCell, PageNotebook, SetOutputs
from .browser import BrowserDocument, PageLeft, changes_of
from .checkpoints import Recorder
from .document import BackendName, DocumentError, Progress
from .file import Applied, FileDocument
from .handover import KernelWatch
from .kernels import Kernels
from .pages import NotOpen, PageGone

Backend = BrowserDocument | FileDocument
_TRIES = 5


class LiveDocument:
    """What ``NotebookService.open`` returns. Edits and runs hold the notebook's lock."""

    def __init__(
        self,
        path: str,
        choose: Callable[[set[str]], Backend],
        lock: Callable[[], AbstractAsyncContextManager[None]],
        kernels: Kernels,
        recorder: Recorder | None = None,
    ) -> None:
        self.path = path
        self._choose = choose
        self._lock = lock
        self._kernels = kernels
        self._recorder = recorder

    @property
    def backend(self) -> BackendName:
        """The backend that a call would use now."""
        return self._choose(set()).backend

    async def read(
        self, cell_ids: Sequence[str] | None = None, *, outputs: bool = False, whole: bool = False
    ) -> PageNotebook:
        """All cells in order, or the named ones."""
        closed: set[str] = set()
        for _ in range(_TRIES):
            document = self._choose(closed)
            try:
                return await document.read(cell_ids, outputs=outputs, whole=whole)
            except NotOpen:
                _pass_over(document, closed)
            except PageGone:
                continue
        raise _restless(self.path)

    async def edit(self, edits: Sequence[CellEdit]) -> Applied:
        """Apply the batch whole or not at all, save, and read the touched cells back."""
        async with self._lock():
            if self._recorder is None:
                return await self._edit(edits)
            async with self._recorder.edit(self, edits):
                return await self._edit(edits)

    async def _edit(self, edits: Sequence[CellEdit]) -> Applied:
        closed: set[str] = set()
        unanswered = False
        for _ in range(_TRIES):
            document = self._choose(closed)
            try:
                if unanswered and (done := await _already(document, edits)) is not None:
                    return done
                return await document.edit(edits)
            except NotOpen:
                _pass_over(document, closed)
            except PageGone:
                unanswered = True
        raise _restless(self.path)

    async def run(
        self,
        cell_ids: Sequence[str],
        *,
        stop_on_error: bool = True,
        timeout: float,
        on_progress: Progress | None = None,
    ) -> list[CellRun]:
        """Run the cells in this order; one result a cell, with the status that it really had."""
        async with self._lock():
            run = _LiveRun(self, stop_on_error, timeout, on_progress)
            if self._recorder is None:
                return await run.run(list(cell_ids))
            async with self._recorder.run(self, cell_ids):
                return await run.run(list(cell_ids))


class _LiveRun:
    """One call of ``run``, wherever the page goes meanwhile."""

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
        self.closed: set[str] = set()
        self.results: list[CellRun] = []

    async def run(self, cell_ids: list[str]) -> list[CellRun]:
        remaining = cell_ids
        for _ in range(_TRIES):
            if not remaining:
                return self.results
            document = self.live._choose(self.closed)
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
        """Run in the page; the cells that are still to be run, where it went away."""
        watch = KernelWatch(self.live._kernels, self.live.path, document.page)
        try:
            cells = {cell.id: cell for cell in (await document.read(cell_ids)).cells}
            self.results += await document.run(
                cell_ids,
                stop_on_error=self.stop_on_error,
                timeout=self.timeout,
                on_progress=self.on_progress,
            )
            return []
        except NotOpen:
            _pass_over(document, self.closed)
            return cell_ids
        except PageGone:
            return cell_ids  # before anything was sent to run
        except PageLeft as left:
            return await self._take_over(left, cell_ids, cells, watch)
        finally:
            await watch.close()

    async def _take_over(
        self,
        left: PageLeft,
        cell_ids: list[str],
        cells: dict[str, PageCell],
        watch: KernelWatch,
    ) -> list[str]:
        began = list(dict.fromkeys([*left.finished, *([left.running] if left.running else [])]))
        now = await self.live.read(outputs=True)
        same = _same_cells(cells, now.cells)
        for cell_id in left.finished:
            self.results.append(self._finished(cell_id, began, same.get(cell_id)))
        if left.running is not None:
            cell = cells.get(left.running)
            run = await watch.end_of(left.running, cell.source if cell else None, self.timeout)
            self.results.append(run)
            await self._keep_outputs(run, same.get(left.running))
        rest = [each for each in cell_ids if each not in began]
        if self._must_stop():
            self._skip(rest, "Not run: a cell before it failed, or its end is not known.")
            return []
        changed = [each for each in rest if each not in same]
        if changed:
            # What was typed and not saved went with the page: the file holds another text.
            self._skip(rest, "Not run: the page went away with changes that were not saved.")
            return []
        return [same[each].id for each in rest]

    def _finished(self, cell_id: str, began: list[str], now: PageCell | None) -> CellRun:
        """A cell that the page said had ended, without saying how."""
        run = CellRun(cell_id=cell_id, status="ok", outputs=list((now and now.outputs) or []))
        run.execution_count = now.execution_count if now else None
        if self.stop_on_error and began[-1] != cell_id:
            run.note = "It ran in the page, which went away; its outputs may not have been saved."
            return run
        run.status = "aborted"
        run.note = "It ended in the page, which went away; how it ended is not known."
        return run

    def _must_stop(self) -> bool:
        last = self.results[-1] if self.results else None
        return self.stop_on_error and last is not None and last.status not in ("ok", "skipped")

    def _skip(self, cell_ids: list[str], note: str) -> None:
        self.results += [CellRun(cell_id=each, status="skipped", note=note) for each in cell_ids]

    async def _keep_outputs(self, run: CellRun, cell: PageCell | None) -> None:
        if cell is None or not (run.outputs or run.status == "ok"):
            return
        edit = SetOutputs(cell_id=cell.id, outputs=run.outputs, execution_count=run.execution_count)
        try:
            await self.live._edit([edit])
        except DocumentError as error:
            run.note = " ".join(filter(None, [run.note, f"Its outputs were not saved: {error}"]))


def _same_cells(before: dict[str, PageCell], now: Sequence[PageCell]) -> dict[str, PageCell]:
    """The cells of another backend with the same source: by id, or by place where ids differ."""
    by_id = {cell.id: cell for cell in now}
    same = {}
    for cell in before.values():
        other = by_id.get(cell.id) or (now[cell.index] if cell.index < len(now) else None)
        if other is not None and other.hash == cell.hash:
            same[cell.id] = other
    return same


async def _already(document: Backend, edits: Sequence[CellEdit]) -> Applied | None:
    """What a page did before it went away without an answer, if it did it: a batch is whole."""
    cells = {cell.id: cell for cell in (await document.read()).cells}
    for edit in edits:
        cell = cells.get(edit.cell_id)
        if edit.op == "delete":
            done = cell is None
        elif edit.op == "move":
            return None  # a place tells nothing; moving there again does no harm
        elif edit.op == "outputs":
            return None
        else:
            done = cell is not None and edit.source in (None, cell.source)
        if not done:
            return None
    touched = [cells[edit.cell_id] for edit in edits if edit.cell_id in cells]
    return Applied(changes_of(document.path, edits, {}, cells), touched)


def _pass_over(document: Backend, closed: set[str]) -> None:
    if isinstance(document, BrowserDocument):
        closed.add(document.page.client_id)


def _restless(path: str) -> DocumentError:
    return DocumentError(
        "internal",
        f"{path} is opened and closed all the time; nothing could be done.",
        "Try again, with the notebook open in one page.",
    )
