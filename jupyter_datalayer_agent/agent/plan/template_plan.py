"""Plans made from a template: it is chosen, its parameters are completed, its steps are run."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from pydantic import ValidationError

from ...notebook.cells_of import cells_of
from ...notebook.document import DocumentError
from ...notebook.files.kinds import is_lexical, noun
from ...opening import check_place
from ...protocol import events
from ...protocol.cells import PageCell
from ...protocol.errors import AgentError
from ...protocol.limits import compared
from ...protocol.plans import Plan, PlanStep, WorkflowCall
from ...protocol.services import Intent
from ...protocol.workflows import FixInfo, WorkflowOffer
from ...services.dry_run import dry_run
from ...services.matcher import Matcher
from ...services.routing import Router, text_of_action
from ...services.workflow_action import WorkflowAction, workflow_action
from ...tools.context import ToolFailure
from ...tools.ranking import Ranking
from ...workflows.template import StepFailed, Template, TemplateStep
from ..actions.context import ReadingContext
from ..intent import Offered, says_only
from ..request import confined
from ..runtime import Runtime
from ..tool_calls.verification import Failure, Verified
from ..turn.ends import TurnEnds
from . import messages
from .recovery import Recovery
from .runner import PlanRunner
from .template_run import TOOLS, LexicalTemplateRun, ToolTemplateRun, document_name, is_for_lexical

# The parameters of a template, as far as they are known without asking anyone.


@dataclass(frozen=True)
class MissingParameter:
    """A parameter to ask for, by its name in camelCase; ``options`` has the likeliest first."""

    name: str
    question: str
    options: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class KnownParameters:
    """``values`` are by their names in camelCase; ``sources`` are the words of the task that they
    were taken from."""

    values: dict[str, Any]
    missing: list[MissingParameter]
    sources: list[str]


async def known_parameters(
    turn: PlanRunner, template: Template, task: str, given: Mapping[str, Any]
) -> KnownParameters:
    """What the task has of the template's parameters; those ``given`` (in either spelling) stay as
    they are."""
    request, runtime = turn.request, turn.runtime
    action = workflow_action(template)(
        ReadingContext(runtime, request.gate.document, request.chat.client_id)
    )
    fields = template.parameters.model_fields
    named = {name: info.alias or name for name, info in fields.items()}
    before = {
        name: given.get(name, given.get(alias))
        for name, alias in named.items()
        if name in given or alias in given
    }
    # Without a text, only a form's notebook would be looked for.
    found = await dry_run(action, task.strip() or template.name, before, Matcher(action.context))
    values = {named[name]: value for name, value in found.values.items() if name not in before}
    values = {**values, **given}
    missing = []
    for name, info in fields.items():
        if info.is_required() and values.get(name) is None and values.get(named[name]) is None:
            options = await action.options(name, {}) or []
            about = info.description or f"{named[name]}?"
            question = f"{template.name} needs “{named[name]}”: {about}"
            missing.append(MissingParameter(named[name], question, [str(each) for each in options]))
    sources = [each.answer.source for each in found.asked if each.answer and each.answer.source]
    return KnownParameters(values, missing, sources)


async def _check_data(runtime: Runtime, data: str) -> None:
    """Raise ``AgentError`` for what the workflow's code is not to read: what a link hides, and a
    pipe, for which it would wait."""
    root = runtime.notebooks.root_dir
    if root is None:
        return
    try:
        path = await runtime.notebooks.confine(await confined(runtime, data))
        await asyncio.to_thread(check_place, os.path.join(root, path), root)
    except DocumentError as error:
        raise AgentError("invalid_request", error.message, error.hint) from error
    except OSError as error:
        raise AgentError("invalid_request", f"{data} {error.strerror or error}.") from error


# Without a model, or where it made no plan: a workflow that the task names, or an offer of those
# that are near. An offer changes and runs nothing.


def named_template(task: str, templates: Iterable[Template]) -> tuple[Template, str] | None:
    """The template whose name or id the task begins with, and the rest of the task."""
    words = task.strip()
    names = [(name, each) for each in templates for name in (each.name, each.id)]
    for name, template in sorted(names, key=lambda each: -len(each[0])):
        rest = words[len(name) :]
        if words.casefold().startswith(name.casefold()) and not re.match(r"\w", rest):
            return template, rest
    return None


def near(task: str, templates: Iterable[Template], actions: Router) -> list[Template | Intent]:
    """The workflows and the services' other actions that share most with the task's words, the
    nearest first."""
    known = {each.id: each for each in templates}
    texts = {
        id_: " ".join([id_, each.name, each.description, *each.keywords])
        for id_, each in known.items()
    }
    others: dict[str, Intent] = {}
    for service in actions.registry:
        for action in service.actions:
            if not issubclass(action, WorkflowAction):
                key = f"{service.id}/{action.id}"
                others[key] = Intent(service=service.id, subcommand=action.id, confidence=0.5)
                texts[key] = text_of_action(action)
    ranked = Ranking(texts).rank(compared(task))
    return [known.get(each.key) or others[each.key] for each in ranked if each.distinctive]


MOST_OFFERED = 2


async def offer(turn: PlanRunner, reason: str) -> NoReturn:
    """End the turn with an offer of what is nearest to its task: workflows, or actions; if nothing
    is near, with a list of all workflows."""
    registry = turn.runtime.service_registry()
    found = near(turn.request.text, turn.runtime.templates(), turn.runtime.router())
    if found and not isinstance(found[0], Template):
        intents = [each for each in found[:MOST_OFFERED] if not isinstance(each, Template)]
        offers = Offered(None, intents).offers(registry)
        await turn.emit(events.ActionsOffered(text=messages.ACTIONS_OFFERED, offers=offers))
        turn.offer([], messages.offered_actions(offers))
        raise TurnEnds("error", reason, turn.unanswered)
    templates = [each for each in found if isinstance(each, Template)][:MOST_OFFERED]
    await offer_workflows(turn, templates, reason)


async def offer_workflows(turn: PlanRunner, templates: Sequence[Template], reason: str) -> NoReturn:
    """End the turn with an offer of these workflows; if there are none, with a list of all."""
    code = turn.unanswered
    offers = [await _offer_of(turn, template) for template in templates]
    if not offers:
        names = [each.name for each in turn.runtime.templates()]
        raise TurnEnds("error", f"{reason} {messages.nothing_close(names)}", code)
    message = messages.offered(offers)
    await turn.emit(events.WorkflowsOffered(offers=offers, message=message))
    turn.offer(offers, message)
    raise TurnEnds("error", reason, code)


async def _offer_of(turn: PlanRunner, template: Template) -> WorkflowOffer:
    known = await known_parameters(turn, template, turn.request.text, {})
    say = messages.ask_for(template.name, known.values)
    meant = await _meant(turn, say)
    is_whole = meant is not None and meant == (template, known.values)
    return WorkflowOffer(
        id=template.id,
        name=template.name,
        description=template.description,
        parameters=known.values,
        missing=[each.name for each in known.missing],
        say=f"agent: {say}" if is_whole and not known.missing else None,
    )


async def _meant(turn: PlanRunner, task: str) -> tuple[Template, dict[str, Any]] | None:
    """The workflow that the task asks for without any doubt, and its parameters: its name, and
    nothing else but values."""
    found = named_template(task, turn.runtime.templates())
    if found is None:
        return None
    template, rest = found
    known = await known_parameters(turn, template, rest, {})
    return (template, known.values) if says_only(rest, known.sources) else None


FIX_ERROR = "fix-error"
"""The workflow that carries out an error fix, as the page's button asks for it."""


class TemplatePlan:
    """The template behind a turn's plan, if there is one."""

    def __init__(self, turn: PlanRunner) -> None:
        self._turn = turn
        self._template: Template | None = None
        self._parameters: Any = None
        self._steps: list[TemplateStep] = []
        self._fix: FixInfo | None = None

    # -- choosing ------------------------------------------------------------------------------

    async def make(self, call: WorkflowCall) -> Plan:
        """The plan of a workflow that was requested by its id."""
        if call.id == FIX_ERROR:
            return await self._fix_plan(call)
        template = self._find(call.id)
        return await self._plan(template, call.parameters)

    async def instead(self, reason: str) -> Plan:
        """The plan of the workflow that the message names, if there is no model or it made no plan.

        Otherwise ends the turn with an offer of workflows that are near, which are never started.
        """
        turn = self._turn
        meant = await _meant(turn, turn.request.text)
        if meant is None:
            await offer(turn, reason)
        template, values = meant
        if turn.request.mode != "agent":
            await offer_workflows(turn, [template], reason)
        await turn.emit(
            events.Warning_(
                code="template_instead",
                message=f"{reason} The workflow “{template.name}” is carried out; it needs no "
                "model.",
            )
        )
        return await self._plan(template, values)

    def _find(self, template_id: str) -> Template:
        template = self._turn.runtime.templates().find(template_id)
        if template is None:
            names = ", ".join(each.id for each in self._turn.runtime.templates())
            raise AgentError(
                "not_found", f"There is no workflow {template_id!r}. There are: {names}."
            )
        return template

    async def _plan(self, template: Template, given: dict[str, Any]) -> Plan:
        parameters = await self._complete(template, given)
        self._use(template, parameters)
        return Plan(
            task=self._turn.request.text,
            steps=[
                PlanStep(description=step.description, tool_calls=self._tools(step.tools))
                for step in self._steps
            ],
            required_tools=self._tools(template.required_tools),
            workflow=WorkflowCall(
                id=template.id,
                parameters=parameters.model_dump(mode="json", by_alias=True, exclude_none=True),
            ),
        )

    async def _fix_plan(self, call: WorkflowCall) -> Plan:
        """A one-step plan: the fix ``fixId`` (else the likeliest) of the failed cell ``cellId``."""
        turn = self._turn
        path = turn.request.gate.document
        cell_id = call.parameters.get("cellId")
        if path is None or not isinstance(cell_id, str):
            raise TurnEnds(
                "error",
                "Name the cell or block (cellId) of the active document.",
                "invalid_request",
            )
        fixes = await turn.fixes_of(Failure("", path, cell_id))
        wanted = call.parameters.get("fixId")
        fix = next((each for each in fixes if wanted in (None, each.id)), None)
        if fix is None:
            raise TurnEnds("error", f"No known fix for this {noun(path)}.", "not_found")
        self._fix = fix
        step = PlanStep(description=fix.title, tool_calls=[each.name for each in fix.calls])
        return Plan(
            task=turn.request.text,
            steps=[step],
            required_tools=list(dict.fromkeys(step.tool_calls)),
            notebook=path,
            workflow=call,
        )

    def _tools(self, names: Sequence[str]) -> list[str]:
        """The tools of a step in the requested form."""
        other = TOOLS if is_for_lexical(self._parameters) else {}
        return [other.get(name, name) for name in names]

    def _use(self, template: Template, parameters: Any) -> None:
        self._template = template
        self._parameters = parameters
        self._steps = list(template.steps(parameters))

    async def _complete(self, template: Template, given: dict[str, Any]) -> Any:
        """The parameters, the missing ones guessed or asked for."""
        turn = self._turn
        known = await known_parameters(turn, template, turn.request.text, given)
        values = dict(known.values)
        for question in known.missing:
            try:
                answer = await turn.approvals.ask(question.question, question.options or None)
            except ToolFailure as failure:
                raise TurnEnds(
                    "error",
                    f"“{template.name}” needs the parameter {question.name}: {question.question} "
                    f"{failure.message} Give it with the request.",
                    "invalid_request",
                ) from failure
            values[question.name] = answer
        if isinstance(data := values.get("data"), str):
            await _check_data(turn.runtime, data)
        try:
            return template.parameters.model_validate(values)
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, each['loc']))}: {each['msg']}"
                for each in error.errors(include_url=False)
            )
            raise TurnEnds(
                "error",
                f"“{template.name}” cannot be carried out with these parameters: {problems}.",
                "invalid_request",
            ) from error

    async def remark(self) -> str | None:
        """The note to the user before the summary: that no data was chosen, and which files
        exist."""
        template = self._template
        if template is None or template.without_data is None:
            return None
        if getattr(self._parameters, "data", None) is not None:
            return None
        request, runtime = self._turn.request, self._turn.runtime
        context = ReadingContext(runtime, request.gate.document, request.chat.client_id)
        files = await workflow_action(template)(context).options("data", {})
        return messages.no_data(template.without_data, [str(each) for each in files or ()])

    # -- carrying out --------------------------------------------------------------------------

    def has(self, step: PlanStep) -> bool:
        """Whether the step is one of the template's."""
        return self._fix is not None or self._place(step) is not None

    def check(self, steps: Sequence[PlanStep]) -> None:
        """Check a user's steps for a template's plan: without a model, only the template's own."""
        if self._template is None or self._turn.has_model:
            return
        for step in steps:
            if not self.has(step):
                raise AgentError(
                    "invalid_request",
                    f"Without a model only the workflow's own steps can be carried out, and "
                    f"“{step.description}” is none of them.",
                )

    async def resume(self) -> None:
        """Find the template of a plan that is resumed."""
        plan = self._turn.plan
        if plan is not None and plan.workflow is not None and plan.workflow.id == FIX_ERROR:
            await self._fix_plan(plan.workflow)
        elif plan is not None and plan.workflow is not None:
            template = self._find(plan.workflow.id)
            self._use(template, template.parameters.model_validate(plan.workflow.parameters))
            await self._follow_blocks(plan)

    async def _follow_blocks(self, plan: Plan) -> None:
        """Update the ids of what the steps wrote, since this may be another server."""
        path = plan.notebook
        if path is None or not plan.block_ids:
            return
        from ...notebook.lexical.block_ids import ids_now

        lexical = self._turn.runtime.notebooks.lexical
        try:
            await lexical.read(path, self._turn.request.chat.client_id)
        except DocumentError:
            return  # the next step reports why
        now = ids_now(plan.block_ids, lexical.known_ids(path))
        plan.cells = {step: [now.get(id_, id_) for id_ in ids] for step, ids in plan.cells.items()}

    async def carry_out(self, index: int, recovery: Recovery) -> Verified:
        """Carry out a step of the template. Raises ``StepFailed``."""
        turn = self._turn
        plan = turn.plan
        assert plan is not None
        if self._fix is not None:
            assert plan.notebook is not None
            problem = await turn.own.fix(self._fix, plan.notebook)
            if problem is not None:
                raise StepFailed(problem.message, redacted=problem.redacted)
            return await self._verified()
        place = self._place(plan.steps[index])
        assert place is not None
        if plan.notebook is None:
            plan.notebook = await self._notebook()
        kind = LexicalTemplateRun if is_lexical(plan.notebook) else ToolTemplateRun
        run = kind(
            plan,
            place,
            self._parameters,
            turn.own,
            self._existing_cells,
            recovery,
            turn.approvals.ask,
        )
        try:
            await self._steps[place].act(run)
        finally:
            if is_lexical(plan.notebook):
                plan.block_ids = turn.runtime.notebooks.lexical.known_ids(plan.notebook)
        return await self._verified()

    async def _verified(self) -> Verified:
        result = await self._turn.verify()
        if not isinstance(result, Verified):
            raise StepFailed(result.message, result.cell_id, result.redacted)
        return result

    def _place(self, step: PlanStep) -> int | None:
        descriptions = [each.description for each in self._steps]
        return descriptions.index(step.description) if step.description in descriptions else None

    async def _notebook(self) -> str:
        """The notebook to write: the named one, the active one if empty, else a new one."""
        turn = self._turn
        template = self._template
        assert template is not None
        named = getattr(self._parameters, "notebook", None)
        target = turn.request.gate.document
        if target is not None and is_lexical(target) != is_for_lexical(self._parameters):
            target = None
        if target is not None and named in (None, target) and await self._is_empty(target):
            return target
        name = str(named or template.notebook)
        if is_for_lexical(self._parameters):
            done = await turn.own.call("createLexical", {"name": document_name(name)})
        else:
            done = await turn.own.call("createNotebook", {"name": name})
        result = done.done.result
        if result.error is not None:
            raise StepFailed(result.error.message)
        return str(result.output["path"])

    async def _is_empty(self, path: str) -> bool:
        try:
            return all(not cell.source.strip() for cell in await self._cells(path))
        except DocumentError:
            return False

    async def _existing_cells(self) -> set[str]:
        plan = self._turn.plan
        assert plan is not None
        assert plan.notebook is not None
        return {cell.id for cell in await self._cells(plan.notebook)}

    async def _cells(self, path: str) -> Sequence[PageCell]:
        runtime, client = self._turn.runtime, self._turn.request.chat.client_id
        return (await cells_of(runtime.notebooks, path, client)).cells
