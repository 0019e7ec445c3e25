"""All tasks."""

from __future__ import annotations

from . import charts, models, repairs, restraint, tables, times
from .task import Task

TASKS: tuple[Task, ...] = (
    *tables.TASKS,
    *times.TASKS,
    *models.TASKS,
    *charts.TASKS,
    *repairs.TASKS,
    *restraint.TASKS,
)
