"""A turn that carries out a plan: propose → decide → each step: do, verify, recover → summarise."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ...models.types import ModelError
from ...protocol import events
from ...protocol.base import Audience
from ...protocol.errors import AgentError, ErrorCode
from ...protocol.ops import Pause, PlanDecision, Resume, RunAction
from ...protocol.plans import Plan, PlanState, PlanStep, StepStatus
from ...protocol.renames import Rename
from ...protocol.requests import ChatRequest
from ...protocol.tools import NotDone
from ...protocol.turn_view import PLAN_WAITS
from ...protocol.workflows import WorkflowOffer
from ...settings.turn_settings import Settings
from ...store.records import StoredPlan
from ...workflows.template import StepFailed
from ..actions.filler import Ask, cheap_asker
from ..history import Item, assistant_item, user_item
from ..request import TurnRequest
from ..runtime import Runtime
from ..state import SessionState
from ..tool_calls.own_calls import OwnCalls
from ..tool_calls.scheduler import FinishedCall
from ..tool_calls.verification import Failure, StepWatch, Verified, read_back, run_failure, verify
from ..turn.ends import TurnEnds, error_code
from ..turn.loop import Turn
from ..turn.record import Restored
from . import messages
from .action_steps import ActionSteps
from .decisions import OVER, PlanDecisions
from .draft import KnownActions, PlanQuery
from .recovery import Recovery, UnresolvedErrors
from .template_plan import TemplatePlan


class PlannedTurn(Turn):
    """Carries out the model's plan, or a named workflow if there is no model or no plan. Without a
    model, every message has this turn.

    ``resumed`` is a plan that stopped earlier: it continues with the first step that is not done.
    """

    def __init__(
        self,
        session: SessionState,
        request: TurnRequest,
        settings: Settings,
        audience: Audience,
        op_id: str | None,
        resumed: Plan | None = None,
        restored: Restored | None = None,
    ) -> None:
        super().__init__(session, request, settings, audience, op_id, restored)
        self.plan = resumed
        self.own = OwnCalls(self._make_dispatcher(None), self.emit, self._own_call_done)
        self._left = UnresolvedErrors(resumed if restored is None else None)
        self._all = StepWatch()
        self._no_model: str | None = None
        self._templates = TemplatePlan(self)
        actions = KnownActions(self.runtime, request, settings.intent_detection, audience)
        self._plan_query = PlanQuery(self, self._caller, self._dispatcher, self._answered, actions)
        self._decisions = PlanDecisions(self, self._templates, actions)
        self._actions = ActionSteps(self, actions, self._decisions)
        self._run_failure: Failure | None = None
        self._written: NotDone | None = None
        self.failed_steps: list[messages.FailedStep] = []
        # The step at which the turn waited when its server ended.
        self._in_step: int | None = None
        if restored is not None and resumed is not None and resumed.state in PLAN_WAITS:
            self._decisions.open()

    def renamed(self, rename: Rename) -> bool:
        """See ``Turn.renamed``."""
        self._all.renamed(rename)
        self._left.renamed(rename)
        if self.plan is not None:
            self.plan.notebook = rename.optional(self.plan.notebook)
            rename.rekey(self.plan.failed_cells)
        return super().renamed(rename)

    # -- called from outside --------------------------------------------------------------------

    def pause(self) -> None:
        """Wait for the user at the end of the current step."""
        self._decisions.pause()

    def decide(self, decision: PlanDecision) -> None:
        """Take the user's decision on a waiting plan. If it raises ``AgentError``, the plan keeps
        waiting."""
        self._decisions.take(decision)

    def run_action(self, op: RunAction) -> bool:
        """Run a step's action for the user; False if the plan has no such step. Raises
        ``AgentError`` if the plan is not waiting for it."""
        return self._decisions.take_run(op)

    @property
    def waits(self) -> bool:
        """See ``Turn.waits``; a plan may wait, too."""
        return super().waits or self._decisions.waits

    @property
    def has_model(self) -> bool:
        """Whether a model can be asked."""
        return self._no_model is None

    @cached_property
    def ask_apart(self) -> Ask | None:
        """Asks the model outside of the conversation; None if there is none."""
        if not self.has_model:
            return None
        return cheap_asker(self.runtime.model, self.model, self.settings, self._usage.count)

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
        if self.plan is None and self.has_model and not self.request.planned:
            await super()._work()  # a model was connected in the meantime
            return
        try:
            if self.plan is None:
                self.plan = await self._make_plan()
                if self.plan is None:
                    return
                await self._decisions.propose()
            elif self._restored is None:
                await self._resume_plan()
            else:
                await self._resume_waiting_plan(self.plan)
            while (index := self.plan.next_step) is not None:
                await self._decisions.pause_here()
                await self._carry_out(index)
            if self.failed_steps:
                await self.show("stopped")
                raise TurnEnds("error", messages.stopped(self.plan, self.failed_steps))
            await self._sum_up()
        finally:
            # A plan that is over is not affected.
            if not self.leaving:
                await self._stop_plan()

    async def _make_plan(self) -> Plan | None:
        """The plan; None if the message was answered without one."""
        workflow = self.request.chat.workflow
        if workflow is not None:
            return await self._templates.make(workflow)
        if self._no_model is not None:
            return await self._templates.instead(self._no_model)
        try:
            plan = await self._plan_query.ask()
        except ModelError as error:
            # If the model refused the key, is at its limit or is down, the user retries.
            if error_code(error) != "no_model":
                raise
            self._no_model = error.message
            return await self._templates.instead(error.message)
        if plan is None:
            return await self._templates.instead(
                "The model made no plan that could be carried out."
            )
        plan.notebook = self.request.gate.document
        return plan

    async def _update_plan(
        self, steps: Sequence[PlanStep], explanation: str | None
    ) -> Sequence[PlanStep]:
        """While a plan is requested, take these steps as the plan; only the server updates a
        running plan."""
        if self._plan_query.open:
            return self._plan_query.note(steps)
        if self.plan is not None:
            return self.plan.steps
        return await super()._update_plan(steps, explanation)

    async def _resume_waiting_plan(self, plan: Plan) -> None:
        """Continue after a restart of the server."""
        await self._templates.resume()
        self.failed_steps = [
            messages.FailedStep(index, "It failed before the server was restarted.", ())
            for index, step in enumerate(plan.steps)
            if step.status == "failed"
        ]
        if plan.state in ("proposed", "paused"):
            await self._decisions.wait()
        else:
            self._in_step = plan.next_step

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
            if step.action is not None:
                self._in_step = None
                said = await self._actions.carry_out(index)
                if said is None:
                    return
            elif self._templates.has(step):
                said = (await self._templates.carry_out(index, recovery)).summary()
            else:
                said = (await self._ask_model_to(index, recovery)).summary()
        except StepFailed as failed:
            await recovery.give_up(failed.message)
            await self._fail(index, failed, recovery.tried)
            return
        await self._set(index, "completed")
        message = said[:1].upper() + said[1:]
        await self.emit(events.StepFinished(index=index, success=True, message=message))
        self._all.add(self.watch)

    async def _ask_model_to(self, index: int, recovery: Recovery) -> Verified:
        """Let the model carry out the step. Raises ``StepFailed``."""
        assert self.plan is not None
        if not self.has_model:
            raise StepFailed(f"This step needs a model. {self._no_model}")
        if self._in_step == index:
            await self._answer_open_calls()
        else:
            await self.add_user_message(messages.step_prompt(self.plan, index))
        self._in_step = None
        while True:
            nothing_more = await self._step()
            failure = self.take_run_failure()
            if failure is None and nothing_more:
                result = self.watch.only_wrote(self.record.call_as_text) or await self.verify()
                if isinstance(result, Verified):
                    self._written = self._written or self.record.call_as_text
                    await recovery.succeeded()
                    return result
                failure = result
            if failure is not None:
                await recovery.begin(failure)

    async def let_model_fix(self) -> None:
        """Let the model work until it makes no more calls, or a run fails again."""
        while self._run_failure is None and not await self._step():
            pass

    async def verify(self) -> Verified | Failure:
        """Check that everything this step touched matches what its calls reported."""
        return await verify(self.watch, self.runtime.notebooks, self.request.chat.client_id)

    async def _fail(self, index: int, failed: StepFailed, tried: Sequence[str]) -> None:
        """Record that the step failed: steps that need it are skipped, others are done."""
        why = failed.message
        await self._set(index, "failed")
        self._all.add(self.watch)
        await self.emit(events.StepFinished(index=index, success=False, message=why))
        if failed.redacted is not None:
            # The error becomes part of the conversation, which the model reads.
            why, tried = failed.redacted, [messages.A_FIX for _ in tried]
        self.failed_steps.append(messages.FailedStep(index, why, tried))

    async def _answered(self, done: FinishedCall) -> None:
        await super()._answered(done)
        self._note_failure(done)

    async def _own_call_done(self, done: FinishedCall) -> None:
        self.record.calls[done.record.call_id] = done.record
        self.watch.note(done, self.request.gate.document)
        self._note_failure(done)

    def _note_failure(self, done: FinishedCall) -> None:
        failure = run_failure(done, self.request.gate.document)
        if failure is not None:
            self._run_failure = failure
            if self.plan is not None:
                self._left.note(self.plan, failure)

    def _find_not_done(self) -> NotDone | None:
        """Every step that is marked done was verified; other calls that it wrote as text were not
        carried out."""
        return super()._find_not_done() if self.plan is None else self._written

    async def _offer_fixes(self) -> None:
        """A step's recovery offers them."""

    def take_run_failure(self) -> Failure | None:
        """The run that failed since the last call of this method."""
        failure, self._run_failure = self._run_failure, None
        return failure

    # -- the plan on the page and in the database ----------------------------------------------

    async def show(self, state: PlanState) -> None:
        """Store and emit the plan in its current state."""
        assert self.plan is not None
        self.plan.state = state
        plan = self.plan
        tools = [self.request.tools.behind(name) for name in plan.required_tools]
        event = events.PlanUpdated(
            steps=plan.steps,
            state=state,
            required_tools=plan.required_tools,
            required_tool_labels={
                tool.name: tool.label.action for tool in tools if tool and tool.label
            },
            estimated_duration=plan.estimated_duration,
            workflow=plan.workflow.id if plan.workflow else None,
        )
        await self.runtime.store.plans.save(self.session.id, self.id, plan, events=[event])

    async def _set(self, index: int, status: StepStatus) -> None:
        assert self.plan is not None
        self.plan.steps[index] = self.plan.steps[index].model_copy(update={"status": status})
        await self.show(self.plan.state)

    async def _stop_plan(self) -> None:
        """End the turn with the plan unfinished, so that it can be resumed."""
        if self.plan is None or self.plan.state not in ("running", *PLAN_WAITS):
            return
        self.plan.steps = [
            step.model_copy(update={"status": "pending"}) if step.status == "in_progress" else step
            for step in self.plan.steps
        ]
        await self.show("stopped")

    async def _resume_plan(self) -> None:
        """Continue with a plan that stopped."""
        assert self.plan is not None
        notebook = self.plan.notebook
        gate = self.request.gate
        if notebook is not None and notebook not in (*gate.targets, *gate.lexical_targets):
            raise TurnEnds(
                "error",
                f"The plan works on {notebook}. Open it so that it is the active tab, then send "
                "“continue” again.",
            )
        self.plan.steps = [
            step if step.status in OVER else step.model_copy(update={"status": "pending"})
            for step in self.plan.steps
        ]
        await self._templates.resume()
        await self.show("running")
        if self.has_model and self.plan.next_step is not None:
            await self.add_user_message(messages.go_on(self.plan, self.plan.next_step))

    async def _sum_up(self) -> None:
        assert self.plan is not None
        await self.show("completed")
        result = await read_back(self._all, self.runtime.notebooks, self.request.chat.client_id)
        text = messages.summary(
            self.plan,
            result.summary() if isinstance(result, Verified) else result.message,
            [*self.record.changes, *self._all.blocks],
            self.record.seconds,
            self._usage.total,
            await self._left.messages(self.plan, self.runtime.notebooks, self.request),
            self._all.files,
        )
        remark = await self._templates.remark()
        if remark is not None:
            text = f"{remark}\n\n{text}"
        await self._keep_items([assistant_item(text)])
        record = self.record
        record.reply = f"{record.reply}\n\n{text}" if record.reply else text

    # -- without a plan ------------------------------------------------------------------------

    @property
    def unanswered(self) -> ErrorCode:
        """The error code for a message with neither plan nor answer."""
        return "model_error" if self.has_model else "no_model"

    def offer(self, offers: Sequence[WorkflowOffer], message: str) -> None:
        """End the turn with this offer."""
        self.record.offers = list(offers)
        self.record.reply = message

    # -- messages to the model ------------------------------------------------------------------

    async def add_user_message(self, text: str) -> None:
        """Add a message of the agent's to the conversation."""
        await self._keep_items([user_item(text)])

    async def _keep_items(self, items: Sequence[Item]) -> None:
        self._keep(items)
        await self.emit(None, items=items)


# The user steers a plan: pauses, decides, resumes.


NOTHING = "Nothing to continue: the last plan is complete. Send a new instruction."
RESUMABLE = ("stopped", "running", "paused", "waiting")
"""States of a plan whose turn ended too early."""


async def steer(
    runtime: Runtime, session_id: str, turn: Turn | None, op: PlanDecision | Pause | Resume
) -> ChatRequest | None:
    """Carry out the op on the running turn's plan. For a plan that stopped, returns the request
    that resumes it. Raises ``AgentError`` if there is no such plan."""
    if isinstance(turn, PlannedTurn):
        if isinstance(op, Pause):
            turn.pause()
        elif isinstance(op, PlanDecision):
            turn.decide(op)
        else:
            turn.decide(PlanDecision(decision="approve"))
        return None
    if not isinstance(op, Resume) or turn is not None:
        raise AgentError("invalid_request", "No plan is running.")
    stopped = await stopped_plan(runtime, session_id)
    if stopped is None:
        raise AgentError("not_found", "There is no stopped plan in this session.")
    return stopped.request.model_copy(
        update={
            "message": "continue",
            "workflow": None,
            "plan_first": None,
            "client_id": op.client_id or stopped.request.client_id,
        }
    )


def runs_step(turn: Turn | None, op: RunAction) -> bool:
    """Whether the action is a step of the running plan, which continues with it. Raises
    ``AgentError`` if the plan is not waiting for it."""
    return isinstance(turn, PlannedTurn) and turn.run_action(op)


async def stopped_plan(runtime: Runtime, session_id: str) -> StoredPlan | None:
    """The last plan, if it stopped early (or its server died)."""
    stored = await runtime.store.plans.last(session_id)
    return stored if stored is not None and stored.plan.state in RESUMABLE else None


async def last_plan_is_done(runtime: Runtime, session_id: str) -> bool:
    """Whether the session's last plan was completed."""
    stored = await runtime.store.plans.last(session_id)
    return stored is not None and stored.plan.state == "completed"


class NothingToContinue(PlannedTurn):
    """Answers a "continue" after a completed plan: it must not become a new plan."""

    async def _work(self) -> None:
        await self._keep_items([assistant_item(NOTHING)])
        self.record.reply = NOTHING
