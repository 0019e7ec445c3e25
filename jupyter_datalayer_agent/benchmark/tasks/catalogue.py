"""All tasks."""

from __future__ import annotations

from . import analysis, repairs, restraint
from .task import Task

TASKS: tuple[Task, ...] = (
    *analysis.TASKS,
    *analysis.TIMES_TASKS,
    *analysis.MODELS_TASKS,
    *analysis.CHARTS_TASKS,
    *repairs.TASKS,
    *restraint.TASKS,
)
