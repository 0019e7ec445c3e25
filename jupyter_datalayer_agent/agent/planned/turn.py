"""A turn that carries out a plan: propose → decide → each step: do, verify, recover → sum up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...models.types import ModelError, ModelRequest
from ...protocol import events
from ...protocol.errors import AgentError
from ...protocol.ops import PlanDecision
from ...protocol.plans import Plan, PlanState, PlanStep, StepStatus
from ...workflows.template import StepFailed
from ..calls import FinishedCall
from ..history import Item, assistant_item, output_item, user_item
from ..turn import Restored, Turn, TurnEnds
from ..waiting import patience
from ..watch import Failure, StepWatch, Verified, run_failure, verify
from . import words
from .draft import SCHEMA, InvalidPlan, check_steps, read_plan
from .left import Left
from .own_calls import OwnCalls
from .recovery import Recovery
from .repair import Repairs
from .templates import TemplatePlan

if TYPE_CHECKING:
    from ..session import LiveSession
    from ..settings import Settings
    from ..targets import Submission
    from ..waiting import Audience

PLAN_ATTEMPTS = 2
WAITING = ("proposed", "paused")
NOBODY = "Over this route nobody can approve a plan."


class PlannedTurn(Turn):
    """Carries out a plan of the model's, or a template's where there is no model or no plan.

    ``resumed`` is a plan that stopped earlier: it goes on with its first step that is not done.
    """

    def __init__(
        self,
        session: LiveSession,
        about: Submission,
        settings: Settings,
        audience: Audience,
        op_id: str | None,
        resumed: Plan | None = None,
        restored: Restored | None = None,
    ) -> None:
        super().__init__(session, about, settings, audience, op_id, restored)
        self.plan = resumed
        self.own = OwnCalls(self._make_dispatcher(None), self.emit, self._own_call_done)
        self.repairs = Repairs(
            self.services.notebooks,
            self.services.find_fixes,
            self.own,
            about.request.client_id,
        )
        self._left = Left(resumed if restored is None else None)
        self._all = StepWatch()
        self._no_model: str | None = None
        self._templates = TemplatePlan(self)
        self._asking_for_plan = False
        self._schema_refused = False
        self._pause_asked = False
        self._decision: asyncio.Future[PlanDecision | None] | None = None
        self._run_failure: Failure | None = None
        # The step in the middle of which the turn waited when its server ended.
        self._in_step: int | None = None
        if restored is not None and resumed is not None and resumed.state in WAITING:
            self._open_decision()

    # -- what is asked of it from outside ------------------------------------------------------

    def pause(self) -> None:
        """Wait for the person at the end of the current step."""
        if self.plan is None or self.plan.state != "running":
            raise AgentError("invalid_request", "No plan is being carried out.")
        self._pause_asked = True

    def decide(self, decision: PlanDecision) -> None:
        """The person's decision on a plan that waits. Raises ``AgentError``; it waits on then."""
        if self._decision is None or self._decision.done() or self.plan is None:
            raise AgentError("invalid_request", "No plan waits for a decision.")
        if decision.decision == "edit":
            self._edit(decision.steps or [])
        self._decision.set_result(decision)

    @property
    def waits(self) -> bool:
        """See ``Turn.waits``; a plan may wait, too."""
        return super().waits or (self._decision is not None and not self._decision.done())

    @property
    def has_model(self) -> bool:
        """Whether a model can be asked."""
        return self._no_model is None

    # -- run -----------------------------------------------------------------------------------

    async def _prepare(self) -> None:
        try:
            await super()._prepare()
        except AgentError as error:
            if error.code != "no_model":
                raise
            self._no_model = error.message
            self.model = ""

    async def _work(self) -> None:
        try:
            if self.plan is None:
                self.plan = await self._make_plan()
                await self._propose()
            elif self._restored is None:
                await self._take_up()
            else:
                await self._go_on_waiting(self.plan)
            while (index := self.plan.next_step) is not None:
                await self._pause_here()
                await self._carry_out(index)
            await self._sum_up()
        except (asyncio.CancelledError, TurnEnds, ModelError, AgentError):
            if not self.leaving:
                await self._stop_plan()
            raise

    async def _make_plan(self) -> Plan:
        workflow = self.about.request.workflow
        if workflow is not None:
            return await self._templates.make(workflow)
        reason = self._no_model
        if reason is None:
            try:
                plan = await self._ask_for_plan()
                if plan is not None:
                    plan.notebook = self.about.gate.target
                    return plan
                reason = "The model gave no plan that could be carried out."
            except ModelError as error:
                reason = error.message
        return await self._templates.instead(reason)

    async def _ask_for_plan(self) -> Plan | None:
        """The model's plan; asked once more with what was wrong; None where it has none."""
        allowed = [tool.name for tool in self.about.gate.allowed(self.services.registry)]
        await self.tell_model(words.PLAN)
        for attempt in range(PLAN_ATTEMPTS):
            text = await self._planned_text()
            try:
                return read_plan(text, self.about.text, self.services.registry, allowed)
            except InvalidPlan as error:
                if attempt + 1 < PLAN_ATTEMPTS:
                    await self.tell_model(words.not_valid(str(error)))
        return None

    async def _planned_text(self) -> str:
        self._asking_for_plan = self.quiet = True
        try:
            await self.say("Planning")
            try:
                answer = await self._query()
            except ModelError as error:
                # Not every server takes a schema; the prompt says the same in words.
                if error.code != "bad_request" or self._schema_refused:
                    raise
                self._schema_refused = True
                answer = await self._query()
        finally:
            self._asking_for_plan = self.quiet = False
        refused = [
            output_item(call["call_id"], "Not carried out: first the plan, as JSON.")
            for call in answer.calls
        ]
        if refused:
            await self._keep_items(refused)
        return answer.text

    def _request(self) -> ModelRequest:
        request = super()._request()
        if not self._asking_for_plan:
            return request
        schema = None if self._schema_refused else SCHEMA
        return replace(request, tool_choice="none", output_schema=schema)

    # -- deciding ------------------------------------------------------------------------------

    async def _propose(self) -> None:
        """Show the plan; wait for the person where the request or the policy says so."""
        about = self.about
        if not (about.plan_first or self.settings.approval_policy == "always"):
            await self.show("running")
            return
        await self.show("proposed")
        if self.audience == "none":
            await self.show("rejected")
            assert self.plan is not None
            raise TurnEnds(
                "error",
                f"The plan was not carried out: it needs approval. {NOBODY}\n\n"
                f"{words.numbered(self.plan.steps)}",
            )
        await self._wait_for_decision()

    async def _go_on_waiting(self, plan: Plan) -> None:
        """The server was started again while the turn waited."""
        await self._templates.take_up()
        if plan.state in WAITING:
            await self._wait_for_decision()
        else:
            self._in_step = plan.next_step

    async def _pause_here(self) -> None:
        if self._pause_asked:
            self._pause_asked = False
            await self.show("paused")
            await self._wait_for_decision()

    async def _wait_for_decision(self) -> None:
        """Wait until the person lets the plan go on. Ends the turn when they do not."""
        assert self.plan is not None
        was_paused = self.plan.state == "paused"
        try:
            decision = await asyncio.wait_for(self._open_decision(), patience(self.audience))
        except asyncio.TimeoutError:
            decision = None
        finally:
            self._decision = None
            self.session.waiting.changed()
        if decision is None or decision.decision == "reject":
            await self.show("stopped" if was_paused else "rejected")
            why = "Nobody decided in time." if decision is None else "You rejected the plan."
            raise TurnEnds("interrupted", f"{why} Nothing more was done.")
        await self.show("running")
        if decision.decision == "edit":
            await self.tell_model(words.decided(self.plan))

    def _open_decision(self) -> asyncio.Future[PlanDecision | None]:
        """From now on a decision is taken, also before anybody awaits it."""
        if self._decision is None:
            self._decision = asyncio.get_running_loop().create_future()
            self.session.waiting.changed()
        return self._decision

    def _edit(self, given: Sequence[PlanStep]) -> None:
        """Take the person's steps in place of those that are not done."""
        assert self.plan is not None
        done = [step for step in self.plan.steps if step.status == "completed"]
        kept = {step.description for step in done}
        wanted = [
            step for step in given if step.status != "completed" or step.description not in kept
        ]
        allowed = [tool.name for tool in self.about.gate.allowed(self.services.registry)]
        try:
            steps = check_steps(wanted, self.services.registry, allowed)
        except InvalidPlan as error:
            raise AgentError("invalid_request", str(error)) from error
        if not done and not steps:
            raise AgentError("invalid_request", "A plan needs a step. Reject it instead.")
        self._templates.check(steps)
        self.plan.steps = [*done, *steps]

    # -- the steps -----------------------------------------------------------------------------

    async def _carry_out(self, index: int) -> None:
        assert self.plan is not None
        step = self.plan.steps[index]
        self.watch = StepWatch()
        self._run_failure = None
        recovery = Recovery(self, index)
        if self._in_step != index:
            await self._set(index, "in_progress")
            await self.emit(
                events.StepStarted(
                    index=index, total=len(self.plan.steps), description=step.description
                )
            )
        try:
            if self._templates.has(step):
                verified = await self._templates.carry_out(index, recovery)
            else:
                verified = await self._ask_model_to(index, recovery)
        except StepFailed as failed:
            await recovery.give_up(failed.message)
            await self._fail(index, failed, recovery.tried)
        await self._set(index, "completed")
        await self.emit(
            events.StepFinished(index=index, success=True, message=verified.words().capitalize())
        )
        self._all.add(self.watch)

    async def _ask_model_to(self, index: int, recovery: Recovery) -> Verified:
        """The model carries the step out. Raises ``StepFailed``."""
        assert self.plan is not None
        if not self.has_model:
            raise StepFailed(f"This step needs a model. {self._no_model}")
        if self._in_step == index:
            await self._answer_open_calls()
        else:
            await self.tell_model(words.step_prompt(self.plan, index))
        self._in_step = None
        while True:
            nothing_more = await self._step()
            failure, self._run_failure = self._run_failure, None
            if failure is None and not nothing_more:
                continue
            if failure is None:
                result = await self.verify()
                if isinstance(result, Verified):
                    await recovery.succeeded()
                    return result
                failure = result
            await recovery.begin(failure)

    async def model_repairs(self) -> None:
        """Let the model work until it asks for nothing more, or a run fails again."""
        while self._run_failure is None and not await self._step():
            pass

    async def verify(self) -> Verified | Failure:
        """Whether what this step touched is as its calls said."""
        return await verify(self.watch, self.services.notebooks, self.about.request.client_id)

    async def _fail(self, index: int, failed: StepFailed, tried: Sequence[str]) -> None:
        assert self.plan is not None
        why = failed.message
        await self._set(index, "failed", tell=False)
        self._all.add(self.watch)
        await self.emit(events.StepFinished(index=index, success=False, message=why))
        await self.show("stopped")
        if failed.told is not None:
            # What ends the turn is part of the conversation, which the model may be shown.
            why, tried = failed.told, [words.A_FIX for _ in tried]
        raise TurnEnds("error", words.stopped(self.plan, index, why, tried))

    async def _answered(self, done: FinishedCall) -> None:
        await super()._answered(done)
        self._note_failure(done)

    async def _own_call_done(self, done: FinishedCall) -> None:
        self._records[done.record.call_id] = done.record
        self.watch.note(done, self.about.gate.target)
        self._note_failure(done)

    def _note_failure(self, done: FinishedCall) -> None:
        failure = run_failure(done, self.about.gate.target)
        if failure is not None:
            self._run_failure = failure
            if self.plan is not None:
                self._left.note(self.plan, failure)

    async def _offer_fixes(self) -> None:
        """The recovery of a step has told of them."""

    def take_run_failure(self) -> Failure | None:
        """The run that failed since this was last asked."""
        failure, self._run_failure = self._run_failure, None
        return failure

    # -- the plan on the page and in the database ----------------------------------------------

    async def show(self, state: PlanState) -> None:
        """Keep and tell the plan as it stands."""
        assert self.plan is not None
        self.plan.state = state
        plan = self.plan
        event = events.PlanUpdated(
            steps=plan.steps,
            state=state,
            required_tools=plan.required_tools,
            estimated_duration=plan.estimated_duration,
            workflow=plan.workflow.id if plan.workflow else None,
        )

        async def write(written: Sequence[events.BaseEvent]) -> None:
            await self.services.store.save_plan(self.session.id, self.id, plan, events=written)

        await self.session.channel.emit(write, event, self.id)

    async def _set(self, index: int, status: StepStatus, *, tell: bool = True) -> None:
        assert self.plan is not None
        self.plan.steps[index] = self.plan.steps[index].model_copy(update={"status": status})
        if tell:
            await self.show(self.plan.state)

    async def _stop_plan(self) -> None:
        """The turn ends with the plan unfinished: it can be taken up again."""
        if self.plan is None or self.plan.state not in ("running", "paused", "proposed"):
            return
        self.plan.steps = [
            step.model_copy(update={"status": "pending"}) if step.status == "in_progress" else step
            for step in self.plan.steps
        ]
        await self.show("stopped")

    async def _take_up(self) -> None:
        """Go on with a plan that stopped."""
        assert self.plan is not None
        notebook = self.plan.notebook
        if notebook is not None and notebook not in self.about.gate.targets:
            raise TurnEnds(
                "error",
                f"The plan works on {notebook}. Open it, so that it is the active tab, and send "
                "“continue” again.",
            )
        self.plan.steps = [
            step if step.status == "completed" else step.model_copy(update={"status": "pending"})
            for step in self.plan.steps
        ]
        await self._templates.take_up()
        await self.show("running")
        if self.has_model and self.plan.next_step is not None:
            await self.tell_model(words.go_on(self.plan, self.plan.next_step))

    async def _sum_up(self) -> None:
        assert self.plan is not None
        await self.show("completed")
        good = sum(status == "ok" for status in self._all.runs.values())
        text = words.summary(
            self.plan,
            Verified(len(self._all.changed), good),
            self._changes,
            time.monotonic() - self._began,
            self._asking.usage,
            await self._left.words(self.plan, self.services.notebooks, self.about),
        )
        remark = await self._templates.remark()
        if remark is not None:
            text = f"{remark}\n\n{text}"
        await self._keep_items([assistant_item(text)])
        self._reply = f"{self._reply}\n\n{text}" if self._reply else text

    # -- what the model is told ----------------------------------------------------------------

    async def tell_model(self, text: str) -> None:
        """Add a message of ours to the conversation."""
        await self._keep_items([user_item(text)])

    async def _keep_items(self, items: Sequence[Item]) -> None:
        self._keep(items)
        await self.emit(None, items=items)
