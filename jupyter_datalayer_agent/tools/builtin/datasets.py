"""The dataset group: lists data sets, and loads one into a variable of the kernel."""

from __future__ import annotations

import builtins
import keyword
import posixpath
from typing import Any, Literal

from pydantic import Field, field_validator

from ...datasets.in_kernel import answer_in, loading
from ...datasets.incoming import format_size
from ...datasets.service import Datasets
from ...notebook.document import DocumentError
from ...protocol.base import Wire
from ...protocol.cells import CellRun
from ...protocol.datasets import Dataset
from ...protocol.errors import AgentError
from .. import redaction as private
from ..context import ToolContext, ToolFailure
from ..outputs import failure_code, failure_text
from ..registry import ToolOutcome, tool
from .documents import NoArguments

MAX_DATASETS = 50
MAX_COLUMNS = 200

Engine = Literal["pandas", "polars", "duckdb", "dask"]


class LoadDatasetFull(Wire):
    """Arguments of ``loadDatasetFull``: ``df_name`` is the variable."""

    name: str = Field(min_length=1)
    df_name: str
    engine: Engine | None = None

    @field_validator("df_name")
    @classmethod
    def _variable(cls, name: str) -> str:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"{name!r} is not a valid Python variable name")
        if hasattr(builtins, name):
            raise ValueError(f"{name} is reserved by Python; choose another")
        return name


@tool(NoArguments, group="dataset", label=("List data sets", "Listing data sets"), parallel=True)
async def list_datasets(args: NoArguments, context: ToolContext) -> ToolOutcome:
    """List uploaded data sets: rows, columns with types, size, first rows."""
    datasets = _datasets(context)
    known = await datasets.known(context.session_id)
    listed = [await _listed(datasets, each) for each in known[:MAX_DATASETS]]
    output: dict[str, Any] = {"datasets": listed}
    if (more := len(known) - MAX_DATASETS) > 0:
        output["more"] = more
    return ToolOutcome(output, _counted(len(known), "data set"))


@tool(
    LoadDatasetFull,
    group="dataset",
    label=("Load a data set", "Loading a data set"),
    runs=True,
    changes=True,
)
async def load_dataset_full(args: LoadDatasetFull, context: ToolContext) -> ToolOutcome:
    """Load a whole data set into the kernel's variable dfName; its code also belongs in a cell."""
    datasets = _datasets(context)
    try:
        dataset = await datasets.get(args.name)
        path = await datasets.file(args.name)
    except AgentError as error:
        if (file := await _plain_file(args.name, context)) is not None:
            raise file from error
        raise ToolFailure("not_found", error.message, "listDatasets shows them.") from error
    await context.status(f"Loading {dataset.name}")
    target = context.gate.target
    code = loading(
        path=str(path),
        name=args.df_name,
        estimate=dataset.memory,
        engine=args.engine,
        limit=None if target else context.notebooks.scratch.memory,
    )
    run = await _run(code, target, context)
    answer = answer_in(_printed(run))
    if run.status != "ok" or answer is None:
        raise _failed(run, dataset)
    if "kept" in answer:
        raise ToolFailure(
            "not_allowed",
            f"{args.df_name} is a {answer['kept']} in the kernel; nothing was bound.",
            "Choose another dfName.",
        )
    if "missing" in answer:
        raise _missing(answer, dataset)
    rows, columns = answer["shape"]
    if rows != dataset.rows:
        raise ToolFailure(
            "internal",
            f"{args.df_name} has {rows} rows, but the data set has {dataset.rows}.",
            "Its file was changed since it was uploaded.",
        )
    output = {
        "dfName": args.df_name,
        "engine": answer["engine"],
        "type": answer["type"],
        "shape": [rows, columns],
        "dtypes": dict(list(answer["dtypes"].items())[:MAX_COLUMNS]),
        "why": _why(args.engine, answer),
        "code": answer["code"],
    }
    if "replaced" in answer:
        output["replaced"] = f"{args.df_name} was a {answer['replaced']} before"
    summary = f"Loaded {dataset.name} as {args.df_name} · {answer['engine']} · {rows:,} rows"
    return ToolOutcome(output, summary)


async def _plain_file(name: str, context: ToolContext) -> ToolFailure | None:
    """The failure for a name that is not a data set but a file of the user's, beside the notebook
    or under the root; None for other names."""
    folder = posixpath.dirname(context.gate.target or "")
    for path in dict.fromkeys([posixpath.join(folder, name), name]):
        try:
            path = await context.notebooks.confine(path)
        except DocumentError:
            continue
        if not await context.notebooks.exists(path):
            continue
        shown = posixpath.relpath(path, folder or ".")
        where = "in this folder" if posixpath.dirname(path) == folder else "under the server's root"
        reads = _READS.get(posixpath.splitext(path)[1].lower())
        hint = "Read it in a cell."
        if reads is not None:
            hint = f"Read it in a cell: import pandas as pd; pd.{reads.format(repr(shown))}"
        return ToolFailure(
            "not_found", f"{shown} is a file {where}, and not an uploaded data set.", hint
        )
    return None


_READS = {
    ".csv": "read_csv({})",
    ".tsv": "read_csv({}, sep='\\t')",
    ".tab": "read_csv({}, sep='\\t')",
    ".parquet": "read_parquet({})",
    ".feather": "read_feather({})",
    ".xlsx": "read_excel({})",
    ".xls": "read_excel({})",
    ".json": "read_json({})",
    ".jsonl": "read_json({}, lines=True)",
    ".ndjson": "read_json({}, lines=True)",
}


async def _run(code: str, target: str | None, context: ToolContext) -> CellRun:
    if target is not None:
        return await context.notebooks.execute_code(
            code, path=target, timeout=context.kernel_timeout_seconds
        )
    done = await context.notebooks.scratch.run(context.session_id or "api", code)
    if done.passed is not None:
        raise ToolFailure("kernel_error", done.passed.message, done.passed.hint)
    return done.run


async def _listed(datasets: Datasets, dataset: Dataset) -> dict[str, Any]:
    columns = {each.name: each.type for each in dataset.columns[:MAX_COLUMNS]}
    listed: dict[str, Any] = {
        "name": dataset.name,
        "rows": dataset.rows,
        "columns": columns,
        "size": format_size(dataset.size),
        "path": dataset.path,
    }
    if (more := len(dataset.columns) - MAX_COLUMNS) > 0:
        listed["moreColumns"] = more
    if dataset.report.rejected_rows:
        listed["rowsNotRead"] = dataset.report.rejected_rows
    rows = [
        {name: value for name, value in row.items() if name in columns}
        for row in await datasets.sample(dataset.name)
    ]
    if rows:
        listed["sample"] = private.value(rows, "row_data", _counted(len(rows), "sample row"))
    return listed


def _datasets(context: ToolContext) -> Datasets:
    if context.datasets is None:
        raise ToolFailure("not_allowed", "Data sets are not available here.")
    return context.datasets


def _why(asked: str | None, answer: dict[str, Any]) -> str:
    need = f"about {format_size(answer['estimate'])} as a pandas frame"
    free = answer["memory"]
    room = "free memory is not known" if free is None else f"{format_size(free)} are free"
    if asked is not None:
        return f"{asked} was requested ({need}, {room})."
    if answer["fits"]:
        return f"pandas, since it fits a quarter of memory ({need}, {room})."
    return (
        f"{answer['engine']}, which reads what is asked of it and no more, since it does not fit a "
        f"quarter of memory ({need}, {room})."
    )


def _missing(answer: dict[str, Any], dataset: Dataset) -> ToolFailure:
    package = answer["missing"]
    line = f"%pip install {package}"
    if answer.get("engine") is None:
        return ToolFailure(
            "too_large",
            f"{dataset.name} does not fit a quarter of memory, and no lazy engine is installed in "
            f"the kernel ({_why(None, {**answer, 'engine': 'polars'})})",
            f"Install one ({line}), or set engine to pandas to load it anyway.",
        )
    needed = "" if package.strip('"').startswith(answer["engine"]) else f", for {answer['engine']}"
    return ToolFailure(
        "kernel_error",
        f"{package} is not installed in the kernel{needed}.",
        f"Run {line}, then call this again; or choose another engine.",
    )


def _failed(run: CellRun, dataset: Dataset) -> ToolFailure:
    if run.error is None:
        message = f"{dataset.name} was not loaded: {run.note or run.status}."
        return ToolFailure(failure_code(run), message)
    hint = "The kernel must be a Python kernel on the machine of the server."
    if "MemoryError" in run.error.ename:
        hint = "Use a lazy engine: polars, duckdb or dask."
    reason = failure_text(run.error.ename, run.error.evalue)
    what = private.text(f"{dataset.name} was not loaded: ", reason)
    return ToolFailure("kernel_error", what, hint)


def _printed(run: CellRun) -> str:
    return "".join(
        each["text"]
        for each in run.outputs
        if each.get("output_type") == "stream" and each.get("name") == "stdout"
    )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


TOOLS = [list_datasets, load_dataset_full]
