"""The plan as the model writes it: requested by schema, parsed, and checked against the tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from ...models.types import ModelError
from ...protocol.base import Audience
from ...protocol.errors import AgentError
from ...protocol.fences import fences
from ...protocol.json_text import parse_json
from ...protocol.plans import Plan, PlanStep
from ...protocol.services import IntentDetection
from ...protocol.tools import ToolError, ToolResult
from ...services.action import Action
from ...services.questions import questions_of
from ...services.workflow_action import WorkflowAction
from ...tools.dispatcher import Dispatcher
from ...tools.registry import Tool, ToolRegistry
from ...tools.result import Dispatched
from ..actions.proposals import find_action, model_values
from ..history import Item
from ..model_calls.call import ModelAnswer
from ..model_calls.caller import ModelCaller
from ..request import TurnRequest
from ..runtime import Runtime
from ..tool_calls.scheduler import FinishedCall, finished, run_group
from . import messages
from .runner import PlanRunner

# The actions that may be steps of a plan: those that the planner is offered, and their names.


NOBODY = (
    "Actions need a form. Use the Agent panel in JupyterLab, a terminal, or chat/stream with "
    "runsActions."
)


class KnownActions:
    """The actions of the installed services. Those of services that may suit the task are offered
    if services are detected (``detection``) and someone can run them: a page, or a program that
    says so (``runs_actions``)."""

    def __init__(
        self,
        runtime: Runtime,
        request: TurnRequest,
        detection: IntentDetection,
        audience: Audience,
    ) -> None:
        self._runtime = runtime
        self._task = request.text
        self._offers = detection == "auto"
        listens = audience == "stream" and request.chat.runs_actions
        self.can_run = audience == "page" or listens

    @cached_property
    def offered(self) -> dict[str, type[Action]]:
        """The actions that the planner is offered, by their names in a plan."""
        if not (self._offers and self.can_run):
            return {}
        return {
            f"{service.id}/{action.id}": action
            for service in self._runtime.router().services_in(self._task)
            for action in service.actions
            if not issubclass(action, WorkflowAction)
        }

    @property
    def lines(self) -> list[str]:
        """The offered actions, a line each, with the names of their parameters."""
        return [_line(name, action) for name, action in self.offered.items()]

    def find(self, name: str) -> tuple[str, str, type[Action]]:
        """The ids of the service and of the action, and the action. Raises ``AgentError``, which
        lists what exists."""
        service_id, _, action_id = name.strip().lower().lstrip("/").partition("/")
        return (
            service_id,
            action_id,
            find_action(self._runtime.service_registry(), service_id, action_id),
        )

    def check(self, name: str, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The action's name and its parameters without secrets, as a plan has them. Raises
        ``AgentError``, which says what is wrong."""
        if not self.can_run:
            raise AgentError("invalid_request", NOBODY)
        service_id, action_id, action = self.find(name)
        if issubclass(action, WorkflowAction):
            raise AgentError("invalid_request", "It is a plan itself. Plan its steps by tools.")
        return f"{service_id}/{action_id}", model_values(action, given)


def _line(name: str, action: type[Action]) -> str:
    questions = questions_of(action.Parameters)
    parameters = ", ".join(each.name for each in questions if not each.secret)
    return f"{name}({parameters}): {action.title}"


MAX_STEPS = 30
MAX_CALLS_OF_A_STEP = 3

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "steps": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "description": {"type": "string"},
                    "toolCalls": {
                        "type": "array",
                        "items": {"type": "string"},
                        "minItems": 1,
                        "maxItems": MAX_CALLS_OF_A_STEP,
                    },
                    "dependencies": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["description", "toolCalls"],
            },
        },
        "requiredTools": {"type": "array", "items": {"type": "string"}},
        "estimatedDuration": {"type": "string"},
    },
    "required": ["steps", "requiredTools"],
}
"""The schema of the answer (as ``text.format`` of the Responses API)."""


def schema_with(actions: Sequence[str]) -> dict[str, Any]:
    """The schema with these actions, which a step may name instead of tool calls."""
    if not actions:
        return SCHEMA
    step = SCHEMA["properties"]["steps"]["items"]
    more = {"action": {"enum": list(actions)}, "parameters": {"type": "object"}}
    one = {**step, "properties": {**step["properties"], **more}, "required": ["description"]}
    steps = {**SCHEMA["properties"]["steps"], "items": one}
    return {**SCHEMA, "properties": {**SCHEMA["properties"], "steps": steps}}


class InvalidPlan(Exception):
    """What is wrong with a plan, with how to correct it."""


class _Lenient(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")


class _Step(_Lenient):
    description: str = Field(min_length=1)
    tool_calls: list[str] = []
    action: str | None = None
    parameters: dict[str, Any] | None = None
    dependencies: list[int] | None = None


class _Draft(_Lenient):
    steps: list[_Step] = Field(min_length=1, max_length=MAX_STEPS)
    required_tools: list[str] = Field(
        default=[], validation_alias=AliasChoices("requiredTools", "required_tools")
    )
    estimated_duration: str | int | float | None = None


def read_plan(
    text: str,
    task: str,
    registry: ToolRegistry,
    allowed: Sequence[str],
    actions: KnownActions,
    *,
    leaves_out_unknown: bool = False,
) -> Plan:
    """The plan in a model's answer; ``allowed`` are the names of the message's tools.
    ``leaves_out_unknown``: drop tools that do not exist, since the step's text is carried out, and
    dependencies on steps that are not earlier ones.

    Raises ``InvalidPlan``.
    """
    try:
        draft = _Draft.model_validate(_json_in(text))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {each['msg']}"
            for each in error.errors(include_url=False)
        )
        raise InvalidPlan(f"The plan does not follow the schema: {problems}.") from error
    for step in draft.steps:
        step.action = step.action or _only_action(step, registry, actions)
    if leaves_out_unknown:
        _leave_out_unknown(draft, registry)
    else:
        _check_tools(draft, registry, actions)
    steps = [
        _action_step(index, step, actions)
        if step.action
        else _checked(index, step, registry, allowed)
        for index, step in enumerate(draft.steps)
    ]
    named = [name for step in steps for name in step.tool_calls]
    duration = draft.estimated_duration
    return Plan(
        task=task,
        steps=steps,
        required_tools=list(dict.fromkeys(named)),
        estimated_duration=None if duration is None else str(duration),
    )


def check_steps(
    steps: Sequence[PlanStep], registry: ToolRegistry, allowed: Sequence[str], actions: KnownActions
) -> list[PlanStep]:
    """A user's steps, with the tools' own names. Raises ``InvalidPlan``.

    A user need not name tools: the model follows the step's text.
    """
    if len(steps) > MAX_STEPS:
        raise InvalidPlan(f"A plan has at most {MAX_STEPS} steps.")
    checked = []
    for number, step in enumerate(steps, start=1):
        if not step.description.strip():
            raise InvalidPlan(f"Step {number} is empty. Describe it, or remove it.")
        where = f"Step {number}"
        names = [_tool_name(where, name, registry, allowed) for name in step.tool_calls]
        action, parameters = _action_of(where, step.action, step.parameters, actions)
        checked.append(
            PlanStep(
                description=step.description,
                tool_calls=names,
                action=action,
                parameters=parameters,
            )
        )
    return checked


def keep_actions(steps: Sequence[PlanStep], before: Sequence[PlanStep]) -> list[PlanStep]:
    """The steps of an edited plan, with the action that each had before. A step with another text
    is a new one, which the model carries out."""
    known = {each.description: each for each in before if each.action is not None}
    return [
        step
        if (old := known.get(step.description)) is None or step.status != "pending"
        else step.model_copy(
            update={
                "action": old.action,
                "parameters": old.parameters,
                "proposal_id": old.proposal_id,
                "tool_calls": [],
            }
        )
        for step in steps
    ]


def keep_dependencies(
    steps: Sequence[PlanStep], given: Sequence[PlanStep], before: Sequence[PlanStep]
) -> list[PlanStep]:
    """The steps of an edited plan with the indices of those that each one needs: as ``given``, or
    as ``before``, where steps with the same text are the same.

    If a needed step is gone or has another text, the dependencies are unknown; one that was moved
    after this step is no longer needed.
    """
    places = {step.description: index for index, step in reversed(list(enumerate(steps)))}
    kept = []
    for index, step in enumerate(steps):
        needed = _needed(step.description, given)
        if needed is None:
            needed = _needed(step.description, before)
        dependencies = None
        if needed is not None and all(each in places for each in needed):
            dependencies = sorted({places[each] for each in needed if places[each] < index})
        kept.append(step.model_copy(update={"dependencies": dependencies}))
    return kept


def _needed(description: str, steps: Sequence[PlanStep]) -> list[str] | None:
    """The descriptions of the steps that this one needs, if they are given."""
    step = next((each for each in steps if each.description == description), None)
    if step is None or step.dependencies is None:
        return None
    return [steps[n].description for n in step.dependencies if 0 <= n < len(steps)]


def _json_in(text: str) -> Any:
    fenced = next(fences(text), None)
    body = fenced.code if fenced is not None else text
    begin, end = body.find("{"), body.rfind("}")
    if begin < 0 or end < begin:
        raise InvalidPlan("The answer holds no JSON object. Answer with the JSON object alone.")
    try:
        return parse_json(body[begin : end + 1], strict=False)
    except ValueError as error:
        raise InvalidPlan(f"The plan is not valid JSON: {error}.") from error


def _checked(index: int, step: _Step, registry: ToolRegistry, allowed: Sequence[str]) -> PlanStep:
    where = f"steps.{index}"
    names = [_tool_name(where, name, registry, allowed) for name in step.tool_calls]
    _check_dependencies(where, index, step)
    if len(names) > MAX_CALLS_OF_A_STEP:
        raise InvalidPlan(
            f"{where} has {len(names)} tool calls; a step has at most {MAX_CALLS_OF_A_STEP}. "
            "Make more steps of it."
        )
    return PlanStep(
        description=" ".join(step.description.split()),
        tool_calls=names,
        dependencies=step.dependencies,
    )


def _only_action(step: _Step, registry: ToolRegistry, actions: KnownActions) -> str | None:
    """The offered action that a step names as its only tool, which small models do."""
    if len(step.tool_calls) != 1:
        return None
    return _action_named(step.tool_calls[0], registry, actions)


def _action_named(name: str, registry: ToolRegistry, actions: KnownActions) -> str | None:
    """The offered action with this name, with or without its service, if no other action and no
    tool has it."""
    if _behind(name, registry) is not None:
        return None
    bare = _bare(name)
    found = [each for each in actions.offered if bare in (each, each.partition("/")[2])]
    return found[0] if len(found) == 1 else None


def _check_tools(draft: _Draft, registry: ToolRegistry, actions: KnownActions) -> None:
    """Raises ``InvalidPlan`` if a step has no tools, or has an action among them."""
    for index, step in enumerate(draft.steps):
        if step.action:
            continue
        if not step.tool_calls:
            raise InvalidPlan(
                f"steps.{index}.toolCalls is empty. Name the tools that the step uses."
            )
        for name in step.tool_calls:
            if (action := _action_named(name, registry, actions)) is not None:
                raise InvalidPlan(
                    f"steps.{index}: {name!r} is an action, not a tool. Give it as "
                    f'"action": "{action}", alone in a step without toolCalls.'
                )


def _leave_out_unknown(draft: _Draft, registry: ToolRegistry) -> None:
    for index, step in enumerate(draft.steps):
        step.tool_calls = [each for each in step.tool_calls if _behind(each, registry)]
        if step.dependencies is not None:
            step.dependencies = [each for each in step.dependencies if 0 <= each < index]


def _action_step(index: int, step: _Step, actions: KnownActions) -> PlanStep:
    where = f"steps.{index}"
    _check_dependencies(where, index, step)
    action, parameters = _action_of(where, step.action, step.parameters, actions)
    return PlanStep(
        description=" ".join(step.description.split()),
        action=action,
        parameters=parameters,
        dependencies=step.dependencies,
    )


def _action_of(
    where: str, name: str | None, given: dict[str, Any] | None, actions: KnownActions
) -> tuple[str | None, dict[str, Any] | None]:
    if name is None:
        return None, None
    try:
        return actions.check(name, given or {})
    except AgentError as error:
        raise InvalidPlan(f"{where} names the action {name!r}. {error.message}") from error


def _check_dependencies(where: str, index: int, step: _Step) -> None:
    for other in step.dependencies or []:
        if not 0 <= other < index:
            raise InvalidPlan(
                f"{where}.dependencies names {other}; it may name earlier steps only, "
                f"by their index from 0."
            )


def _bare(name: str) -> str:
    # Models write a call instead of a name: addNotebookCell(...)
    return name.partition("(")[0].strip()


def _behind(name: str, registry: ToolRegistry) -> Tool | None:
    return registry.behind(_bare(name))


def _tool_name(where: str, name: str, registry: ToolRegistry, allowed: Sequence[str]) -> str:
    tool = _behind(name, registry)
    if tool is not None and tool.name in allowed:
        return tool.name
    problem = "does not exist" if tool is None else "cannot be used with this message"
    raise InvalidPlan(f"{where}: the tool {name!r} {problem}. The tools are {', '.join(allowed)}.")


# Asks the model for a plan.


PLAN_ATTEMPTS = 2
UPDATE_PLAN = "updatePlan"


class PlanQuery:
    """Asks for the plan of a turn, during which ``open`` is True. ``on_answered`` is called with
    the calls that the model makes anyway."""

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
        """Take the steps that the model gave to ``updatePlan`` when asked for a plan."""
        self._noted_steps = [step.model_copy(update={"status": "pending"}) for step in steps]
        return self._noted_steps

    async def ask(self) -> Plan | None:
        """The model's plan, after one correction if invalid; None if it has none.

        A corrected plan may still name tools that do not exist, since small models repeat them.
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
        """The plan that the answer writes, with the names of its tools, or the steps of its
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
                # Not every server accepts a schema; the prompt describes it, too.
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
