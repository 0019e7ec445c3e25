"""Merges notebooks into a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from ...action import Action, ActionFailed, ActionResult, Progress, parameter
from ...new_files import beside, new_file, write_new
from .export import notebooks
from .parts import as_text, language_of, merge


class Merge(Action):
    """Writes the cells of several notebooks, in their order, into a new one."""

    id = "merge"
    title = "Merge notebooks"
    description = "Writes the cells of several notebooks, one after the other, into a new one."
    examples = (
        "Merge intro.ipynb and analysis.ipynb into one notebook",
        "Combine these notebooks into one",
        "Join the notebooks together",
    )

    class Parameters(BaseModel):
        """What is merged, and into what."""

        notebooks: list[str] = parameter(title="Notebooks", min_length=2)
        target: str = parameter(title="New notebook", kind="new-path")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name != "notebooks":
            return None
        target = known.get("target")
        return [each for each in await notebooks(self.context.files()) if each != target]

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        target = beside(parameters.notebooks[0], parameters.target, ".ipynb")
        path = await new_file(self.context, target)
        parts = []
        for number, each in enumerate(parameters.notebooks):
            await progress(f"Reading {each}", number / len(parameters.notebooks))
            parts.append(await self.context.read(each))
        languages = {name for part in parts if (name := language_of(part)) is not None}
        if len(languages) > 1:
            raise ActionFailed(
                f"These notebooks are in different languages ({', '.join(sorted(languages))}), "
                "and a notebook has one kernel. Merge those of one language."
            )
        write_new(path, as_text(merge(parts)))
        count = len(parts)
        return ActionResult(f"Merged {count} notebooks into `{target}`.", [target])
