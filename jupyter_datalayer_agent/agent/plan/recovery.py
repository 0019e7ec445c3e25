"""The recovery of a failed step: at most two attempts, the error fixes first, then the model."""

from __future__ import annotations

from ...notebook.document import DocumentError
from ...notebook.files.kinds import noun
from ...notebook.service import NotebookService
from ...protocol import events
from ...protocol.plans import Plan
from ...protocol.renames import Rename
from ...workflows.fixes.probe import failure_of
from ...workflows.template import StepFailed
from ..request import TurnRequest
from ..tool_calls.verification import Failure
from . import messages
from .runner import PlanRunner

# The cells and blocks that a workflow ran and that ended with an error, in any attempt.


class UnresolvedErrors:
    """Records in the plan which cells failed, and reports at its end which still do.

    ``resumed`` is the plan as an earlier attempt left it, None in the first one.
    """

    def __init__(self, resumed: Plan | None) -> None:
        failed = {} if resumed is None else resumed.failed_cells
        self._earlier = {(path, cell_id) for path, ids in failed.items() for cell_id in ids}

    def note(self, plan: Plan, failure: Failure) -> None:
        """Record a run that failed."""
        if failure.path is None or failure.cell_id is None:
            return
        if failure.cell_id not in plan.failed_cells.setdefault(failure.path, []):
            plan.failed_cells[failure.path].append(failure.cell_id)

    def renamed(self, rename: Rename) -> None:
        """Use the new path of a renamed notebook."""
        self._earlier = {(rename.path(path), cell_id) for path, cell_id in self._earlier}

    async def messages(
        self, plan: Plan, notebooks: NotebookService, request: TurnRequest
    ) -> list[str]:
        """A sentence for each cell that still shows its error."""
        said = []
        for path, ids in plan.failed_cells.items():
            for cell_id in ids:
                try:
                    shown = await failure_of(notebooks, path, cell_id, request.chat.client_id)
                except DocumentError:
                    break  # the notebook is gone, and its errors with it
                if shown is None or shown.error is None:
                    continue
                said.append(
                    messages.still_shows(
                        f"{noun(path)} {shown.cell.index + 1}",
                        None if path == request.gate.document else path,
                        shown.error.ename or "an error",
                        earlier=(path, cell_id) in self._earlier,
                    )
                )
        return said


MAX_ATTEMPTS = 2


class Recovery:
    """The attempts at one step; ``tried`` describes them."""

    def __init__(self, turn: PlanRunner, index: int) -> None:
        self._turn = turn
        self._index = index
        self._attempts = 0
        self._open = False
        self.tried: list[str] = []

    async def begin(self, failure: Failure) -> None:
        """Fix the failure, or report it to the model, so that the step can continue.

        Raises ``StepFailed`` after the last attempt.
        """
        await self.give_up(failure.message)
        left = await self._fixed(failure)
        if left is None:
            return
        failure = left  # an attempted fix may have left another error
        if self._attempts >= MAX_ATTEMPTS or not self._turn.has_model:
            raise StepFailed(failure.message, failure.cell_id, failure.redacted)
        await self._start(failure.message)
        self._open = True
        tried = self.tried if failure.redacted is None else [messages.A_FIX for _ in self.tried]
        prompt = messages.fix_prompt(failure.for_model, tried, self._part, failure.hint)
        self.tried.append("the model's own fix")
        await self._turn.add_user_message(prompt)

    async def fix_cell(self, failure: Failure) -> None:
        """Fix a cell of a template in the same way; if there is a model, it fixes the cell now.

        Raises ``StepFailed``.
        """
        self._turn.take_run_failure()
        while True:
            await self.begin(failure)
            if not self._open:
                return
            await self._turn.let_model_fix()
            again = self._turn.take_run_failure() or next(iter(self._turn.watch.failed_runs), None)
            if again is None:
                await self.succeeded()
                return
            failure = again

    async def select_kernel(self, failure: Failure) -> bool:
        """Whether the failure was a missing kernel, and a kernel was selected."""
        return await self._fixed(failure) is None

    async def succeeded(self) -> None:
        """Record that the current attempt succeeded."""
        if self._open:
            self._open = False
            await self._finish(True, "Fixed")

    async def give_up(self, why: str) -> None:
        """Record that the current attempt failed."""
        if self._open:
            self._open = False
            await self._finish(False, why)

    @property
    def _part(self) -> str:
        plan = self._turn.plan
        return noun(plan.notebook if plan is not None and plan.notebook is not None else "")

    async def _fixed(self, failure: Failure) -> Failure | None:
        """Apply the safe error fix, if there is one. Returns the remaining failure, None if it was
        repaired. Unsafe fixes are offered to the user."""
        if self._attempts:
            return failure
        fixes = await self._turn.fixes_of(failure)
        safe = next((fix for fix in fixes if fix.safe), None)
        if safe is None:
            await self._turn.offer_fixes(failure, fixes)
            return failure
        assert failure.path is not None
        await self._start(failure.message)
        problem = await self._turn.own.fix(safe, failure.path)
        left = self._turn.take_run_failure()
        self.tried.append(safe.title)
        done = safe.done or safe.title
        await self._finish(problem is None, done if problem is None else problem.message)
        if problem is not None:
            return left or problem
        self._turn.watch.forget(failure.cell_id)
        if self._turn.has_model:
            # A fix's title may quote the error's message.
            title = safe.title if failure.redacted is None else messages.A_FIX
            await self._turn.add_user_message(messages.fixed(title, self._part))
        return None

    async def _start(self, error: str) -> None:
        self._attempts += 1
        await self._turn.emit(
            events.RecoveryStarted(
                index=self._index,
                error=error,
                attempt=self._attempts,
                max_attempts=MAX_ATTEMPTS,
            )
        )

    async def _finish(self, success: bool, message: str) -> None:
        await self._turn.emit(
            events.RecoveryFinished(index=self._index, success=success, message=message)
        )
