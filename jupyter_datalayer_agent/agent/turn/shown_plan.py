"""The plan that the model shows with ``updatePlan``, kept true by the results of the turn."""

from __future__ import annotations

from collections.abc import Sequence

from ...protocol.plans import PlanStep, StepStatus
from ...protocol.tools import NotDone
from ...tools.context import ToolFailure
from ...tools.registry import ToolRegistry
from ..tool_calls.scheduler import FinishedCall


class ShownPlan:
    """The steps as the model last gave them, and whether the step in progress had any result."""

    def __init__(self) -> None:
        self.steps: list[PlanStep] = []
        self._has_result = False

    def update(self, steps: Sequence[PlanStep], failed: str | None) -> None:
        """Take the model's steps. ``failed`` is a call of the same answer that failed: then no
        step is completed by that answer. Raises ``ToolFailure``."""
        done = _with(self.steps, "completed")
        completed = [each for each in _with(steps, "completed") if each not in done]
        if failed is not None and completed:
            raise ToolFailure(
                "held_back",
                f"The plan was not changed: a call before it in this answer failed "
                f"({failed.rstrip('.')}), so “{completed[0]}” is not completed by it.",
                "Repair that first. A step is completed when its results say ok.",
            )
        if _with(steps, "in_progress") != _with(self.steps, "in_progress"):
            self._has_result = False
        self.steps = list(steps)

    def note(self, done: FinishedCall, registry: ToolRegistry) -> None:
        """A call has its answer."""
        tool = registry.behind(done.record.name)
        self._has_result |= done.done.result.ok and tool is not None and tool.changes

    def closed(self, not_done: NotDone | None) -> list[PlanStep] | None:
        """The steps at the end of a completed turn, None where they stay as they are.

        A step in progress failed if something of the turn did, is completed if it changed or ran
        something, and else is skipped, as is every step that was not begun.
        """
        status: StepStatus = "completed" if self._has_result else "skipped"
        if not_done is not None:
            status = "failed"
        ends: dict[StepStatus, StepStatus] = {"in_progress": status, "pending": "skipped"}
        closed = [
            each.model_copy(update={"status": ends.get(each.status, each.status)})
            for each in self.steps
        ]
        return closed if closed != self.steps else None


def _with(steps: Sequence[PlanStep], status: StepStatus) -> list[str]:
    return [each.description for each in steps if each.status == status]
