"""The browser backend: a page has the notebook open, and acts on it as the user would."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from ...protocol.base import Wire, new_id
from ...protocol.cells import CellEdit, CellRun, PageCell, PageNotebook, SetOutputs, line_feeds
from ...protocol.page import (
    AllowParams,
    EditParams,
    InterruptParams,
    PageProgress,
    ReadParams,
    RunParams,
    RunResult,
)
from ...protocol.tools import Change
from ..document import BackendName, DocumentError, Progress
from ..kernel.acts import GuardedRun
from ..kernel.run_observer import RunObserver
from ..page import NotOpen, Page, PageGone, PageSilent
from ..renames import TrackedPath
from .file import Applied
from .headless_run import WriteOutputs

WireT = TypeVar("WireT", bound=Wire)
Allow = Callable[[], Awaitable[dict[str, str]]]
"""Returns once the cells of a run may be sent to the kernel: the hashes of their sources."""

ANSWER_SECONDS = 30.0
# How long a page may give no sign of a requested run.
START_SECONDS = 30.0
STOP_SECONDS = 15.0
BUSY = ("busy", "initializing", "starting", "restarting", "autorestarting", "connecting")
STILL_READ = "Read the notebook again before continuing."


class PageDisconnected(Exception):
    """The page disconnected, or closed the notebook, during a run."""


class BrowserDocument:
    """A notebook in one page. Raises ``PageGone`` if the page disconnects for good."""

    backend: BackendName = "browser"

    def __init__(self, document: TrackedPath, page: Page) -> None:
        self._document = document
        self.page = page

    @property
    def path(self) -> str:
        """Where the notebook is now."""
        return self._document.path

    async def read(
        self,
        cell_ids: Sequence[str] | None = None,
        *,
        outputs: bool = False,
        brief: bool = False,
        whole: bool = False,
    ) -> PageNotebook:
        """All cells in order, or the named ones, with what the user has not saved yet."""
        ids = None if cell_ids is None else list(cell_ids)
        result = await self.page.request(
            "notebook.read",
            ReadParams(path=self.path, cell_ids=ids, outputs=outputs, brief=brief, whole=whole),
            timeout=ANSWER_SECONDS,
        )
        notebook = _parse(PageNotebook, result)
        if whole and notebook.order is None:
            raise DocumentError(
                "internal",
                "The page's version differs from the server's: it cannot show whole cells.",
                "Reload the page.",
            )
        return notebook

    async def edit(self, edits: Sequence[CellEdit]) -> Applied:
        """Apply the batch in the page, in one step of the notebook's undo, and save it."""
        before = await self._sources(edits)
        result = await self.page.request(
            "notebook.edit",
            EditParams(path=self.path, edits=list(edits)),
            timeout=ANSWER_SECONDS,
        )
        notebook = _parse(PageNotebook, result)
        cells = {cell.id: cell for cell in notebook.cells}
        check_applied(edits, cells)
        return Applied(changes_of(self.path, edits, before, cells), notebook.cells)

    async def _sources(self, edits: Sequence[CellEdit]) -> dict[str, PageCell]:
        """The cells that a batch changes, as they were, for the diff."""
        ids = list(dict.fromkeys(e.cell_id for e in edits if e.op in ("update", "delete", "move")))
        if not ids:
            return {}
        return {cell.id: cell for cell in (await self.read(ids)).cells}

    async def run(
        self,
        cell_ids: Sequence[str],
        *,
        stop_on_error: bool = True,
        timeout: float,
        on_progress: Progress | None = None,
        watch: RunObserver,
        guarded: GuardedRun,
        allow: Allow | None,
    ) -> list[CellRun]:
        """Run the cells through the page's own kernel session. One result a cell; fewer where the
        next one does not have the source that ``allow`` says may run. Until that has returned, the
        page only shows that they wait; what it raises ends the run before it began.

        Raises ``PageDisconnected`` if the page disconnects or closes the notebook, and before
        anything was sent to the kernel ``PageGone`` or ``NotOpen``; ``PageSilent`` if it does
        nothing. ``watch`` is notified of the page's reports; what the page sends to the
        kernel is marked as this ``guarded`` run.
        """
        params = RunParams(
            path=self.path,
            cell_ids=list(cell_ids),
            stop_on_error=stop_on_error,
            timeout_ms=timeout * 1000,
            metadata=guarded.metadata,
            held=allow is not None,
        )
        return await _PageRun(self, params, on_progress, watch, guarded).run(allow)


class _PageRun:
    def __init__(
        self,
        document: BrowserDocument,
        params: RunParams,
        on_progress: Progress | None,
        watch: RunObserver,
        guarded: GuardedRun,
    ) -> None:
        self._document = document
        self.page = document.page
        self.params = params
        self.request_id = new_id("req")
        self.watch = watch
        self.running: str | None = None
        self.waits_for_input = False
        self._on_progress = on_progress
        self._news = asyncio.Event()
        self._guarded = guarded
        guarded.on_change = self._news.set

    async def run(self, allow: Allow | None) -> list[CellRun]:
        asking = asyncio.ensure_future(
            self.page.request(
                "notebook.run",
                self.params,
                timeout=None,
                on_progress=self._progress,
                request_id=self.request_id,
            )
        )
        try:
            if allow is not None:
                hashes = await self._allowed(asking, allow)
            try:
                if allow is not None:
                    await self._release(hashes)
                await self._watch(asking)
                result = _parse(RunResult, asking.result())
            except NotOpen as closed:
                raise PageDisconnected(closed.message) from closed
            except PageGone as gone:
                raise PageDisconnected(str(gone)) from gone
        except asyncio.CancelledError:
            await self._stop(asking)
            raise
        finally:
            asking.cancel()
        return result.runs if result.changed is not None else self._complete(result.runs)

    async def _allowed(self, asking: asyncio.Future[object], allow: Allow) -> dict[str, str]:
        """The hashes of what may run, once it may. The page shows meanwhile that the cells wait."""
        allowing = asyncio.ensure_future(allow())
        try:
            either: list[asyncio.Future[Any]] = [asking, allowing]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                # The page has closed the notebook, or cannot run it.
                asking.result()
            return await allowing
        except Exception:
            if not asking.done():
                await self._stop(asking)
            raise
        finally:
            allowing.cancel()

    async def _release(self, hashes: dict[str, str]) -> None:
        params = AllowParams(path=self._document.path, request_id=self.request_id, hashes=hashes)
        await self.page.request("notebook.allow", params, timeout=ANSWER_SECONDS)

    async def _progress(self, progress: PageProgress) -> None:
        self.watch.note(progress)
        self.running = progress.cell_id if progress.state != "finished" else None
        self.waits_for_input = progress.state == "waiting_for_input"
        self._news.set()
        if self._on_progress is not None:
            await self._on_progress(progress.cell_id, progress.state)

    async def _watch(self, asking: asyncio.Future[object]) -> None:
        """Wait for the answer while the page or the kernel is active."""
        while not asking.done():
            # The page times a running cell; this only notices if it does not.
            silence = START_SECONDS + (
                self.params.timeout_ms / 1000 + STOP_SECONDS if self.running else 0
            )
            self._news.clear()
            news = asyncio.ensure_future(self._news.wait())
            try:
                either: list[asyncio.Future[Any]] = [asking, news]
                done, _ = await asyncio.wait(
                    either,
                    timeout=None if self.waits_for_input or self._guarded.waits else silence,
                    return_when=asyncio.FIRST_COMPLETED,
                )
            finally:
                news.cancel()
            if not done and (self.running or not self._kernel_is_busy()):
                raise PageSilent(
                    "internal",
                    "The page did not answer the run; it is unknown whether the cells ran.",
                    STILL_READ,
                )

    def _kernel_is_busy(self) -> bool:
        """Whether the page reports that our cells wait for something else that runs."""
        shown = self.page.notebook(self._document.path)
        if shown is None or not self.page.connected:
            return not self.page.connected
        return bool(shown.running_cell_ids) or shown.kernel_status in BUSY

    async def _stop(self, asking: asyncio.Future[object]) -> None:
        """Let the page interrupt the kernel if our request runs there, and await its end."""
        if not self.page.connected:
            await self.watch.stop()
            return
        try:
            await self.page.request(
                "notebook.interrupt",
                InterruptParams(path=self._document.path, request_id=self.request_id),
                timeout=STOP_SECONDS,
            )
            await asyncio.wait([asking], timeout=STOP_SECONDS)
        except (DocumentError, PageGone):
            await self.watch.stop()

    def _complete(self, runs: list[CellRun]) -> list[CellRun]:
        """One result a cell; one that the page leaves out counts as not run."""
        answered = {run.cell_id for run in runs}
        missing = [each for each in self.params.cell_ids if each not in answered]
        note = "The page did not report a result for this cell."
        return runs + [CellRun(cell_id=each, status="aborted", note=note) for each in missing]


def check_applied(edits: Sequence[CellEdit], cells: dict[str, PageCell]) -> None:
    """Raise ``DocumentError`` unless the cells as read back match the batch."""
    wanted: dict[str, str | None] = {}
    gone: set[str] = set()
    for edit in edits:
        if edit.op == "delete":
            gone.add(edit.cell_id)
            wanted.pop(edit.cell_id, None)
        elif edit.op in ("insert", "update") and edit.source is not None:
            wanted[edit.cell_id] = edit.source
        elif edit.op == "move":
            wanted.setdefault(edit.cell_id, None)
    wrong = [
        cell_id
        for cell_id, source in wanted.items()
        if cell_id not in cells
        or (source is not None and line_feeds(cells[cell_id].source) != line_feeds(source))
    ]
    wrong += [cell_id for cell_id in gone if cell_id in cells]
    if wrong:
        raise DocumentError(
            "internal",
            f"The page reported success, but the cells {', '.join(wrong)} are not as asked.",
            STILL_READ,
            [cells[each] for each in wrong if each in cells],
        )


def changes_of(
    path: str,
    edits: Sequence[CellEdit],
    before: dict[str, PageCell],
    after: dict[str, PageCell],
) -> list[Change]:
    """What a batch changed, from the cells before and after it."""
    changes = []
    for edit in edits:
        if edit.op == "outputs":
            continue
        old, new = before.get(edit.cell_id), after.get(edit.cell_id)
        if edit.op == "update" and old and new and (old.source, old.type) == (new.source, new.type):
            continue
        # Among other edits, a moved cell may end at its old number.
        if edit.op == "move" and len(edits) == 1 and old and new and old.index == new.index:
            continue
        shown = old if edit.op == "delete" else new
        changes.append(
            Change(
                path=path,
                op=edit.op,
                cell_id=edit.cell_id,
                index=shown.index if shown else None,
                before=old.source if old and edit.op != "insert" else None,
                after=new.source if new and edit.op != "delete" else None,
                cell_type=shown.type if shown else None,
            )
        )
    return changes


def _parse(model: type[WireT], result: object) -> WireT:
    try:
        return model.model_validate(result)
    except ValidationError as error:
        raise DocumentError(
            "internal",
            f"The page's answer does not fit the protocol: {error.error_count()} faults, first "
            f"{error.errors()[0]['msg']} at {error.errors()[0]['loc']}.",
            "Reload the page: its version may differ from the server's.",
        ) from error


def output_writer(document: BrowserDocument) -> WriteOutputs:
    """Writes outputs of a run through the page."""

    async def write(outputs: list[SetOutputs]) -> bool:
        try:
            await document.edit(outputs)
        except (NotOpen, PageGone):
            return False
        return True

    return write
