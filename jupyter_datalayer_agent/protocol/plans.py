"""Plans: the steps of a task, as they are proposed, decided on, carried out and shown."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .base import Wire

StepStatus = Literal["pending", "in_progress", "completed", "failed"]
PlanState = Literal["proposed", "running", "paused", "stopped", "completed", "rejected"]
"""``proposed`` waits for the person; ``stopped`` can be resumed."""


class PlanStep(Wire):
    """One step of a plan and how far it is.

    ``tool_calls`` are names of tools; ``dependencies`` are indices (from 0) of earlier steps.
    """

    description: str
    tool_calls: list[str] = []
    dependencies: list[int] | None = None
    status: StepStatus = "pending"


class WorkflowCall(Wire):
    """A workflow that runs without a model, with its parameters (see ``GET workflows``)."""

    id: str
    parameters: dict[str, Any] = {}


class Plan(Wire):
    """A planned workflow as it stands; one turn carries it out.

    ``workflow`` names the template whose steps these are; None where the model made the plan.
    ``estimated_duration`` is the model's guess, in words. ``notebook`` is the one that the plan is
    about; a template may yet have to make it. Of a template: ``facts`` is what its steps have
    learned, ``cells`` the ids of the cells that each step wrote, by the step's place.
    ``failed_cells`` are the ids of cells whose run ended badly at some time, by notebook, whatever
    became of them.
    """

    task: str
    steps: list[PlanStep]
    required_tools: list[str] = []
    estimated_duration: str | None = None
    state: PlanState = "running"
    workflow: WorkflowCall | None = None
    notebook: str | None = None
    facts: dict[str, Any] = Field(default_factory=dict)
    cells: dict[str, list[str]] = Field(default_factory=dict)
    failed_cells: dict[str, list[str]] = Field(default_factory=dict)

    @property
    def next_step(self) -> int | None:
        """The index of the first step that is not done, or None when all are."""
        return next(
            (index for index, step in enumerate(self.steps) if step.status != "completed"), None
        )
