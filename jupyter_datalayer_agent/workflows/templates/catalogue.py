"""The catalogue of workflow templates by id: built-in and third parties'.

A third party's package declares, under the entry point group ``jupyter_datalayer_agent.workflows``,
a ``Template`` or a list of them; ``docs/adding-a-workflow.md`` is the guide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...entry_points import entry_points_of, load
from ...protocol.workflows import WorkflowInfo
from ..template import Template
from .builtin.data_analysis_notebook import data_analysis_notebook
from .builtin.data_visualization_report import data_visualization_report
from .builtin.exploratory_data_analysis import exploratory_data_analysis
from .builtin.machine_learning_pipeline import machine_learning_pipeline

TEMPLATES = [
    data_analysis_notebook,
    exploratory_data_analysis,
    machine_learning_pipeline,
    data_visualization_report,
]


def builtin_catalogue() -> TemplateCatalogue:
    """A catalogue with the built-in templates."""
    catalogue = TemplateCatalogue()
    for template in TEMPLATES:
        catalogue.add(template)
    return catalogue


class TemplateCatalogue:
    """Templates by id, in the order in which they were added."""

    def __init__(self) -> None:
        self._templates: dict[str, Template] = {}

    def add(self, template: Template) -> Callable[[], None]:
        """Add a template; returns a function that removes it.

        Raises ``ValueError`` when the id is taken.
        """
        if template.id in self._templates:
            raise ValueError(f"A workflow named {template.id!r} already exists.")
        self._templates[template.id] = template

        def remove() -> None:
            if self._templates.get(template.id) is template:
                del self._templates[template.id]

        return remove

    def add_entry_points(self) -> list[str]:
        """Add what third parties declare; returns a message for each that could not be added."""
        problems = []
        for point in entry_points_of("workflows"):
            try:
                loaded = load(point)
                for template in loaded if isinstance(loaded, list | tuple) else [loaded]:
                    if not isinstance(template, Template):
                        raise TypeError(f"{template!r} is not a Template.")
                    self.add(template)
            except Exception as error:  # noqa: BLE001 - third-party code may raise anything
                problems.append(f"{point.name} ({point.value}): {error!r}")
        return problems

    def find(self, template_id: str) -> Template | None:
        """The template of that id (case and ``_`` for ``-`` do not matter), or None."""
        return self._templates.get(template_id.strip().lower().replace("_", "-"))

    def __iter__(self) -> Iterator[Template]:
        return iter(self._templates.values())

    def infos(self) -> list[WorkflowInfo]:
        """What ``GET workflows`` lists."""
        return [_info(template) for template in self]


def _info(template: Template) -> WorkflowInfo:
    schema = template.parameters.model_json_schema(by_alias=True)
    steps = template.steps(template.parameters.model_construct())
    return WorkflowInfo(
        id=template.id,
        name=template.name,
        description=template.description,
        parameters=schema,
        required_tools=list(template.required_tools),
        steps=[step.description for step in steps],
    )
