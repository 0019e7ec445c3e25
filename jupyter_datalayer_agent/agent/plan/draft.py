"""The plan as the model writes it: requested by schema, parsed, and checked against the tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from ...protocol.errors import AgentError
from ...protocol.fences import fences
from ...protocol.json_text import parse_json
from ...protocol.plans import Plan, PlanStep
from ...tools.registry import Tool, ToolRegistry
from .known_actions import KnownActions

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
    """The same, where a step may be one of these actions in place of calls of tools."""
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
    """The plan in a model's answer; ``allowed`` are the names of the tools of this message.
    ``leaves_out_unknown``: tools that do not exist are left out, since a step is carried out by its
    text, and dependencies on steps that are not earlier ones.

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
            raise InvalidPlan(f"Step {number} says nothing. Describe it, or remove it.")
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
    """The steps of an edited plan, with the action that each was before; another text is another
    step, which the model carries out."""
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
    """The steps of an edited plan with what each needs, by its place in them: as ``given`` says, or
    as it was ``before``, steps being the same where their texts are.

    If a needed step is gone or has another text, the dependencies are unknown; one that was moved
    behind is no longer needed.
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
    """The offered action that a step names as its only tool, as small models do."""
    if len(step.tool_calls) != 1:
        return None
    return _action_named(step.tool_calls[0], registry, actions)


def _action_named(name: str, registry: ToolRegistry, actions: KnownActions) -> str | None:
    """The offered action of this name, with its service or without, where no other one and no tool
    has it."""
    if _behind(name, registry) is not None:
        return None
    bare = _bare(name)
    found = [each for each in actions.offered if bare in (each, each.partition("/")[2])]
    return found[0] if len(found) == 1 else None


def _check_tools(draft: _Draft, registry: ToolRegistry, actions: KnownActions) -> None:
    """Raises ``InvalidPlan`` for a step without tools, or with an action among them."""
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
                    f"steps.{index}: {name!r} is no tool but an action. Give it as "
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
