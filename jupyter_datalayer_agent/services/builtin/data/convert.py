"""Converts a data file to another format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from ....datasets.files.formats import format_of
from ...action import Action, ActionResult, Progress, parameter
from .files import (
    FORMATS,
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


class Convert(Action):
    """Writes the same table in another format, beside it, and compares the rows."""

    id = "convert"
    title = "Convert a data file"
    description = "Writes the data in another format, with its types, and compares the rows."
    examples = (
        "Convert sales.csv to Parquet",
        "Turn the Excel spreadsheet into CSV",
        "Save orders.parquet as JSON lines",
    )

    @reading(_="")
    class Parameters(BaseModel):
        """What is converted, and to what."""

        data: str = parameter(title="Data file", kind="data")
        format: Literal["csv", "parquet", "excel", "jsonl", "tsv"] = parameter(title="Format")
        target: str | None = parameter(None, title="New file", kind="new-path", description=TARGET)

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name == "data":
            return await data_files(self.context)
        if name == "format":
            own = format_of(str(known.get("data", "")))
            return [each for each in FORMATS if each.value != own]
        return None

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        target = target_path(parameters.data, parameters.target, parameters.format)
        problem = await target_problem(self.context, target, parameters.format)
        if problem is not None:
            return {"target": problem}
        unknown = await encoding_unknown(self.context, parameters.data, choices_of(parameters))
        return {"encoding": unknown} if unknown is not None else {}

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        format = parameters.format
        target = target_path(parameters.data, parameters.target, format)
        choices = [choices_of(parameters)]
        made = await make(
            self.context, "convert", [parameters.data], target, format, progress, choices=choices
        )
        first = (
            f"Converted `{parameters.data}` to `{target}`: {made['rows']:,} rows and "
            f"{len(made['columns']):,} columns, read back and compared."
        )
        return result_of(first, target, made)
