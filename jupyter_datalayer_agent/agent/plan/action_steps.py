"""Steps that are actions of services: proposed when they are due, and run by the user."""

from __future__ import annotations

from ...protocol import events
from ...protocol.errors import AgentError
from ...protocol.ops import RunAction
from ...protocol.plans import PlanStep
from ...protocol.services import ActionCall
from ...services.action import Action, ActionFailed
from ...services.matcher import Matcher
from ...services.questions import Filler
from ...workflows.template import StepFailed
from ..actions.context import ReadingContext, RunningContext
from ..actions.filler import ModelFiller
from ..actions.proposals import ActionRun, propose
from ..open_proposal import OpenProposal
from ..tool_calls.verification import Verified
from . import messages
from .decisions import PlanDecisions
from .draft import NOBODY, KnownActions
from .runner import PlanRunner

FROM_PLAN = "the plan"


class ActionSteps:
    """Proposes a step's action, waits for the user, and runs it. Its calls ask for no further
    approval, since the user started it."""

    def __init__(self, turn: PlanRunner, known: KnownActions, decisions: PlanDecisions) -> None:
        self._turn = turn
        self._known = known
        self._decisions = decisions

    async def carry_out(self, index: int) -> str | None:
        """The result of the action, once the user has run it; None if they skipped the step or
        changed the plan. Raises ``StepFailed``."""
        plan = self._turn.plan
        assert plan is not None
        step = plan.steps[index]
        assert step.action is not None
        if not self._known.can_run:
            raise StepFailed(f"{step.action}: {NOBODY}")
        service_id, action_id, action = self._find(step.action)
        if plan.state != "waiting":
            await self._propose(index, service_id, action)
        decision = await self._decisions.wait()
        if isinstance(decision, RunAction):
            call = ActionCall(
                service=service_id, action=action_id, proposal_id=decision.proposal_id
            )
            output = await self._run(call, action, decision)
            said = messages.ran_action(index, len(plan.steps), output)
            await self._turn.add_user_message(said)
            return output
        if decision.decision == "skip":
            said = messages.skipped_action(index, len(plan.steps))
            await self._turn.add_user_message(said)
            plan.steps[index] = plan.steps[index].model_copy(update={"status": "skipped"})
            await self._turn.show("running")
        return None

    def _find(self, name: str) -> tuple[str, str, type[Action]]:
        """Raises ``StepFailed`` if the package is no longer installed."""
        try:
            return self._known.find(name)
        except AgentError as error:
            raise StepFailed(error.message) from error

    async def _propose(self, index: int, service_id: str, action: type[Action]) -> None:
        """Show the proposal, and wait from then on, even across a restart of the server."""
        turn = self._turn
        assert turn.plan is not None
        step = turn.plan.steps[index]
        matcher = Matcher(
            ReadingContext(turn.runtime, turn.request.gate.active, turn.request.chat.client_id)
        )
        opened = await self._dry_run(step, service_id, action, matcher)
        if not opened.proposal.complete and turn.ask_apart is not None:
            filler = ModelFiller(turn.ask_apart, matcher)
            opened = await self._dry_run(step, service_id, action, filler)
        proposal = opened.proposal
        for each in proposal.parameters:
            if each.found and each.source is None and not each.secret:
                each.source = FROM_PLAN
        turn.plan.steps[index] = step.model_copy(update={"proposal_id": proposal.proposal_id})
        fields = {name: getattr(proposal, name) for name in type(proposal).model_fields}
        await turn.emit(events.ActionProposed(**fields))
        await turn.show("waiting")

    async def _dry_run(
        self, step: PlanStep, service_id: str, action: type[Action], filler: Filler
    ) -> OpenProposal:
        """What is known about the action; nothing is executed."""
        request = self._turn.request
        return await propose(
            self._turn.runtime,
            service_id,
            action,
            step.description,
            step.parameters or {},
            notebook=request.gate.active,
            client_id=request.chat.client_id,
            filler=filler,
            proposal_id=step.proposal_id,
        )

    async def _run(self, call: ActionCall, action: type[Action], given: RunAction) -> str:
        """Run it, and check the files that it reports."""
        turn = self._turn
        client_id = turn.request.chat.client_id
        context = RunningContext(
            turn.session, turn.request.gate.active, client_id, turn.own.of_the_user()
        )
        try:
            result = await ActionRun(call, action(context), turn.emit).run(given.parameters)
            for path in result.paths:
                if not (await context.path(path)).exists():
                    raise ActionFailed(f"{path} should have been written, but does not exist.")
                turn.watch.files.append(path)
        except ActionFailed as error:
            raise StepFailed(str(error)) from error
        read = await turn.verify()
        if not isinstance(read, Verified):
            raise StepFailed(read.message, read.cell_id, read.redacted)
        return result.output
