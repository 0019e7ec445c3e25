"""Runs of actions, and steps of a plan that are actions: proposed when they are due, and run by the
user."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NoReturn

from ...models.types import ModelError
from ...protocol import events
from ...protocol.errors import AgentError
from ...protocol.ops import RunAction
from ...protocol.plans import PlanStep
from ...protocol.services import ActionCall
from ...services.action import Action, ActionFailed, ActionResult, ActionStopped
from ...services.dry_run import DryRun, dry_run, without
from ...services.matcher import Matcher
from ...services.questions import Filler
from ...workflows.template import StepFailed
from ..actions.context import ReadingContext, RunningContext
from ..actions.filler import ModelFiller
from ..actions.proposals import propose
from ..event_buffer import Emit
from ..open_proposal import OpenProposal
from ..tool_calls.verification import Verified
from ..turn.ends import TurnEnds
from . import messages
from .decisions import PlanDecisions
from .draft import NOBODY, KnownActions
from .runner import PlanRunner

# Runs an action with the values of its form: checked and reported.


log = logging.getLogger(__name__)


class ActionRun:
    """Runs one action, and emits its start, its progress and its end."""

    def __init__(self, call: ActionCall, action: Action, emit: Emit) -> None:
        self._call = call
        self._action = action
        self._emit = emit
        self._secrets: list[str] = []

    async def run(
        self,
        given: Mapping[str, Any] | None,
        *,
        execute: Callable[[Any], Awaitable[ActionResult]] | None = None,
        is_left: Callable[[], bool] = lambda: False,
    ) -> ActionResult:
        """Run it with the values ``given``; None if they were not saved. Its result contains no
        secret. ``execute`` is called with the parameters instead of the action's own method.
        ``is_left``: a cancelled run is not over but continues after a restart of the server.

        Raises ``ActionFailed`` with a message to show, and whatever ``execute`` ends a turn with.
        """
        await self._start()
        try:
            if given is None:
                raise ActionFailed(FORGOTTEN)
            parameters = await self._check(given)
            act = execute or self._execute
            result = await act(parameters)
        except asyncio.CancelledError as stopped:
            if not is_left():
                said = stopped.said if isinstance(stopped, ActionStopped) else ""
                said = without(self._secrets, said)
                await asyncio.shield(self._finish("cancelled", said))
            raise
        except (TurnEnds, AgentError, ModelError) as ended:
            await self._finish("error", error=ended.message)
            raise
        except ActionFailed as error:
            await self._fail(str(error))
        except (Exception, SystemExit):  # noqa: BLE001 - a package's code may raise anything
            trace = without(self._secrets, traceback.format_exc())
            log.error(
                "The action %s of %s failed\n%s", self._call.action, self._call.service, trace
            )
            await self._fail("The action failed with an internal error. See the server log.")
        result = ActionResult(without(self._secrets, result.output), list(result.paths))
        await self._finish("ok", result.output, list(result.paths))
        return result

    async def _execute(self, parameters: Any) -> ActionResult:
        result = await self._action.execute(parameters, self._progress)
        if not isinstance(result, ActionResult):
            raise TypeError(f"{self._call.action} returned {type(result).__name__}")
        return result

    async def _check(self, given: Mapping[str, Any]) -> Any:
        """The form's parameters, as the action takes them. Raises ``ActionFailed``, which says what
        is wrong with which."""
        found = await dry_run(self._action, "", given, Matcher(self._action.context))
        # Secrets are removed from what the action says before it is stored or logged.
        self._secrets = [str(given[name]) for name in found.secrets if given.get(name)]
        return _parameters_of(found)

    async def _start(self) -> None:
        await self._emit(
            events.ActionStarted(
                service=self._call.service,
                action=self._call.action,
                title=self._action.title,
                proposal_id=self._call.proposal_id,
            )
        )

    async def _progress(self, message: str, fraction: float | None = None) -> None:
        if fraction is not None:
            fraction = min(1.0, max(0.0, fraction))
        message = without(self._secrets, message)
        await self._emit(events.ActionProgress(message=message, fraction=fraction))

    async def _finish(
        self,
        status: Any,
        output: str = "",
        paths: list[str] | None = None,
        error: str | None = None,
    ) -> None:
        await self._emit(
            events.ActionFinished(status=status, output=output, paths=paths or [], error=error)
        )

    async def _fail(self, message: str) -> NoReturn:
        message = without(self._secrets, message)
        await self._finish("error", error=message)
        raise ActionFailed(message)


FORGOTTEN = (
    "The form's values weren't saved, because they may include secrets. Open the form of the "
    "proposal again."
)


def _parameters_of(found: DryRun) -> Any:
    problems = [each.problem for each in found.asked if each.problem is not None]
    missing = [
        each.question.prompt
        for each in found.asked
        if each.answer is None and each.question.required and each.problem is None
    ]
    if missing:
        problems.append(f"Required: {', '.join(missing)}.")
    if found.problem is not None:
        problems.append(found.problem)
    if problems:
        raise ActionFailed(" ".join(problems))
    if found.parameters is None:
        raise ActionFailed("The form is incomplete.")
    return found.parameters


# Steps of a plan that are actions.


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
