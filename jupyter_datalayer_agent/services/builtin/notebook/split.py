"""Splits a notebook into new ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel

from ...action import Action, ActionFailed, ActionResult, Progress, parameter
from ...new_files import new_file, write_new
from .export import notebooks
from .parts import Notebook, as_text, split, starts_at_headings

MOST_PARTS = 100


class Split(Action):
    """Writes the parts of a notebook as new notebooks beside it, which itself stays as it is."""

    id = "split"
    title = "Split the notebook"
    description = (
        "Writes the parts of the notebook, by its headings or from a cell on, as new ones."
    )
    examples = (
        "Split this notebook into several notebooks",
        "Split the notebook at its top-level headings",
        "Break the notebook up into smaller ones",
    )

    class Parameters(BaseModel):
        """What is split, and where."""

        notebook: str = parameter(title="Notebook", kind="notebook")
        level: int | None = parameter(
            None,
            title="Heading level",
            description="A part begins at each heading of this level or a higher one (1 to 6).",
            ge=1,
            le=6,
        )
        cell: int | None = parameter(
            None,
            title="Cell",
            description="The number of the cell with which the second part begins.",
            ge=2,
        )

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        return await notebooks(self.context.files()) if name == "notebook" else None

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        if (parameters.level is None) == (parameters.cell is None):
            return {"level": "Give either a heading level or the number of a cell."}
        return {}

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        notebook = await self.context.read(parameters.notebook)
        parts = split(notebook, _starts(notebook, parameters.level, parameters.cell))
        if len(parts) < 2:
            raise ActionFailed(
                "That makes one part only. Choose another heading level, or a cell's number."
            )
        if len(parts) > MOST_PARTS:
            raise ActionFailed(f"That makes {len(parts)} parts. Choose a higher heading level.")
        path = PurePosixPath(parameters.notebook)
        digits = len(str(len(parts)))
        names = [
            str(path.with_name(f"{path.stem}-{number:0{digits}}.ipynb"))
            for number in range(1, len(parts) + 1)
        ]
        targets = [await new_file(self.context, name) for name in names]
        await progress(f"Writing {len(parts)} notebooks")
        written = []
        try:
            for target, part in zip(targets, parts, strict=True):
                write_new(target, as_text(part))
                written.append(target)
        except ActionFailed:
            for target in written:
                target.unlink(missing_ok=True)
            raise
        listed = "\n".join(f"- `{name}`" for name in names)
        return ActionResult(f"Split `{parameters.notebook}` into:\n\n{listed}", names)


def _starts(notebook: Notebook, level: int | None, cell: int | None) -> list[int]:
    count = len(notebook["cells"])
    if level is not None:
        return starts_at_headings(notebook["cells"], level)
    assert cell is not None
    if cell > count:
        raise ActionFailed(f"The notebook has {count} cells: there is no cell {cell}.")
    return [cell - 1]
