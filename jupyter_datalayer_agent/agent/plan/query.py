"""Asking the model for a plan."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ...models.types import ModelError
from ...protocol.plans import Plan, PlanStep
from ...protocol.tools import ToolError, ToolResult
from ...tools.dispatcher import Dispatcher
from ...tools.result import Dispatched
from ..history.history import Item
from ..model_calls.call import ModelAnswer
from ..model_calls.caller import ModelCaller
from ..tool_calls.scheduler import FinishedCall, finished, run_group
from . import messages
from .draft import InvalidPlan, check_steps, read_plan, schema_with
from .known_actions import KnownActions
from .runner import PlanRunner

PLAN_ATTEMPTS = 2
UPDATE_PLAN = "updatePlan"


class PlanQuery:
    """Asks for the plan of a turn. ``open`` is True meanwhile; ``on_answered`` is called with the
    calls that the model makes nevertheless."""

    def __init__(
        self,
        turn: PlanRunner,
        caller: ModelCaller,
        dispatcher: Dispatcher,
        on_answered: Callable[[FinishedCall], Awaitable[None]],
        actions: KnownActions,
    ) -> None:
        self.open = False
        self._turn = turn
        self._caller = caller
        self._dispatcher = dispatcher
        self._on_answered = on_answered
        self._actions = actions
        self._schema_refused = False
        self._noted_steps: list[PlanStep] | None = None

    def note(self, steps: Sequence[PlanStep]) -> Sequence[PlanStep]:
        """The steps that the model gave to ``updatePlan`` when it was asked for a plan."""
        self._noted_steps = [step.model_copy(update={"status": "pending"}) for step in steps]
        return self._noted_steps

    async def ask(self) -> Plan | None:
        """The model's plan, after one correction if invalid; None if it has none.

        A corrected plan may still name tools that do not exist: small models keep to them.
        """
        await self._turn.add_user_message(messages.plan_request(self._actions.lines))
        for attempt in range(PLAN_ATTEMPTS):
            answer = await self._answer()
            try:
                return self._plan_in(answer, is_last=attempt + 1 == PLAN_ATTEMPTS)
            except InvalidPlan as error:
                if attempt + 1 < PLAN_ATTEMPTS:
                    await self._turn.add_user_message(messages.not_valid(str(error)))
        return None

    def _plan_in(self, answer: ModelAnswer, *, is_last: bool) -> Plan:
        """The plan that the answer writes, which names its tools, or the steps of its
        ``updatePlan``. Raises ``InvalidPlan``."""
        registry = self._turn.request.tools
        allowed = [tool.name for tool in self._turn.request.gate.allowed(registry)]
        try:
            return read_plan(
                answer.text,
                self._turn.request.text,
                registry,
                allowed,
                self._actions,
                leaves_out_unknown=is_last,
            )
        except InvalidPlan:
            if self._noted_steps is None:
                raise
        steps = check_steps(self._noted_steps, registry, allowed, self._actions)
        return Plan(task=self._turn.request.text, steps=steps)

    async def _answer(self) -> ModelAnswer:
        """The model's answer to the request for a plan; all its calls are answered."""
        self.open = True
        self._noted_steps = None
        try:
            await self._turn.emit_status("Planning")
            try:
                answer = await self._query()
            except ModelError as error:
                # Not every server takes a schema; the prompt describes it too.
                if error.code != "bad_request" or self._schema_refused:
                    raise
                self._schema_refused = True
                answer = await self._query()
            for call in answer.calls:
                await self._on_answered(await self._call_while_planning(call))
        finally:
            self.open = False
        return answer

    async def _query(self) -> ModelAnswer:
        schema = None if self._schema_refused else schema_with(list(self._actions.offered))
        return await self._caller.ask(quiet=True, tool_choice="none", output_schema=schema)

    async def _call_while_planning(self, call: Item) -> FinishedCall:
        """Answer the calls of a model that ignores ``tool_choice``. Only ``updatePlan`` is
        allowed."""
        entry = self._turn.request.tools.find(call["name"])
        if entry is not None and entry.name == UPDATE_PLAN:
            return (await run_group(self._dispatcher, [call]))[0]
        error = ToolError(code="not_allowed", message="Not carried out. First the plan.")
        result = ToolResult(ok=False, name=call["name"], error=error)
        return finished(call, Dispatched(result, "Not done: first the plan"))
