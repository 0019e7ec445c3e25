"""The cells and blocks that a workflow ran and left with an error, now or in an earlier attempt."""

from __future__ import annotations

from ...notebook.document import DocumentError
from ...notebook.files.kinds import noun
from ...notebook.service import NotebookService
from ...protocol.plans import Plan
from ...protocol.renames import Rename
from ...workflows.fixes.probe import failure_of
from ..request import TurnRequest
from ..tool_calls.verification import Failure
from . import messages


class UnresolvedErrors:
    """Records in the plan which cells failed, and reports at its end which still do.

    ``resumed`` is the plan as an earlier attempt left it, None in the first one.
    """

    def __init__(self, resumed: Plan | None) -> None:
        failed = {} if resumed is None else resumed.failed_cells
        self._earlier = {(path, cell_id) for path, ids in failed.items() for cell_id in ids}

    def note(self, plan: Plan, failure: Failure) -> None:
        """A run failed."""
        if failure.path is None or failure.cell_id is None:
            return
        if failure.cell_id not in plan.failed_cells.setdefault(failure.path, []):
            plan.failed_cells[failure.path].append(failure.cell_id)

    def renamed(self, rename: Rename) -> None:
        """The cells are in the same notebooks, under their newer paths."""
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
