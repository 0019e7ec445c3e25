"""The contract of workflow templates: parameters, and steps that write and run cells.

A template is one file: a ``Template`` made of a pydantic model of its parameters and a function
that returns its steps. A step is an async function of a ``TemplateRun``, through which it writes
cells (with the same tools, gate and approvals as the model) and runs code in the kernel. Built-in
ones are in ``templates/builtin/``; third parties declare theirs under the entry point group
``jupyter_datalayer_agent.workflows``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..protocol.base import Wire


class StepFailed(Exception):
    """A step could not do its work; ``message`` is for the user.

    ``cell_id`` is the failed cell, if there is one; ``redacted`` is the message as the model may
    read it, None if nothing is withheld.
    """

    def __init__(
        self, message: str, cell_id: str | None = None, redacted: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.cell_id = cell_id
        self.redacted = redacted


class TemplateRun(Protocol):
    """What a step works with. ``facts`` is stored with the plan: JSON for later steps, also after a
    restart."""

    @property
    def parameters(self) -> Any:
        """The parameters, an instance of the template's own model, complete."""
        ...

    @property
    def facts(self) -> dict[str, Any]:
        """Facts about the data from earlier steps; a step may add some."""
        ...

    @property
    def notebook(self) -> str:
        """The path of the notebook that is written, relative to the server root."""
        ...

    async def markdown(self, source: str) -> str:
        """Add a Markdown cell at the end; its id."""
        ...

    async def code(self, source: str, *, run: bool = True) -> str:
        """Add a code cell at the end and run it; its id. Raises ``StepFailed``."""
        ...

    async def compute(self, code: str) -> Any:
        """Run code in the notebook's kernel that leaves no cell; what it printed, read as JSON.

        Raises ``StepFailed``.
        """
        ...

    async def ask(self, question: str, options: Sequence[str]) -> str:
        """The user's answer, one of the options or another text.

        Raises ``StepFailed`` if nobody can answer.
        """
        ...


@dataclass(frozen=True)
class TemplateStep:
    """One step: its description for the user, its tools, and its function."""

    description: str
    act: Callable[[TemplateRun], Awaitable[None]]
    tools: tuple[str, ...] = ("addNotebookCell",)


@dataclass(frozen=True)
class Template:
    """A workflow that runs without a model.

    ``parameters`` is its pydantic model; the user is asked for a missing field without a default.
    ``steps`` returns the steps for complete parameters. ``keywords`` are words by which, beside
    its name and description, it is offered for a task. ``notebook`` is the default file to write.
    ``without_data`` tells the user what was done without a data file, if that is possible.
    """

    id: str
    name: str
    description: str
    parameters: type[Wire]
    steps: Callable[[Any], Sequence[TemplateStep]]
    keywords: tuple[str, ...]
    notebook: str
    required_tools: tuple[str, ...] = ("createNotebook", "addNotebookCell", "executeCode")
    without_data: str | None = None
