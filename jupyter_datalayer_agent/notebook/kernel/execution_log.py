"""What ran in each notebook's kernel since its process started, and how the one before ended.

The one owner of that knowledge: a restart, a death or another kernel ends what ran, whoever caused
it. Files hold neither times nor whether a count is from the kernel of today.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...protocol.base import now_ms
from ...protocol.cells import DEAD_KERNEL, PageCell, PageNotebook
from ...protocol.context import ExecutionStatus
from ...protocol.renames import Rename
from ..dataflow.dependencies import build
from .process import REPLACED, KernelProcess, KernelProcesses

_MOST_NOTEBOOKS = 200


@dataclass
class LoggedExecution:
    """The newest run of a cell. ``duration`` in ms, ``end_time`` in ms since 1970."""

    status: ExecutionStatus = "idle"
    order: int | None = None
    success: bool | None = None
    duration: float | None = None
    end_time: int | None = None
    error: str | None = None

    @property
    def has_run(self) -> bool:
        """Whether a run of it has begun."""
        return self.status == "running" or self.success is not None


@dataclass
class KernelLife:
    """What ran in one process of a notebook's kernel.

    ``process`` is None while there is none. ``ended`` says how the one before ended; ``lost`` are
    the cells that had run in it or in earlier ones, and with ``lost_more`` perhaps others.
    """

    kernel_id: str | None = None
    process: KernelProcess | None = None
    cells: dict[str, LoggedExecution] = field(default_factory=dict)
    ended: str | None = None
    died: bool = False
    lost: set[str] = field(default_factory=set)
    lost_more: bool = False

    @property
    def is_known_whole(self) -> bool:
        """Whether all that ran in it is known, since its beginning was seen."""
        return self.process is None or self.process.is_new

    def has_run(self, cell: PageCell) -> bool | None:
        """Whether a cell has run in it; None where that is not known."""
        run = self.cells.get(cell.id)
        if run is not None and run.has_run:
            return True
        if cell.last_run_success is not None or cell.execution_status == "running":
            return True
        if cell.execution_count is None or self.is_known_whole:
            return False
        return None


class ExecutionLog:
    """Runs of the last 200 notebooks, in memory: a restart of the server ends its kernels too."""

    def __init__(self, processes: KernelProcesses) -> None:
        self._processes = processes
        self._lives: OrderedDict[str, KernelLife] = OrderedDict()

    def life(self, path: str) -> KernelLife:
        """The life of the notebook's kernel as it is now: another object after each restart. The
        system is asked for the process: ask once for all cells of a notebook."""
        life = self._lives.get(path)
        if life is None:
            life = self._lives[path] = KernelLife()
        self._lives.move_to_end(path)
        while len(self._lives) > _MOST_NOTEBOOKS:
            self._lives.popitem(last=False)
        process = None if life.kernel_id is None else self._processes.of(life.kernel_id)
        now = None if process is None or process.ended is not None else process
        if life.process is None:
            life.process = now
        elif life.process is not now:
            life = self._next(path, life, life.kernel_id, now)
        return life

    def enter(self, path: str, kernel_id: str | None) -> KernelLife:
        """The notebook's kernel is this one now (None: it has none); its life."""
        life = self.life(path)
        if kernel_id is None or kernel_id == life.kernel_id:
            return life
        if life.kernel_id is None:
            life.kernel_id = kernel_id
        else:
            life = self._next(path, life, kernel_id, None)
        return self.life(path)

    def _next(
        self, path: str, before: KernelLife, kernel_id: str | None, now: KernelProcess | None
    ) -> KernelLife:
        # What ran while the kernel died has not come to its end.
        ran = {cell_id for cell_id, run in before.cells.items() if run.success is not None}
        ended, died = before.ended, before.died
        if before.process is not None:
            ended, died = before.process.ended or REPLACED, before.process.died
        if kernel_id != before.kernel_id and not died:
            ended = REPLACED
        life = self._lives[path] = KernelLife(
            kernel_id,
            now,
            ended=ended,
            died=died,
            lost=before.lost | ran,
            lost_more=before.lost_more or not before.is_known_whole,
        )
        return life

    def of(self, path: str, cell_id: str) -> LoggedExecution | None:
        """The newest run of a cell in the kernel of now, if it is known."""
        return self.life(path).cells.get(cell_id)

    def lost(self, path: str, cells: Sequence[PageCell]) -> list[PageCell]:
        """The cells that had run in a kernel that is gone, and have not run since."""
        life = self.life(path)
        if life.ended is None:
            return []
        return [
            cell
            for cell in cells
            if cell.type == "code"
            and (cell.id in life.lost or (life.lost_more and cell.execution_count is not None))
            and not life.has_run(cell)
        ]

    def lost_before(self, path: str, notebook: PageNotebook, cell_id: str) -> list[PageCell]:
        """Those of ``lost`` that a cell depends on, directly or not: they have to run before it."""
        lost = {cell.id for cell in self.lost(path, notebook.cells)} - {cell_id}
        if not lost:
            return []
        graph = build(notebook.cells, notebook.kernel_language or "python")
        needed = {place for place, cell in enumerate(graph.cells) if cell.id == cell_id}
        for place in range(len(graph.cells) - 1, -1, -1):
            if place in needed:
                needed.update(graph.needs[place])
        return [graph.cells[place] for place in sorted(needed) if graph.cells[place].id in lost]

    def note(self, path: str, cells: Sequence[PageCell]) -> str | None:
        """A sentence about the cells that ran in a kernel that is gone; None where none did."""
        lost = self.lost(path, cells)
        if not lost:
            return None
        have = "has" if len(lost) == 1 else "have"
        gone = f"{self.life(path).ended} Its variables are gone"
        return f"{gone}; {numbered(lost)} {have} not run since."

    def reported(self, notebook: PageNotebook) -> PageNotebook:
        """Note which cells a page knows to have run; the notebook with what the page does not know:
        it forgets when it is reloaded, and hears of a death only when Jupyter sees to it."""
        life = self.enter(notebook.path, notebook.kernel_id)
        if life.process is None and life.ended is not None:
            cells = [_not_run(cell) for cell in notebook.cells]
            return notebook.model_copy(update={"cells": cells})
        for cell in notebook.cells:
            run = life.cells.get(cell.id)
            if cell.last_run_success is not None and (
                run is None or (run.end_time or 0) <= (cell.last_run_end_time or 0)
            ):
                life.cells[cell.id] = LoggedExecution(
                    "idle",
                    cell.execution_count,
                    cell.last_run_success,
                    cell.last_execution_duration,
                    cell.last_run_end_time,
                    run.error if run is not None and run.order == cell.execution_count else None,
                )
        return notebook

    def pending(self, path: str, cell_id: str) -> None:
        """The cell waits for the kernel."""
        self._entry(path, cell_id).status = "pending"

    def started(self, path: str, cell_id: str) -> None:
        """The kernel runs the cell."""
        self._entry(path, cell_id).status = "running"

    def finished(
        self,
        path: str,
        cell_id: str,
        *,
        success: bool,
        order: int | None,
        duration: float | None,
        error: str | None = None,
    ) -> None:
        """The run ended; ``error`` is the exception's name. A cell whose kernel died has not run
        in the one that follows."""
        if error == DEAD_KERNEL:
            self.dropped(path, cell_id)
            return
        self.life(path).cells[cell_id] = LoggedExecution(
            "idle", order, success, duration, now_ms(), error
        )

    def dropped(self, path: str, cell_id: str) -> None:
        """A waiting cell will not run after all; what is known of its last run stays."""
        if (entry := self.of(path, cell_id)) is not None:
            entry.status = "idle"

    def renamed(self, rename: Rename) -> None:
        """See ``Follower``."""
        rename.rekey(self._lives)

    def _entry(self, path: str, cell_id: str) -> LoggedExecution:
        return self.life(path).cells.setdefault(cell_id, LoggedExecution())


def numbered(cells: Sequence[PageCell], noun: str = "cell") -> str:
    """The cells by their numbers: ``cell 3``, ``cells 1-4 and 6``."""
    runs: list[list[int]] = []
    for number in sorted(cell.index + 1 for cell in cells):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    pieces = [
        piece
        for first, last in runs
        for piece in ([f"{first}-{last}"] if last > first + 1 else sorted({first, last}))
    ]
    *head, tail = map(str, pieces)
    listed = f"{', '.join(head)} and {tail}" if head else tail
    return f"{noun}{'' if len(cells) == 1 else 's'} {listed}"


def _not_run(cell: PageCell) -> PageCell:
    if cell.type != "code" or cell.last_run_success is None:
        return cell
    return cell.model_copy(
        update={
            "last_run_success": None,
            "last_execution_duration": None,
            "last_run_end_time": None,
            "execution_status": "idle",
        }
    )
