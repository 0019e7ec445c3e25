"""The quality report of a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from ....protocol.quality import QualityReport
from ...action import Action, ActionResult, Progress, parameter
from .export import notebooks

MOST = 20


class Quality(Action):
    """Analyses a notebook without running it."""

    id = "quality"
    title = "Check the notebook's quality"
    description = "Reports what could be better in the notebook, without running it."
    examples = (
        "Check the quality of this notebook",
        "Give me a quality report of the notebook",
        "Lint and review this notebook",
    )

    class Parameters(BaseModel):
        """What is analysed."""

        notebook: str = parameter(title="Notebook", kind="notebook")

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        return await notebooks(self.context.files()) if name == "notebook" else None

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        await progress("Analysing")
        return ActionResult(as_markdown(await self.context.quality(parameters.notebook)))


def as_markdown(report: QualityReport) -> str:
    """The report, with the first 20 issues."""
    lines = [f"**Quality: {report.score} of 100**", ""]
    for issue in report.issues[:MOST]:
        place = f", cell {issue.index + 1}" if issue.index is not None else ""
        lines.append(f"- {issue.severity}{place}: {issue.message}")
    if len(report.issues) > MOST:
        lines.append(f"- and {len(report.issues) - MOST} more")
    if report.suggestions:
        lines += ["", "To improve it:", "", *(f"- {each}" for each in report.suggestions)]
    return "\n".join(lines).strip()
