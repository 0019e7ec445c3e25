"""Plans made from a template: it is chosen, its parameters are completed, its steps are run."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from ...datasets.files.columns import columns_of
from ...datasets.files.formats import format_of
from ...notebook.cells_of import cells_of
from ...notebook.document import DocumentError
from ...notebook.files.kinds import is_lexical, noun
from ...protocol import events
from ...protocol.cells import PageCell
from ...protocol.errors import AgentError
from ...protocol.plans import Plan, PlanStep, WorkflowCall
from ...protocol.workflows import FixInfo, WorkflowOffer
from ...tools.context import ToolFailure
from ...workflows.fixes.probe import NotebookProbe
from ...workflows.template import StepFailed, Template, TemplateStep
from ...workflows.templates.matching import match
from ...workflows.templates.parameters import (
    MissingParameter,
    data_files_read,
    guessed_parameters,
    likely_data_files,
    missing_parameters,
)
from ..request import TurnRequest, confined
from ..runtime import Runtime
from ..tool_calls.verification import Failure, Verified
from ..turn.ends import TurnEnds
from . import messages
from .recovery import Recovery
from .runner import PlanRunner
from .template_run import TOOLS, LexicalTemplateRun, ToolTemplateRun, document_name, is_for_lexical

# Guesses a template's parameters without asking anyone.


class Guesses:
    """Guesses from the message, the files under the root and the active notebook."""

    def __init__(self, runtime: Runtime, request: TurnRequest) -> None:
        self._runtime = runtime
        self._request = request

    async def of(self, template: Template, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters, by their names in camelCase; those ``given`` stay as they are."""
        files = await self._files()
        task = self._request.text
        read, folder = await self._read_by_notebook(files)
        values = {
            **guessed_parameters(template, files, task, read=read, folder=folder),
            **given,
        }
        columns = await self._columns(values.get("data"))
        return {**guessed_parameters(template, [], task, columns), **values}

    async def missing(
        self, template: Template, values: Mapping[str, Any]
    ) -> list[MissingParameter]:
        """What the template still needs."""
        return missing_parameters(template, values, await self._files(), self._request.text)

    async def data_files(self) -> list[str]:
        """The data files under the root, the likeliest first."""
        return likely_data_files(await self._files(), self._request.text)

    async def _columns(self, data: object) -> list[str]:
        """The columns of the data, if it is a text table under the root."""
        root = self._runtime.notebooks.root_dir
        if root is None or not isinstance(data, str) or format_of(data) not in ("csv", "tsv"):
            return []
        path = await confined(self._runtime, data)
        return await asyncio.to_thread(columns_of, Path(root) / path, None, root)

    async def _files(self) -> list[str]:
        return await NotebookProbe(self._runtime.notebooks, "").files()

    async def _read_by_notebook(self, files: Sequence[str]) -> tuple[list[str], str]:
        """The data files that the active document's code reads, and its folder; without a document
        the root, where the new one is written."""
        target = self._request.gate.document
        if target is None:
            return [], ""
        folder = posixpath.dirname(target)
        client_id = self._request.chat.client_id
        try:
            cells = (await cells_of(self._runtime.notebooks, target, client_id)).cells
        except DocumentError:
            return [], folder
        return data_files_read((c.source for c in cells if c.type == "code"), folder, files), folder


# Answers without a model: an offer of similar workflows, or the quality report.
#
# Nothing here changes or runs anything.


async def offer(turn: PlanRunner, templates: Sequence[Template], reason: str) -> NoReturn:
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
    guesses = Guesses(turn.runtime, turn.request)
    parameters = await guesses.of(template, {})
    missing = [each.name for each in await guesses.missing(template, parameters)]
    say = messages.ask_for(template.name, parameters)
    found = match(say, turn.runtime.templates())
    names_it = found.kind == "asked" and found.templates == (template,)
    return WorkflowOffer(
        id=template.id,
        name=template.name,
        description=template.description,
        parameters=parameters,
        missing=missing,
        say=f"agent: {say}" if names_it and not missing else None,
    )


async def report_quality(turn: PlanRunner, reason: str) -> None:
    """Answer with the quality report of the notebook that the message is about."""
    from ...workflows.quality.of_document import rendered

    path = turn.request.gate.target
    if path is None:
        raise TurnEnds("error", f"{reason} {messages.QUALITY_OF_WHAT}", turn.unanswered)
    try:
        report = await turn.runtime.quality_of(path, turn.request.chat.client_id)
    except DocumentError as error:
        raise TurnEnds("error", f"{reason} {error.message}", turn.unanswered) from error
    await turn.emit(events.QualityReported(path=path, report=report))
    await turn.answer(messages.quality(reason, rendered(report), report.suggestions), report)


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
        self._guesses = Guesses(turn.runtime, turn.request)

    # -- choosing ------------------------------------------------------------------------------

    async def make(self, call: WorkflowCall) -> Plan:
        """The plan of a workflow that was requested by its id."""
        if call.id == FIX_ERROR:
            return await self._fix_plan(call)
        template = self._find(call.id)
        return await self._plan(template, call.parameters)

    async def instead(self, reason: str) -> Plan | None:
        """The plan of the workflow that the message names, if there is no model or it made no plan;
        None if the message was answered.

        Otherwise ends the turn with an offer of similar workflows, which are never started.
        """
        turn = self._turn
        found = match(turn.request.text, turn.runtime.templates())
        if found.kind == "quality":
            await report_quality(turn, reason)
            return None
        if found.kind != "asked" or turn.request.mode != "agent":
            await offer(turn, found.templates, reason)
        [template] = found.templates
        await turn.emit(
            events.Warning_(
                code="template_instead",
                message=f"{reason} The workflow “{template.name}” is carried out; it needs no "
                "model.",
            )
        )
        return await self._plan(template, {})

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
        values = await self._guesses.of(template, given)
        for question in await self._guesses.missing(template, values):
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
        return messages.no_data(template.without_data, await self._guesses.data_files())

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
