"""The conversation group: the plan that the user sees, and questions to the user."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ...protocol.base import Wire
from ...protocol.plans import PlanStep
from ..context import ToolContext
from ..registry import ToolOutcome, tool


class PlannedStep(Wire):
    """One step of the plan."""

    description: str
    status: Literal["pending", "in_progress", "completed", "failed"] = "pending"


class UpdatePlan(Wire):
    """Arguments of ``updatePlan``."""

    explanation: str | None = None
    steps: list[PlannedStep] = Field(min_length=1)


class AskUser(Wire):
    """Arguments of ``askUser``."""

    question: str = Field(min_length=1)
    options: list[str] | None = None


@tool(UpdatePlan, group="conversation", label=("Update the plan", "Updating the plan"))
async def update_plan(args: UpdatePlan, context: ToolContext) -> ToolOutcome:
    """Show the user your plan."""
    given = [PlanStep(description=each.description, status=each.status) for each in args.steps]
    steps = await context.update_plan(given, args.explanation)
    done = sum(step.status == "completed" for step in steps)
    return ToolOutcome({"steps": len(steps)}, f"Plan: {done} of {len(steps)} steps done")


@tool(
    AskUser,
    group="conversation",
    label=("Ask you something", "Waiting for your answer"),
    asks=True,
)
async def ask_user(args: AskUser, context: ToolContext) -> ToolOutcome:
    """Ask the user, only when you cannot decide from the notebook."""
    answer = await context.ask(args.question, args.options)
    return ToolOutcome({"answer": answer}, "Asked a question")


TOOLS = [update_plan, ask_user]
