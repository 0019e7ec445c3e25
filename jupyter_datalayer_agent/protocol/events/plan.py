"""Events of a plan and its steps."""

from __future__ import annotations

from typing import Literal

from ..plans import PlanState, PlanStep
from .base import BaseEvent


class PlanUpdated(BaseEvent):
    """The current plan. ``state`` only of a planned workflow, which the server carries out;
    without it the plan is the model's own list. ``workflow`` is the id of the template.
    ``required_tool_labels`` say what the required tools do, by their names."""

    type: Literal["plan_updated"] = "plan_updated"
    steps: list[PlanStep]
    explanation: str | None = None
    state: PlanState | None = None
    required_tools: list[str] | None = None
    required_tool_labels: dict[str, str] | None = None
    estimated_duration: str | None = None
    workflow: str | None = None


class StepStarted(BaseEvent):
    """A step of a planned workflow began; ``index`` counts from 0."""

    type: Literal["step_started"] = "step_started"
    index: int
    total: int
    description: str


class StepFinished(BaseEvent):
    """A step of a planned workflow ended."""

    type: Literal["step_finished"] = "step_finished"
    index: int
    success: bool
    message: str


class RecoveryStarted(BaseEvent):
    """A failed step is being fixed: attempt ``attempt`` of at most ``max_attempts``, from 1."""

    type: Literal["recovery_started"] = "recovery_started"
    index: int
    error: str
    attempt: int
    max_attempts: int = 2


class RecoveryFinished(BaseEvent):
    """The attempt at a failed step ended; ``message`` is what was done, or why it did not help."""

    type: Literal["recovery_finished"] = "recovery_finished"
    index: int
    success: bool
    message: str
