"""The file backend: a notebook that is open nowhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...protocol.cells import CellEdit, CellRun, PageCell, PageNotebook
from ...protocol.tools import Change
from ..document import BackendName, DocumentError, Progress
from ..edits.batch import EditedCells, apply_edits, page_cell, source_of
from ..kernel.execution_log import ExecutionLog, KernelLife
from ..kernel.kernels import Kernels
from ..metadata import of_kernel
from ..renames import TrackedPath
from .contents import ChangedOnDisk, LoadedNotebook, NotebookFiles
from .headless_run import HeadlessRun, WriteOutputs


@dataclass
class Applied:
    """What a batch did: the changes, and the touched cells as read back. ``altered`` are those that
    a save hook or the file's format changed as they were saved, ``reformatted`` those of them with
    another source."""

    changes: list[Change]
    cells: list[PageCell]
    altered: frozenset[str] = frozenset()
    reformatted: frozenset[str] = frozenset()


class FileDocument:
    """A notebook file, through the server's ContentsManager and a kernel of the sessions API.

    ``divert`` is called before each write of a run: it returns how to write through a page that has
    opened the notebook meanwhile, if any.
    """

    backend: BackendName = "file"

    def __init__(
        self,
        document: TrackedPath,
        files: NotebookFiles,
        kernels: Kernels,
        executions: ExecutionLog,
        divert: Callable[[], WriteOutputs | None] = lambda: None,
    ) -> None:
        self._document = document
        self._files = files
        self._kernels = kernels
        self._executions = executions
        self._divert = divert

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
        """All cells in order, or the named ones that are there."""
        loaded = await self._files.load(self.path)
        if cell_ids is None:
            self._files.seen(loaded)
        kernel = await self._kernels.of(self.path)
        life = self._executions.enter(self.path, kernel["id"] if kernel else None)
        wanted = None if cell_ids is None else set(cell_ids)
        more = outputs or whole
        shared = loaded.brief_cells if brief else loaded.page_cells
        cells = [
            _with_execution(
                page_cell(cell, index, outputs=outputs, whole=whole) if more else shared[index],
                life,
            )
            for index, cell in enumerate(loaded.cells)
            if wanted is None or cell["id"] in wanted
        ]
        spec = of_kernel(loaded.metadata, "kernelspec")
        info = of_kernel(loaded.metadata, "language_info")
        return PageNotebook(
            path=self.path,
            kernel_id=kernel["id"] if kernel else None,
            kernel_name=kernel["name"] if kernel else spec.get("name"),
            kernel_language=(kernel and kernel["language"])
            or info.get("name")
            or spec.get("language"),
            kernel_status=kernel["status"] if kernel else None,
            cells=cells,
            order=[cell["id"] for cell in loaded.cells] if whole else None,
            ids_kept=not loaded.ids.derived,
        )

    async def edit(self, edits: Sequence[CellEdit]) -> Applied:
        """Apply the batch whole or not at all, save, and read the touched cells back."""
        for _ in range(5):
            loaded = await self._files.load(self.path)
            edited = apply_edits(loaded.cells, edits, self.path)
            if not edited.changes and not _sets_more(edits):
                return self._applied(edited, loaded)
            try:
                saved = await self._files.save(loaded, edited)
            except ChangedOnDisk:
                continue  # the batch is checked again, against the current cells
            return self._applied(edited, saved)
        raise DocumentError(
            "internal",
            f"{self.path} changes faster than it can be saved; nothing was applied.",
            "Another program is writing it. Try again later.",
        )

    def _applied(self, edited: EditedCells, saved: LoadedNotebook) -> Applied:
        touched = set(edited.touched)
        life = self._executions.life(self.path)
        cells = [_with_execution(cell, life) for cell in saved.page_cells if cell.id in touched]
        if not saved.altered:
            return Applied(edited.changes, cells)
        given = {cell["id"]: source_of(cell) for cell in edited.cells}
        sources = {cell.id: cell.source for cell in cells if cell.source != given[cell.id]}
        changes = [
            change.model_copy(update={"after": sources[change.cell_id]})
            if change.cell_id in sources
            else change
            for change in edited.changes
        ]
        return Applied(changes, cells, saved.altered, frozenset(sources))

    async def run(
        self,
        cell_ids: Sequence[str],
        *,
        stop_on_error: bool = True,
        timeout: float,
        on_progress: Progress | None = None,
    ) -> list[CellRun]:
        """Run the cells in this order. Fewer results than cells: a page has taken over the rest."""
        run = HeadlessRun(
            self._document,
            self._files,
            self._kernels,
            self._executions,
            divert=self._divert,
            stop_on_error=stop_on_error,
            timeout=timeout,
            on_progress=on_progress,
        )
        return await run.run(cell_ids)


def _with_execution(cell: PageCell, life: KernelLife) -> PageCell:
    known = life.cells.get(cell.id) if cell.type == "code" else None
    if known is None:
        return cell
    return cell.model_copy(
        update={
            "execution_status": known.status,
            "last_run_success": known.success,
            "last_execution_duration": known.duration,
            "last_run_end_time": known.end_time,
        }
    )


def _sets_more(edits: Sequence[CellEdit]) -> bool:
    """Whether the batch sets what is not reported as a change: outputs and metadata."""
    return any(
        edit.op == "outputs" or (edit.op == "update" and edit.cell is not None) for edit in edits
    )
