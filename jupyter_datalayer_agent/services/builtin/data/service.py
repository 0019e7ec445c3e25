"""``/data``: data files converted, sampled, joined, profiled and registered; tables written."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel

from ....datasets.in_kernel import answer_in, writing
from ....workflows.templates.builtin.exploratory_data_analysis import exploratory_data_analysis
from ...action import Action, ActionFailed, ActionResult, Progress, parameter
from ...service import Link, Service, ServiceConfig
from ...workflow_action import WorkflowAction, parameters_of
from .files import (
    FORMATS,
    Convert,
    Join,
    Sample,
    choices_of,
    data_files,
    encoding_unknown,
    make_of,
    reading,
    result_of,
    target_path,
    target_problem,
)

# Profiles a data file: the exploratory workflow.


class Profile(WorkflowAction):
    """Runs the workflow “Exploratory data analysis”."""

    id = "profile"
    title = "Profile a data file"
    description = "Explores columns, missing values, outliers and relations in a new notebook."
    examples = ("Profile the file", "Data profile with outliers and missing values")
    template = exploratory_data_analysis
    Parameters = parameters_of(exploratory_data_analysis)


# Makes a file that is there a data set of the conversation.


class Register(Action):
    """Reads the file as an upload is read. The file itself stays as it is."""

    id = "register"
    title = "Register a data set"
    description = "Makes a file a data set, which the agent can describe and load into a kernel."
    examples = (
        "Register sales.csv as a data set",
        "Make a data set of orders.parquet, called orders",
    )

    @reading(_="")
    class Parameters(BaseModel):
        """Which file, and what the data set is called."""

        data: str = parameter(title="Data file", kind="data")
        name: str | None = parameter(
            None,
            title="Name of the data set",
            kind="name",
            description="Left out, that of the file.",
            min_length=1,
            max_length=80,
        )

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name != "data":
            return None
        files = await data_files(self.context)
        if not files:
            raise ActionFailed(
                "There is no data file under the server root. Upload one with the paperclip of the "
                "panel, which makes a data set of it."
            )
        return files

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        unknown = await encoding_unknown(self.context, parameters.data, choices_of(parameters))
        return {"encoding": unknown} if unknown is not None else {}

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        file = await self.context.path(parameters.data)
        if not file.is_file():
            raise ActionFailed(f"There is no file {parameters.data}.")
        await progress(f"Reading {parameters.data}")
        source = PurePosixPath(parameters.data).name
        choices = choices_of(parameters)
        path = await self.context.add_dataset(file, source, parameters.name, choices)
        return ActionResult(
            f"`{parameters.data}` is the data set **{PurePosixPath(path).stem}** of this "
            f"conversation, kept as `{path}`. The file itself is unchanged; `/datasets` shows what "
            "was read, and deletes the data set again."
        )


# Writes a table of the notebook's kernel to a file.


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


_CONTEXT = """
# Formats
CSV is read by every program, but has no types: dates, codes with leading zeros and missing values
are guessed anew by each reader.

Parquet keeps the type of each column, is compressed, and is read by columns: for more than some
ten thousand rows it is the best choice for work in Python, R or DuckDB.

Excel is for people who look at the table: a sheet has at most 1,048,576 rows, and a number at most
15 exact digits.

JSON lines, an object a line, is for records whose fields differ or are nested, and for logs.

# Converting
Convert reads CSV and TSV with any delimiter and encoding, Parquet, JSON, JSON lines and Excel, and
writes CSV, TSV, Parquet, Excel and JSON lines.

Each column gets a type that all of its values have: text with leading zeros stays text. The new
file is read back, and its rows and types are compared with the first. Rows that cannot be read are
counted and named by their lines.

Of an Excel workbook the first sheet that is not empty is read.

# Sampling
A sample is drawn at random, without replacement, and keeps the order of the rows. The same seed
draws the same rows of the same file again.

A sample of the first rows is not random: files are often sorted by time or by group.

# Joining
Before a join the keys are checked: a key that is repeated on one side repeats the other side's
rows, and one that is repeated on both sides (many-to-many) multiplies them. The latter is refused
unless you allow it.

An inner join keeps only rows that match, a left join all of the first file, an outer join all of
both. Keys that have no value match nothing. Keys that are text in one file and numbers in the other
are refused.

# Profiling
A profile is a new notebook that explores the file: types, missing values, distributions, outliers
and what goes together. It is the workflow “Exploratory data analysis”.

# Data sets
A data set is a table that the agent knows by its name: kept as Parquet, described to a model
without its rows, and loaded into a kernel when it is asked for. Register makes one of a file that
is there, as an upload does; the file stays as it is.

# Tables of the kernel
Write table writes a data frame of pandas or polars, or an Arrow table, from the notebook's running
kernel. A named index becomes a column; a column of several types is written as text. Kernels of
other languages than Python write their tables in a cell, for example R by `write.csv`.

# Files
A file that exists is never overwritten: give another name, or delete it first.
"""

SERVICE = Service(
    id="data",
    name="Data",
    description="Convert, sample, join, profile and register data files; write a kernel's table.",
    config=ServiceConfig(
        context=_CONTEXT,
        links=[
            Link("Parquet", "https://parquet.apache.org/docs/"),
            Link("DuckDB: importing data", "https://duckdb.org/docs/stable/data/overview"),
        ],
        topics=[
            "CSV",
            "Parquet",
            "Excel",
            "xlsx",
            "JSON lines",
            "spreadsheet",
            "sample",
            "join",
        ],
        # What is done in the notebook, with its variables.
        questions=[
            "Who or what reads the file next?",
            "How many rows does it have?",
        ],
    ),
    examples=["Convert sales.csv to Parquet", "Is CSV or Parquet better for large data files?"],
    actions=[Convert, Sample, Join, Profile, Register, WriteTable],
)
