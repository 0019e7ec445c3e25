"""Writes a table of the notebook's kernel to a file."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel

from ....datasets.in_kernel import answer_in, writing
from ...action import Action, ActionFailed, ActionResult, Progress, parameter
from .files import FORMATS, make_of, result_of, target_path, target_problem


class WriteTable(Action):
    """Has the kernel write the table, makes the file of it, and compares the rows."""

    id = "write-table"
    title = "Write a table of the kernel"
    description = "Writes a table (pandas, polars, Arrow) of the notebook's running kernel."
    examples = ("Write the kernel's table to a file", "Write the table sales to Parquet")

    class Parameters(BaseModel):
        """What is written, and to what."""

        table: str = parameter(title="Table", description="A variable of the notebook's kernel.")
        format: Literal["csv", "parquet", "excel", "jsonl", "tsv"] = parameter(title="Format")
        target: str | None = parameter(
            None,
            title="New file",
            kind="new-path",
            description="Leave empty to save it next to the notebook. A path under the server's "
            "folder.",
        )

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name == "table":
            tables = await self.context.tables()
            if not tables:
                raise ActionFailed(
                    "The kernel has no table. Run the cell that makes it: a data frame of pandas "
                    "or polars, or an Arrow table."
                )
            return tables
        return FORMATS if name == "format" else None

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        problem = await target_problem(self.context, self._target(parameters), parameters.format)
        return {"target": problem} if problem is not None else {}

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        table, target = parameters.table, self._target(parameters)
        if problem := await target_problem(self.context, target, parameters.format):
            raise ActionFailed(problem)
        parent = (await self.context.path(target)).parent
        try:
            work = Path(await asyncio.to_thread(tempfile.mkdtemp, "", ".writing-", parent))
        except OSError as error:
            raise ActionFailed(f"Nothing can be written there: {error.strerror}.") from error
        try:
            await progress(f"The kernel writes {table}")
            code = writing(name=table, folder=str(work))
            written = answer_in(await self.context.compute(code))
            if written is None:
                raise ActionFailed(f"The kernel did not say whether it wrote {table}.")
            if "refused" in written:
                raise ActionFailed(written["refused"])
            source = work / written["file"]
            if not source.is_file():
                raise ActionFailed(
                    "The kernel runs on another machine than the server, which cannot see the "
                    "files that it writes. Write the table in a cell."
                )
            sources = [(source, table)]
            made = await make_of(
                self.context, "convert", sources, target, parameters.format, progress
            )
        finally:
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, work, True))
        first = (
            f"Wrote `{table}` to `{target}`: {made['rows']:,} rows and "
            f"{len(made['columns']):,} columns, read back and compared."
        )
        return result_of(first, target, {**made, "notes": [*written["notes"], *made["notes"]]})

    def _target(self, parameters: Any) -> str:
        beside = PurePosixPath(self.context.notebook or "").parent / parameters.table
        return target_path(str(beside), parameters.target, parameters.format)
