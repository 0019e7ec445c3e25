"""The user's decisions on a plan: approve, edit or reject a proposed one, pause a running one, and
run or skip the action that it waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ...protocol.errors import AgentError
from ...protocol.ops import PlanDecision, RunAction
from ...protocol.plans import PlanStep
from ..approvals import approval_timeout
from ..turn.ends import TurnEnds
from . import messages
from .draft import InvalidPlan, KnownActions, check_steps, keep_actions, keep_dependencies
from .runner import PlanRunner
from .template_plan import TemplatePlan

NOBODY = "Plans cannot be approved over this route."
WAITS_FOR_ACTION = "The plan waits for its action. Run it in its form, skip the step, or stop."
RUN_ALREADY = "The action of this step was already run or skipped."

OVER = ("completed", "skipped")
Decided = PlanDecision | RunAction


class PlanDecisions:
    """Waits for and takes the user's decisions on a turn's plan."""

    def __init__(self, turn: PlanRunner, templates: TemplatePlan, actions: KnownActions) -> None:
        self._turn = turn
        self._templates = templates
        self._actions = actions
        self._pause_asked = False
        self._decision: asyncio.Future[Decided | None] | None = None

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
        """Take the user's decision on a waiting plan. If it raises ``AgentError``, the plan keeps
        waiting."""
        if self._decision is None or self._decision.done() or self._turn.plan is None:
            raise AgentError("invalid_request", "No plan is waiting for a decision.")
        is_waiting = self._turn.plan.state == "waiting"
        if decision.decision == "approve" and is_waiting:
            raise AgentError("invalid_request", WAITS_FOR_ACTION)
        if decision.decision == "skip" and not is_waiting:
            raise AgentError("invalid_request", "The plan is not waiting for an action.")
        if decision.decision == "edit":
            self._edit(decision.steps or [])
        self._decision.set_result(decision)

    def take_run(self, run: RunAction) -> bool:
        """Take an action that the user runs; False if it is not a step of the plan. Raises
        ``AgentError`` if the plan is not waiting for it."""
        plan = self._turn.plan
        steps = [] if plan is None else plan.steps
        index = next((n for n, s in enumerate(steps) if s.proposal_id == run.proposal_id), None)
        if plan is None or index is None:
            return False
        if plan.state != "waiting" or index != plan.next_step or not self.waits:
            raise AgentError("invalid_request", RUN_ALREADY)
        assert self._decision is not None
        self._decision.set_result(run)
        return True

    async def propose(self) -> None:
        """Show the plan, and wait for the user if the request or the policy says so."""
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

    async def wait(self) -> Decided:
        """Wait until the user lets the plan continue. Returns the decision, or ends the turn if
        they reject it."""
        assert self._turn.plan is not None
        was_running = self._turn.plan.state != "proposed"
        try:
            decision = await asyncio.wait_for(self.open(), approval_timeout(self._turn.audience))
        except asyncio.TimeoutError:
            decision = None
        finally:
            self._decision = None
            self._turn.session.waiting.changed()
        if decision is None or (decision.type == "plan_decision" and decision.decision == "reject"):
            await self._turn.show("stopped" if was_running else "rejected")
            why = "No one decided in time." if decision is None else "You rejected the plan."
            raise TurnEnds("interrupted", f"{why} Nothing more was done.")
        await self._turn.show("running")
        if decision.type == "plan_decision" and decision.decision == "edit":
            await self._turn.add_user_message(messages.decided(self._turn.plan))
        return decision

    def open(self) -> asyncio.Future[Decided | None]:
        """Accept a decision from now on, even before it is awaited."""
        if self._decision is None:
            self._decision = asyncio.get_running_loop().create_future()
            self._turn.session.waiting.changed()
        return self._decision

    def _edit(self, given: Sequence[PlanStep]) -> None:
        """Replace the steps that are not done with the user's."""
        assert self._turn.plan is not None
        before = self._turn.plan.steps
        done = [step for step in before if step.status in OVER]
        kept = {step.description for step in done}
        wanted = [step for step in given if step.status not in OVER or step.description not in kept]
        allowed = [tool.name for tool in self._turn.request.gate.allowed(self._turn.request.tools)]
        try:
            steps = check_steps(wanted, self._turn.request.tools, allowed, self._actions)
        except InvalidPlan as error:
            raise AgentError("invalid_request", str(error)) from error
        if not done and not steps:
            raise AgentError("invalid_request", "A plan needs at least one step. Or reject it.")
        self._templates.check(steps)
        self._turn.failed_steps.clear()  # their steps are repeated or gone
        edited = [*done, *keep_actions(steps, before)]
        self._turn.plan.steps = keep_dependencies(edited, given, before)
        named = [name for step in edited for name in step.tool_calls]
        self._turn.plan.required_tools = list(dict.fromkeys(named))
