"""Plans: the steps of a task, as they are proposed, decided on, carried out and shown."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .base import Wire

StepStatus = Literal["pending", "in_progress", "completed", "failed", "skipped"]
PlanState = Literal["proposed", "running", "paused", "waiting", "stopped", "completed", "rejected"]
"""``proposed`` and ``paused`` wait for the user's decision, ``waiting`` for the user to run the
action of the step in progress; ``stopped`` can be resumed."""

DONE_WITH: tuple[StepStatus, ...] = ("completed", "failed", "skipped")
"""Steps that are not begun any more."""


class PlanStep(Wire):
    """One step of a plan and how far it is.

    ``tool_calls`` are names of tools; ``dependencies`` are indices (from 0) of the earlier steps
    that it needs, None if not given: then it needs all of them.

    ``action`` ("data/convert") is the action of a service that the step is: the user runs it, as
    the proposal ``proposal_id``, once its turn comes. ``parameters`` are those that the plan names.
    """

    description: str
    tool_calls: list[str] = []
    action: str | None = None
    parameters: dict[str, Any] | None = None
    proposal_id: str | None = None
    dependencies: list[int] | None = None
    status: StepStatus = "pending"


class WorkflowCall(Wire):
    """A workflow that runs without a model, with its parameters (see ``GET workflows``)."""

    id: str
    parameters: dict[str, Any] = {}


class Plan(Wire):
    """The current state of a planned workflow; one turn carries it out.

    ``workflow`` names the template whose steps these are; None where the model made the plan.
    ``estimated_duration`` is the model's guess, as text. ``notebook`` is the one that the plan is
    about; a template may yet have to make it. Of a template: ``facts`` is what its steps have
    learned, ``cells`` the ids of the cells that each step wrote, by the step's place.
    ``failed_cells`` are the ids of cells whose run ended badly at some time, by notebook, whatever
    became of them. ``block_ids`` are the blocks of a Lexical document that the template
    writes, each as its type, the hash of its JSON and its id: after a restart it may have another.
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
    block_ids: list[tuple[str, str, str]] = Field(default_factory=list)

    @property
    def has_dependencies(self) -> bool:
        """Whether anybody said what needs what. A plan in which no step needs another says nothing:
        models leave the list empty, too."""
        return any(step.dependencies for step in self.steps)

    def blocked(self) -> list[int]:
        """The indices of the steps that need one that failed, also through others; and of those
        that are said to need one that was skipped."""
        found: list[int] = []
        for index, step in enumerate(self.steps):
            named = step.dependencies if self.has_dependencies else None
            needed = range(index) if named is None else named
            undone = ("failed",) if named is None else ("failed", "skipped")
            is_blocked = any(self.steps[n].status in undone or n in found for n in needed)
            if is_blocked and step.status not in DONE_WITH:
                found.append(index)
        return found

    @property
    def next_step(self) -> int | None:
        """The index of the first step that is to be done and can be, or None."""
        blocked = self.blocked()
        return next(
            (
                index
                for index, step in enumerate(self.steps)
                if step.status not in DONE_WITH and index not in blocked
            ),
            None,
        )
