"""Actions that run a workflow: the parameters of its template as a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import create_model

from ..protocol.datasets import ReadingChoices
from ..protocol.plans import WorkflowCall
from ..workflows.template import Template
from ..workflows.templates.data_files import is_data_file, is_hidden
from .action import Action, ActionFailed, ActionResult, Progress, parameter

_FIELDS = {
    "data": ("Data file", "data"),
    "target": ("Target column", "column"),
    "date_column": ("Date column", "date-column"),
    "task": ("Task", None),
    "notebook": ("New notebook", "new-path"),
    "encoding": ("Encoding", None),
    "delimiter": ("Delimiter", None),
    "decimal": ("Decimal", None),
}
"""The fields of templates that a form shows: the title, and what kind of text it is."""


class WorkflowAction(Action):
    """Runs the workflow of ``template`` as ``POST workflows/{id}`` does: as a turn with its plan,
    its steps, the session's approvals, and undo. Make one by ``workflow_action``."""

    template: ClassVar[Template]

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name == "data":
            files = [f for f in await self.context.files() if is_data_file(f) and not is_hidden(f)]
            return sorted(files, key=lambda path: (path.count("/"), path.lower()))
        if name in ("target", "date_column") and known.get("data"):
            choices = {each: known[each] for each in ReadingChoices.model_fields if known.get(each)}
            return await self.context.columns(known["data"], choices) or None
        return None

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        notebook = parameters.notebook
        if notebook is not None:
            try:
                there = (await self.context.path(notebook)).exists()
            except ActionFailed as error:
                return {"notebook": str(error)}
            if there:
                return {"notebook": f"{notebook} already exists. Choose another name."}
        return {}

    def workflow(self, parameters: Any) -> WorkflowCall:
        """The workflow that is run, with these parameters."""
        given = parameters.model_dump(mode="json", exclude_none=True)
        values = self.template.parameters.model_construct(**given)
        wire = values.model_dump(mode="json", by_alias=True, include=set(given))
        return WorkflowCall(id=self.template.id, parameters=wire)

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """Not called: the turn runs ``workflow``."""
        raise ActionFailed("A workflow is run by its turn.")


def workflow_action(template: Template) -> type[WorkflowAction]:
    """The action that runs a template that no service offers, such as a package's own."""
    fields = template.parameters.model_fields
    required = [name for name, info in fields.items() if info.is_required()]
    attributes = {
        "id": template.id,
        "title": template.name,
        "description": template.description,
        "template": template,
        "Parameters": parameters_of(template, required),
    }
    return type("TemplateAction", (WorkflowAction,), attributes)


def parameters_of(template: Template, required: Sequence[str] = ("data",)) -> Any:
    """The form of a template: its own fields, with their types, checks and descriptions, each with
    a title and what kind it is. ``required`` are those without which it is not offered."""
    fields: dict[str, Any] = {}
    for name, (title, kind) in _FIELDS.items():
        info = template.parameters.model_fields.get(name)
        if info is None:
            continue
        annotation: Any = info.annotation
        for each in info.metadata:
            annotation = Annotated[annotation, each]
        default = ... if name in required else None
        shown = parameter(default, title=title, kind=kind, description=info.description)
        fields[name] = (annotation, shown)
    return create_model(f"{template.parameters.__name__}Form", __doc__="", **fields)
