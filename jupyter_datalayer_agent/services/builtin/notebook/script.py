"""A notebook as a Python script with ``# %%`` lines, and back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from ...action import Action, ActionFailed, ActionResult, Progress, parameter
from ...new_files import beside, new_file, write_new
from .export import notebooks
from .parts import as_text, language_of
from .percent import from_script, to_script

_TARGET = "A name, for a file beside it, or a path from the server's root."


class ToScript(Action):
    """Writes a script that can be made a notebook again: text, ids and metadata are kept."""

    id = "to-script"
    title = "Write the notebook as a percent script"
    description = "Writes a Python script with # %% cells that can be made a notebook again."
    examples = (
        "Turn this notebook into a py:percent script",
        "Convert the notebook to a Python script",
        "Write the notebook as a percent script for version control",
        "Make a .py with # %% cells from the notebook, as jupytext does",
    )

    class Parameters(BaseModel):
        """What is written, and where."""

        notebook: str = parameter(title="Notebook", kind="notebook")
        target: str | None = parameter(None, title="File", description=_TARGET, kind="new-path")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        return await notebooks(self.context.files()) if name == "notebook" else None

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        notebook = await self.context.read(parameters.notebook)
        if (language := language_of(notebook)) not in (None, "python", "ipython"):
            raise ActionFailed(
                f"The notebook is in {language}, and percent scripts are written for Python only. "
                "Export it as a script instead."
            )
        target = beside(parameters.notebook, parameters.target, ".py")
        path = await new_file(self.context, target)
        write_new(path, await asyncio.to_thread(to_script, notebook))
        return ActionResult(
            f"Wrote `{parameters.notebook}` as `{target}`, without its outputs.", [target]
        )


class FromScript(Action):
    """Makes a notebook of a script; nothing of it is run."""

    id = "from-script"
    title = "Make a notebook of a script"
    description = "Makes a new notebook of a Python script, a cell for each # %% line."
    examples = (
        "Make a notebook from analysis.py",
        "Turn the script train.py into a notebook",
        "Convert my .py file back to a notebook",
    )

    class Parameters(BaseModel):
        """What is read, and where it is written."""

        script: str = parameter(title="Script", kind="path")
        target: str | None = parameter(
            None, title="New notebook", description=_TARGET, kind="new-path"
        )

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name != "script":
            return None
        return [each for each in await self.context.files() if each.endswith(".py")]

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        target = beside(parameters.script, parameters.target, ".ipynb")
        path = await new_file(self.context, target)
        notebook = from_script(await self.context.text(parameters.script))
        write_new(path, as_text(notebook))
        count = len(notebook["cells"])
        cells = f"{count} cell{'' if count == 1 else 's'}"
        return ActionResult(f"Made `{target}` of `{parameters.script}`: {cells}.", [target])
