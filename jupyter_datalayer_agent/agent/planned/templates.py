"""Plans that are a template's: chosen, their parameters completed, their steps carried out."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ...notebook.document import DocumentError
from ...protocol import events
from ...protocol.errors import AgentError
from ...protocol.page import PageCell
from ...protocol.plans import Plan, PlanStep, WorkflowCall
from ...protocol.workflows import FixInfo
from ...tools.context import ToolFailure
from ...workflows.data_read import data_files_read
from ...workflows.parameters import (
    columns_of,
    guessed_parameters,
    likely_data_files,
    missing_parameters,
)
from ...workflows.probe import NotebookProbe
from ...workflows.template import StepFailed, Template, TemplateStep
from ..targets import confined
from ..turn import TurnEnds
from ..watch import Failure, Verified
from . import words
from .recovery import Recovery
from .template_run import ToolTemplateRun

if TYPE_CHECKING:
    from .turn import PlannedTurn

FIX_ERROR = "fix-error"
"""The workflow that carries out an error fix, as the page's button asks for it."""


class TemplatePlan:
    """The template behind a turn's plan, if there is one."""

    def __init__(self, turn: PlannedTurn) -> None:
        self._turn = turn
        self._template: Template | None = None
        self._parameters: Any = None
        self._steps: list[TemplateStep] = []
        self._fix: FixInfo | None = None

    # -- choosing ------------------------------------------------------------------------------

    async def make(self, call: WorkflowCall) -> Plan:
        """The plan of a workflow that was asked for by its id."""
        if call.id == FIX_ERROR:
            return await self._fix_plan(call)
        template = self._find(call.id)
        return await self._plan(template, call.parameters)

    async def instead(self, reason: str) -> Plan:
        """The closest template's plan, where there is no model or it gave none; told as such.

        Ends the turn where no template is close.
        """
        turn = self._turn
        template = turn.services.templates().closest(turn.about.text)
        if template is None:
            names = ", ".join(each.name for each in turn.services.templates())
            raise TurnEnds(
                "error",
                f"{reason} No workflow is close to this task. Without a model there are: {names}.",
                "model_error" if turn.has_model else "no_model",
            )
        await turn.emit(
            events.Warning_(
                code="template_instead",
                message=f"{reason} The workflow “{template.name}” is carried out instead; it "
                "needs no model.",
            )
        )
        return await self._plan(template, {})

    def _find(self, template_id: str) -> Template:
        template = self._turn.services.templates().find(template_id)
        if template is None:
            names = ", ".join(each.id for each in self._turn.services.templates())
            raise AgentError(
                "not_found", f"There is no workflow {template_id!r}. There are: {names}."
            )
        return template

    async def _plan(self, template: Template, given: dict[str, Any]) -> Plan:
        parameters = await self._complete(template, given)
        self._use(template, parameters)
        return Plan(
            task=self._turn.about.text,
            steps=[
                PlanStep(description=step.description, tool_calls=list(step.tools))
                for step in self._steps
            ],
            required_tools=list(template.required_tools),
            workflow=WorkflowCall(
                id=template.id,
                parameters=parameters.model_dump(mode="json", by_alias=True, exclude_none=True),
            ),
        )

    async def _fix_plan(self, call: WorkflowCall) -> Plan:
        """One step: the fix ``fixId`` (else the likeliest) of the cell ``cellId`` that failed."""
        turn = self._turn
        path = turn.about.gate.target
        cell_id = call.parameters.get("cellId")
        if path is None or not isinstance(cell_id, str):
            raise TurnEnds(
                "error", "Name the cell (cellId) of the active notebook.", "invalid_request"
            )
        fixes = await turn.repairs.find(Failure("", path, cell_id))
        wanted = call.parameters.get("fixId")
        fix = next((each for each in fixes if wanted in (None, each.id)), None)
        if fix is None:
            raise TurnEnds("error", "Nothing is known that would repair this cell.", "not_found")
        self._fix = fix
        step = PlanStep(description=fix.title, tool_calls=[each.name for each in fix.calls])
        return Plan(
            task=turn.about.text,
            steps=[step],
            required_tools=list(dict.fromkeys(step.tool_calls)),
            notebook=path,
            workflow=call,
        )

    def _use(self, template: Template, parameters: Any) -> None:
        self._template = template
        self._parameters = parameters
        self._steps = list(template.steps(parameters))

    async def _complete(self, template: Template, given: dict[str, Any]) -> Any:
        """The parameters, the missing ones guessed or asked for."""
        turn = self._turn
        files = await self._files()
        task = turn.about.text
        read, folder = await self._read_by_notebook(files)
        guessed = guessed_parameters(template, files, task, read=read, folder=folder)
        values = {**guessed, **given}
        columns = await self._columns(values.get("data"))
        values = {**guessed_parameters(template, [], task, columns), **values}
        for question in missing_parameters(template, values, files, task):
            try:
                answer = await turn.person.ask(question.question, question.options or None)
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

    async def _columns(self, data: object) -> list[str]:
        """The columns of the data, where it is a CSV file under the root."""
        root = self._turn.services.notebooks.root_dir
        if root is None or not isinstance(data, str):
            return []
        path = await confined(self._turn.services, data)
        return await asyncio.to_thread(columns_of, Path(root) / path)

    async def _files(self) -> list[str]:
        return await NotebookProbe(self._turn.services.notebooks, "").files()

    async def _read_by_notebook(self, files: Sequence[str]) -> tuple[list[str], str]:
        """The data files that the code of the notebook in front reads, and that notebook's folder;
        the root where there is none, since the new one is written there."""
        target = self._turn.about.gate.target
        if target is None:
            return [], ""
        folder = posixpath.dirname(target)
        try:
            cells = await self._cells(target)
        except DocumentError:
            return [], folder
        return data_files_read((c.source for c in cells if c.type == "code"), folder, files), folder

    async def remark(self) -> str | None:
        """What the person is told before the summary: that no data was chosen, and what there
        is."""
        template = self._template
        if template is None or template.without_data is None:
            return None
        if getattr(self._parameters, "data", None) is not None:
            return None
        there = likely_data_files(await self._files(), self._turn.about.text)
        return words.no_data(template.without_data, there)

    # -- carrying out --------------------------------------------------------------------------

    def has(self, step: PlanStep) -> bool:
        """Whether the step is one of the template's."""
        return self._fix is not None or self._place(step) is not None

    def check(self, steps: Sequence[PlanStep]) -> None:
        """A person's steps for a template's plan: its own ones, unless a model can do others."""
        if self._template is None or self._turn.has_model:
            return
        for step in steps:
            if not self.has(step):
                raise AgentError(
                    "invalid_request",
                    f"Without a model only the workflow's own steps can be carried out, and "
                    f"“{step.description}” is none of them.",
                )

    async def take_up(self) -> None:
        """Find the template of a plan that is resumed."""
        plan = self._turn.plan
        if plan is not None and plan.workflow is not None and plan.workflow.id == FIX_ERROR:
            await self._fix_plan(plan.workflow)
        elif plan is not None and plan.workflow is not None:
            template = self._find(plan.workflow.id)
            self._use(template, template.parameters.model_validate(plan.workflow.parameters))

    async def carry_out(self, index: int, recovery: Recovery) -> Verified:
        """Do a step of the template's. Raises ``StepFailed``."""
        turn = self._turn
        plan = turn.plan
        assert plan is not None
        if self._fix is not None:
            assert plan.notebook is not None
            problem = await turn.repairs.apply(self._fix, plan.notebook)
            if problem is not None:
                raise StepFailed(problem.message, told=problem.told)
            return await self._verified()
        place = self._place(plan.steps[index])
        assert place is not None
        if plan.notebook is None:
            plan.notebook = await self._notebook()
        run = ToolTemplateRun(
            plan, place, self._parameters, turn.own, self._standing, recovery.repair
        )
        await self._steps[place].act(run)
        return await self._verified()

    async def _verified(self) -> Verified:
        result = await self._turn.verify()
        if not isinstance(result, Verified):
            raise StepFailed(result.message, result.cell_id, result.told)
        return result

    def _place(self, step: PlanStep) -> int | None:
        descriptions = [each.description for each in self._steps]
        return descriptions.index(step.description) if step.description in descriptions else None

    async def _notebook(self) -> str:
        """The notebook to write: the one that is named or that is in front and empty; else a new
        one."""
        turn = self._turn
        template = self._template
        assert template is not None
        named = getattr(self._parameters, "notebook", None)
        target = turn.about.gate.target
        if target is not None and named in (None, target) and await self._is_empty(target):
            return target
        name = str(named or template.notebook)
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

    async def _standing(self) -> set[str]:
        plan = self._turn.plan
        assert plan is not None
        assert plan.notebook is not None
        return {cell.id for cell in await self._cells(plan.notebook)}

    async def _cells(self, path: str) -> Sequence[PageCell]:
        services, client = self._turn.services, self._turn.about.request.client_id
        return (await (await services.notebooks.open(path, client)).read()).cells
