"""Repairs of a failed cell that need no model: found by the error fixes, carried out by calls."""

from __future__ import annotations

from ...notebook.service import NotebookService
from ...protocol.workflows import FixInfo
from ...workflows.fix import FindFixes
from ..tool_calls.fixes import fixes_of
from ..tool_calls.verification import Failure, messages_of
from .own_calls import OwnCalls


class Repairs:
    """Finds the fixes of a failure and carries one out."""

    def __init__(
        self, notebooks: NotebookService, find: FindFixes, calls: OwnCalls, client_id: str | None
    ) -> None:
        self._notebooks = notebooks
        self._find = find
        self._calls = calls
        self._client_id = client_id

    async def find(self, failure: Failure) -> list[FixInfo]:
        """The fixes of a cell that failed, or of a run that could not begin, the likeliest
        first."""
        if failure.path is None or (failure.cell_id is None and failure.not_run is None):
            return []
        return await fixes_of(
            self._notebooks,
            self._find,
            failure.path,
            failure.cell_id,
            self._client_id,
            failure.not_run,
        )

    async def apply(self, fix: FixInfo, path: str) -> Failure | None:
        """Carry the fix out; None when all of it ended well, else what did not."""
        for step in fix.calls:
            done = await self._calls.call(step.name, {"path": path, **step.arguments})
            error = done.done.result.error
            if error is not None:
                message, redacted = messages_of(done)
                return Failure(message, redacted=redacted)
        return None
