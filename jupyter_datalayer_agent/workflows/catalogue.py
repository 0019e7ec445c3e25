"""The one place where workflow templates are kept by id: built-in and third parties'.

A third party's package declares, under the entry point group ``jupyter_datalayer_agent.workflows``,
a ``Template`` or a list of them; ``docs/adding-a-workflow.md`` is the guide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points

from ..protocol.workflows import WorkflowInfo
from .template import Template
from .templates.data_analysis_notebook import data_analysis_notebook
from .templates.data_visualization_report import data_visualization_report
from .templates.exploratory_data_analysis import exploratory_data_analysis
from .templates.machine_learning_pipeline import machine_learning_pipeline

ENTRY_POINT_GROUP = "jupyter_datalayer_agent.workflows"

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
        """Add a template; call what is returned to take it out again.

        Raises ``ValueError`` when the id is taken.
        """
        if template.id in self._templates:
            raise ValueError(f"A workflow named {template.id!r} exists already.")
        self._templates[template.id] = template

        def remove() -> None:
            if self._templates.get(template.id) is template:
                del self._templates[template.id]

        return remove

    def add_entry_points(self) -> list[str]:
        """Add what third parties declare; gives a line for each that could not be added."""
        problems = []
        for point in entry_points(group=ENTRY_POINT_GROUP):
            try:
                loaded = point.load()
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

    def closest(self, task: str) -> Template | None:
        """The template whose keywords the task's words meet best, or None where none does.

        A keyword of several words counts more than each of them; words match by their beginnings
        ("plots", "plotting" for "plot"). Among equals the first one added is taken.
        """
        words = _words(task)
        scores = {template.id: _score(template.keywords, words) for template in self}
        best = max(scores, key=lambda each: scores[each], default=None)
        return self._templates[best] if best is not None and scores[best] > 0 else None


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


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _score(keywords: tuple[str, ...], words: list[str]) -> int:
    """The squares of the lengths, in words, of the keywords that the task holds."""
    return sum(len(each) ** 2 for each in map(_words, keywords) if _holds(words, each))


def _holds(words: list[str], phrase: list[str]) -> bool:
    starts = range(len(words) - len(phrase) + 1)
    return any(
        all(_meets(word, part) for word, part in zip(words[start:], phrase, strict=False))
        for start in starts
    )


def _meets(word: str, part: str) -> bool:
    """Short keywords ("ml", "fit") are whole words; longer ones also beginnings of words."""
    return word == part or (len(part) >= 4 and word.startswith(part))
