"""A prompt for each workflow: its steps, for the program's model to carry out with our tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....protocol.workflows import WorkflowInfo
from .kind import Argument, Message, Prompt, from_user

if TYPE_CHECKING:
    from ....workflows.templates.catalogue import TemplateCatalogue


def workflow_prompts(catalogue: TemplateCatalogue) -> Iterator[Prompt]:
    """All of them."""
    for info in catalogue.infos():
        yield _prompt(info)


def _prompt(info: WorkflowInfo) -> Prompt:
    required = info.parameters.get("required", [])
    arguments = [
        Argument(name, str(schema.get("description", schema.get("title", name))), name in required)
        for name, schema in info.parameters.get("properties", {}).items()
    ]

    def messages(given: dict[str, str]) -> list[Message]:
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(info.steps, 1))
        values = "\n".join(f"- {name}: {value}" for name, value in given.items() if value)
        return from_user(
            f"Carry out the workflow “{info.name}” in a Jupyter notebook, with the tools of this "
            f"server. {info.description}\n\nSteps:\n{steps}\n\n"
            f"Parameters:\n{values or '- none given: choose sensible ones'}\n\n"
            "Unless a notebook is named, make one with createNotebook. Write each step as Markdown "
            "and code cells, run them, and look at the results before the next step. Report only "
            "numbers that are in the outputs."
        )

    return Prompt(info.id, info.name, info.description, arguments, messages)
