"""Runs the active notebook by JupyterLab's own commands, as its Run menu does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ....protocol.page import PageCommand
from ...action import Action, ActionFailed, ActionResult, Progress

NO_NOTEBOOK = "No notebook is active: open the one that is to be run."


class _Run(Action):
    """Has the page carry out ``command`` in the active notebook; ``done`` is what it says then."""

    command: ClassVar[PageCommand]
    done: ClassVar[str]
    lost: ClassVar[str | None] = None

    def destroys(self, known: Mapping[str, Any]) -> str | None:
        """See ``Action``."""
        return self.lost

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        if self.context.notebook is None:
            raise ActionFailed(NO_NOTEBOOK)
        return {}

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        notebook = self.context.notebook
        # The command is about the tab that is active by now, which may be another one.
        await self.context.page("docmanager:open", {"path": notebook})
        await self.context.page(self.command, {})
        return ActionResult(self.done.format(notebook=f"`{notebook}`"))


class RunAll(_Run):
    """Runs all cells."""

    id = "run-all"
    title = "Run all cells"
    description = "Runs all cells of the active notebook in JupyterLab, in the kernel as it is."
    examples = ("JupyterLab: run all", "JupyterLab: run the whole notebook, everything")
    command = "notebook:run-all-cells"
    done = "Running all cells of {notebook}."


class RunSelected(_Run):
    """Runs the selected cells."""

    id = "run-selected"
    title = "Run the selected cells"
    description = "Runs the cells that are selected in the active notebook."
    examples = ("JupyterLab: run the selected cells", "Run the selection in JupyterLab")
    command = "notebook:run-cell"
    done = "Running the selected cells of {notebook}."


class RestartAndRunAll(_Run):
    """Runs the notebook from its beginning in a new kernel."""

    id = "restart-run-all"
    title = "Restart and run all"
    description = "Restarts the active notebook's kernel and runs it all; JupyterLab asks first."
    examples = ("JupyterLab: restart and run all",)
    destructive = True
    lost = "The variables of the active notebook's kernel."
    command = "notebook:restart-run-all"
    done = "JupyterLab asks whether the kernel of {notebook} is to be restarted."


class Interrupt(_Run):
    """Interrupts the kernel."""

    id = "interrupt"
    title = "Interrupt the kernel"
    description = "Ends what the kernel of the active notebook is doing; its variables are kept."
    examples = ("JupyterLab: interrupt", "Interrupt the kernel in JupyterLab")
    destructive = True
    lost = "The cell that is running ends without its result. Variables are kept."
    command = "notebook:interrupt-kernel"
    done = "Interrupted the kernel of {notebook}."
