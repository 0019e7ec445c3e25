"""Draws rows of a data file at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from ....datasets.files.formats import format_of
from ...action import Action, ActionResult, Progress, parameter
from .files import (
    TARGET,
    choices_of,
    data_files,
    encoding_unknown,
    make,
    reading,
    result_of,
    target_path,
    target_problem,
)


class Sample(Action):
    """Writes some of a file's rows to a new file of the same format, in their order."""

    id = "sample"
    title = "Sample a data file"
    description = "Draws rows at random and writes them to a new file; the seed says which."
    examples = (
        "Sample 1000 random rows of sales.csv",
        "Draw a random sample of 10% of orders.parquet",
    )

    @reading(_="")
    class Parameters(BaseModel):
        """What is drawn from, and how much."""

        data: str = parameter(title="Data file", kind="data")
        rows: int | None = parameter(None, title="Rows", ge=1)
        percent: float | None = parameter(
            None, title="Percent", description="In place of a number of rows.", gt=0, le=100
        )
        seed: int = parameter(
            0, title="Seed", description="The same seed draws the same rows again."
        )
        target: str | None = parameter(None, title="New file", kind="new-path", description=TARGET)

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        return await data_files(self.context) if name == "data" else None

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        if (parameters.rows is None) == (parameters.percent is None):
            return {"rows": "Give a number of rows, or a percentage of them."}
        target, format = _target(parameters)
        problem = await target_problem(self.context, target, format)
        if problem is not None:
            return {"target": problem}
        unknown = await encoding_unknown(self.context, parameters.data, choices_of(parameters))
        return {"encoding": unknown} if unknown is not None else {}

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        target, format = _target(parameters)
        how = {"rows": parameters.rows, "seed": parameters.seed}
        if parameters.percent is not None:
            how["share"] = parameters.percent / 100
        files, choices = [parameters.data], [choices_of(parameters)]
        made = await make(self.context, "sample", files, target, format, progress, how, choices)
        first = (
            f"Wrote {made['rows']:,} of the {made['read'][0]['rows']:,} rows of "
            f"`{parameters.data}` to `{target}` (seed {parameters.seed})."
        )
        return result_of(first, target, made)


def _target(parameters: Any) -> tuple[str, str]:
    """The new file and its format: that of its name, else that of the data."""
    target = parameters.target
    format = format_of(target or "") or format_of(parameters.data) or "csv"
    return target_path(parameters.data, target, format, "_sample"), format
