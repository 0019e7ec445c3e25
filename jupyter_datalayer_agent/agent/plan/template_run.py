"""Carries out a template's steps with the real tools: ``TemplateRun`` for a turn."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ...notebook.files.kinds import noun
from ...protocol.plans import Plan
from ...tools.context import ToolFailure
from ...workflows.template import StepFailed
from ..tool_calls.own_calls import OwnCalls
from ..tool_calls.verification import Failure, messages_of
from .recovery import Recovery


class ToolTemplateRun:
    """One step's ``TemplateRun``.

    ``recovery`` fixes a cell that failed, or finds a kernel. The cells that a step wrote are stored
    with the plan: a repeated step continues with them instead of writing them twice, whatever the
    user did to them.
    """

    def __init__(
        self,
        plan: Plan,
        index: int,
        parameters: Any,
        calls: OwnCalls,
        existing_cells: Callable[[], Awaitable[set[str]]],
        recovery: Recovery,
        ask: Callable[[str, list[str]], Awaitable[str]],
    ) -> None:
        assert plan.notebook is not None
        self._plan = plan
        self._parameters = parameters
        self._calls = calls
        self._existing_cells = existing_cells
        self._recovery = recovery
        self._ask = ask
        self._before = list(plan.cells.get(str(index), []))
        self._written = plan.cells.setdefault(str(index), [])
        self._written.clear()

    @property
    def parameters(self) -> Any:
        """See ``TemplateRun``."""
        return self._parameters

    @property
    def facts(self) -> dict[str, Any]:
        """See ``TemplateRun``."""
        return self._plan.facts

    @property
    def notebook(self) -> str:
        """See ``TemplateRun``."""
        assert self._plan.notebook is not None
        return self._plan.notebook

    async def markdown(self, source: str) -> str:
        """See ``TemplateRun``."""
        known = await self._known()
        if known is not None:
            return known
        return await self._add("markdown", source, run=False)

    async def code(self, source: str, *, run: bool = True) -> str:
        """See ``TemplateRun``."""
        known = await self._known()
        if known is None:
            return await self._add("code", source, run=run)
        if run:
            await self._run_again(known)
        return known

    async def ask(self, question: str, options: Sequence[str]) -> str:
        """See ``TemplateRun``."""
        try:
            return await self._ask(question, list(options))
        except ToolFailure as failure:
            choices = "; ".join(options)
            raise StepFailed(f"{question} The choices are: {choices}.") from failure

    # What differs between notebooks and Lexical documents.

    def new_call(self, kind: str, source: str) -> tuple[str, dict[str, Any]]:
        """The call that adds a cell."""
        return "addNotebookCell", {"path": self.notebook, "type": kind, "content": source}

    def run_call(self, cell_id: str) -> tuple[str, dict[str, Any]]:
        """The call that runs a cell."""
        return "runNotebookCells", {"path": self.notebook, "cellIds": [cell_id]}

    def id_in(self, output: dict[str, Any]) -> Any:
        """The id of the new cell."""
        return output.get("cellId")

    async def _run_again(self, known: str) -> None:
        """Run a cell that an earlier attempt wrote."""
        done = await self._calls.call(*self.run_call(known))
        if done.done.result.error is not None:
            message, redacted, _ = messages_of(done)
            await self._recovery.fix_cell(Failure(message, self.notebook, known, redacted))

    async def compute(self, code: str) -> Any:
        """See ``TemplateRun``."""
        arguments = {"path": self.notebook, "code": code}
        done = await self._calls.call("executeCode", arguments)
        if done.done.result.error is not None:
            message, redacted, _ = messages_of(done)
            cell_id = self._written[-1] if self._written else None
            no_kernel = Failure(message, self.notebook, cell_id, redacted, not_run=())
            if await self._select_kernel(no_kernel):
                done = await self._calls.call("executeCode", arguments)
        result = done.done.result
        if result.error is not None:
            message, redacted, _ = messages_of(done)
            raise StepFailed(message, redacted=redacted)
        text = result.output.get("outputs", "") if isinstance(result.output, dict) else ""
        try:
            return json.loads(text)
        except ValueError as error:
            raise StepFailed(
                "The data could not be read: the kernel's answer was unexpected "
                f"({str(text)[:200]}).",
                redacted="The data could not be read: the kernel's answer was unexpected.",
            ) from error

    async def _select_kernel(self, failure: Failure) -> bool:
        return await self._recovery.select_kernel(failure)

    async def _known(self) -> str | None:
        """The cell that an earlier attempt at this step wrote here, if it still exists."""
        existing = await self._existing_cells() if self._before else set()
        while self._before:
            cell_id = self._before.pop(0)
            if cell_id in existing:
                self._written.append(cell_id)
                return cell_id
        return None

    async def _add(self, kind: str, source: str, *, run: bool) -> str:
        name, arguments = self.new_call(kind, source)
        done = await self._calls.call(name, {**arguments, **({"run": True} if run else {})})
        result = done.done.result
        cell_id = self.id_in(result.output if isinstance(result.output, dict) else {})
        if not isinstance(cell_id, str):
            message, redacted, _ = messages_of(done)
            part = noun(self.notebook)
            raise StepFailed(message or f"The {part} was not added.", redacted=redacted)
        self._written.append(cell_id)
        if result.error is not None:
            message, redacted, _ = messages_of(done)
            await self._recovery.fix_cell(Failure(message, self.notebook, cell_id, redacted))
        return cell_id


# Carries out a template's steps in a Lexical document.


LEXICAL = "lexical"
TOOLS = {
    "createNotebook": "createLexical",
    "addNotebookCell": "insertBlock",
    "runNotebookCells": "runBlock",
}
"""The tools that replace those for notebooks."""


def is_for_lexical(parameters: Any) -> bool:
    """Whether the parameters ask for a Lexical document."""
    return getattr(parameters, "format", None) == LEXICAL


def document_name(notebook: str) -> str:
    """The name of the document that replaces the notebook."""
    return notebook.removesuffix(".ipynb")


class LexicalTemplateRun(ToolTemplateRun):
    """One step's ``TemplateRun``, with blocks instead of cells."""

    def new_call(self, kind: str, source: str) -> tuple[str, dict[str, Any]]:
        """The call that adds a block, or Markdown's blocks."""
        block = "jupyter-input" if kind == "code" else "markdown"
        return "insertBlock", {"path": self.notebook, "type": block, "content": source}

    def run_call(self, cell_id: str) -> tuple[str, dict[str, Any]]:
        """The call that runs a block."""
        return "runBlock", {"path": self.notebook, "blockId": cell_id}

    def id_in(self, output: dict[str, Any]) -> Any:
        """The id of the new block, or of the first one."""
        blocks = output.get("blocks")
        return blocks[0]["id"] if blocks else None
