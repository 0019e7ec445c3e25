"""The user's decisions on a plan: approve, edit or reject a proposed one, pause a running one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ...protocol.errors import AgentError
from ...protocol.ops import PlanDecision
from ...protocol.plans import PlanStep
from ..approvals.pending import approval_timeout
from ..turn.ends import TurnEnds
from . import messages
from .draft import InvalidPlan, check_steps, keep_dependencies
from .runner import PlanRunner
from .template_plan import TemplatePlan

WAITING = ("proposed", "paused")
NOBODY = "Plans cannot be approved over this route."


class PlanDecisions:
    """Waits for the user's decisions on the plan of a turn, and takes them."""

    def __init__(self, turn: PlanRunner, templates: TemplatePlan) -> None:
        self._turn = turn
        self._templates = templates
        self._pause_asked = False
        self._decision: asyncio.Future[PlanDecision | None] | None = None

    @property
    def waits(self) -> bool:
        """Whether a decision is open."""
        return self._decision is not None and not self._decision.done()

    def pause(self) -> None:
        """Wait for the user at the end of the current step."""
        if self._turn.plan is None or self._turn.plan.state != "running":
            raise AgentError("invalid_request", "No plan is running.")
        self._pause_asked = True

    def take(self, decision: PlanDecision) -> None:
        """The user decides on a waiting plan. Raises ``AgentError``; then it keeps waiting."""
        if self._decision is None or self._decision.done() or self._turn.plan is None:
            raise AgentError("invalid_request", "No plan is waiting for a decision.")
        if decision.decision == "edit":
            self._edit(decision.steps or [])
        self._decision.set_result(decision)

    async def propose(self) -> None:
        """Show the plan; wait for the user where the request or the policy says so."""
        request = self._turn.request
        if not (request.plan_first or self._turn.settings.approval_policy == "always"):
            await self._turn.show("running")
            return
        await self._turn.show("proposed")
        if self._turn.audience == "none":
            await self._turn.show("rejected")
            assert self._turn.plan is not None
            raise TurnEnds(
                "error",
                f"The plan was not carried out: it needs approval. {NOBODY}\n\n"
                f"{messages.numbered(self._turn.plan.steps)}",
            )
        await self.wait()

    async def pause_here(self) -> None:
        if self._pause_asked:
            self._pause_asked = False
            await self._turn.show("paused")
            await self.wait()

    async def wait(self) -> None:
        """Wait until the user lets the plan continue. Ends the turn if they reject it."""
        assert self._turn.plan is not None
        was_paused = self._turn.plan.state == "paused"
        try:
            decision = await asyncio.wait_for(self.open(), approval_timeout(self._turn.audience))
        except asyncio.TimeoutError:
            decision = None
        finally:
            self._decision = None
            self._turn.session.waiting.changed()
        if decision is None or decision.decision == "reject":
            await self._turn.show("stopped" if was_paused else "rejected")
            why = "Nobody decided in time." if decision is None else "You rejected the plan."
            raise TurnEnds("interrupted", f"{why} Nothing more was done.")
        await self._turn.show("running")
        if decision.decision == "edit":
            await self._turn.add_user_message(messages.decided(self._turn.plan))

    def open(self) -> asyncio.Future[PlanDecision | None]:
        """Accept a decision from now on, even before anybody awaits it."""
        if self._decision is None:
            self._decision = asyncio.get_running_loop().create_future()
            self._turn.session.waiting.changed()
        return self._decision

    def _edit(self, given: Sequence[PlanStep]) -> None:
        """Replace the steps that are not done by the user's."""
        assert self._turn.plan is not None
        done = [step for step in self._turn.plan.steps if step.status == "completed"]
        kept = {step.description for step in done}
        wanted = [
            step for step in given if step.status != "completed" or step.description not in kept
        ]
        allowed = [
            tool.name for tool in self._turn.request.gate.allowed(self._turn.services.registry)
        ]
        try:
            steps = check_steps(wanted, self._turn.services.registry, allowed)
        except InvalidPlan as error:
            raise AgentError("invalid_request", str(error)) from error
        if not done and not steps:
            raise AgentError("invalid_request", "A plan needs a step. Reject it instead.")
        self._templates.check(steps)
        self._turn.failed_steps.clear()  # their steps are repeated, or gone
        edited = [*done, *steps]
        self._turn.plan.steps = keep_dependencies(edited, given, self._turn.plan.steps)
        named = [name for step in edited for name in step.tool_calls]
        self._turn.plan.required_tools = list(dict.fromkeys(named))
