"""What the server itself ran, by notebook and cell: the times and order that files do not hold."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from ...protocol.base import now_ms
from ...protocol.context import ExecutionStatus

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


class ExecutionLog:
    """Runs of the last 200 notebooks, in memory: a restart of the server ends its kernels too."""

    def __init__(self) -> None:
        self._paths: OrderedDict[str, dict[str, LoggedExecution]] = OrderedDict()

    def of(self, path: str, cell_id: str) -> LoggedExecution | None:
        """The newest run of a cell, if the server ran it."""
        return self._paths.get(path, {}).get(cell_id)

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
        """The run ended; ``error`` is the exception's name."""
        self._cells(path)[cell_id] = LoggedExecution(
            "idle", order, success, duration, now_ms(), error
        )

    def dropped(self, path: str, cell_id: str) -> None:
        """A waiting cell will not run after all; what is known of its last run stays."""
        if (entry := self.of(path, cell_id)) is not None:
            entry.status = "idle"

    def _entry(self, path: str, cell_id: str) -> LoggedExecution:
        return self._cells(path).setdefault(cell_id, LoggedExecution())

    def _cells(self, path: str) -> dict[str, LoggedExecution]:
        cells = self._paths.setdefault(path, {})
        self._paths.move_to_end(path)
        while len(self._paths) > _MOST_NOTEBOOKS:
            self._paths.popitem(last=False)
        return cells
