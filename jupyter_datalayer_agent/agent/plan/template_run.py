"""A template's steps carried out with the real tools: ``TemplateRun`` for a turn."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from ...protocol.plans import Plan
from ...workflows.template import StepFailed
from ..tool_calls.own_calls import OwnCalls
from ..tool_calls.verification import Failure, messages_of
from .recovery import Recovery


class ToolTemplateRun:
    """One step's ``TemplateRun``.

    ``recovery`` fixes a cell that failed, or finds a kernel. The cells that a step
    wrote are kept with the plan: a step that is done again continues with them instead of writing
    them twice, whatever the user made of them.
    """

    def __init__(
        self,
        plan: Plan,
        index: int,
        parameters: Any,
        calls: OwnCalls,
        existing_cells: Callable[[], Awaitable[set[str]]],
        recovery: Recovery,
    ) -> None:
        assert plan.notebook is not None
        self._plan = plan
        self._parameters = parameters
        self._calls = calls
        self._existing_cells = existing_cells
        self._recovery = recovery
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
            done = await self._calls.call(
                "runNotebookCells", {"path": self.notebook, "cellIds": [known]}
            )
            if done.done.result.error is not None:
                message, redacted = messages_of(done)
                await self._recovery.fix_cell(Failure(message, self.notebook, known, redacted))
        return known

    async def compute(self, code: str) -> Any:
        """See ``TemplateRun``."""
        arguments = {"path": self.notebook, "code": code}
        done = await self._calls.call("executeCode", arguments)
        if done.done.result.error is not None:
            message, redacted = messages_of(done)
            cell_id = self._written[-1] if self._written else None
            no_kernel = Failure(message, self.notebook, cell_id, redacted, not_run=())
            if await self._recovery.select_kernel(no_kernel):
                done = await self._calls.call("executeCode", arguments)
        result = done.done.result
        if result.error is not None:
            message, redacted = messages_of(done)
            raise StepFailed(message, redacted=redacted)
        text = result.output.get("outputs", "") if isinstance(result.output, dict) else ""
        try:
            return json.loads(text)
        except ValueError as error:
            raise StepFailed(
                "The data could not be looked at: the kernel's answer was not as "
                f"expected ({str(text)[:200]}).",
                redacted="The data could not be looked at: the kernel's answer was unexpected.",
            ) from error

    async def _known(self) -> str | None:
        """The cell that an earlier attempt at this step wrote in this place, if it still exists."""
        existing = await self._existing_cells() if self._before else set()
        while self._before:
            cell_id = self._before.pop(0)
            if cell_id in existing:
                self._written.append(cell_id)
                return cell_id
        return None

    async def _add(self, kind: str, source: str, *, run: bool) -> str:
        arguments: dict[str, Any] = {"path": self.notebook, "type": kind, "content": source}
        if run:
            arguments["run"] = True
        done = await self._calls.call("addNotebookCell", arguments)
        result = done.done.result
        output = result.output if isinstance(result.output, dict) else {}
        cell_id = output.get("cellId")
        if not isinstance(cell_id, str):
            message, redacted = messages_of(done)
            raise StepFailed(message or "The cell was not added.", redacted=redacted)
        self._written.append(cell_id)
        if result.error is not None:
            message, redacted = messages_of(done)
            await self._recovery.fix_cell(Failure(message, self.notebook, cell_id, redacted))
        return cell_id
