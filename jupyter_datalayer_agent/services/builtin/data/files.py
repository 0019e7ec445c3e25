"""What the actions on data files share: which files there are, and how a new one is made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, create_model

from ....datasets.conversion_process import make_file
from ....datasets.dialect.encodings import encoding_problem
from ....datasets.files.formats import READ, SUFFIXES, format_of
from ....protocol.datasets import ReadingChoices
from ....protocol.errors import AgentError
from ...action import (
    Action,
    ActionContext,
    ActionFailed,
    ActionResult,
    ActionStopped,
    Option,
    Progress,
    parameter,
)

FORMATS = (
    Option("csv", "CSV"),
    Option("parquet", "Parquet"),
    Option("excel", "Excel", ("xlsx", "spreadsheet", "workbook")),
    Option("jsonl", "JSON lines", ("json", "ndjson")),
    Option("tsv", "TSV", ("tab-separated",)),
)
TARGET = "Leave empty to save it next to the data. A path under the server's folder."
_STAGES = {
    "reading": "Reading",
    "writing": "Writing",
    "comparing": "Checking",
}


def reading(**titles: str) -> Callable[[type[BaseModel]], Any]:
    """The parameters, and after them how the data file is written, where that should not be
    detected (``ReadingChoices``). ``titles`` has the ending of the titles of the fields for each
    file, by the beginning of their names: ``reading(_="", other_=" of the second file")``."""

    def with_choices(parameters: type[BaseModel]) -> Any:
        fields: dict[str, Any] = {}
        for start, ending in titles.items():
            for name, info in ReadingChoices.model_fields.items():
                annotation: Any = info.annotation
                for each in info.metadata:
                    annotation = Annotated[annotation, each]
                title = f"{name.capitalize()}{ending}"
                shown = parameter(None, title=title, description=info.description)
                fields[f"{start.lstrip('_')}{name}"] = (annotation, shown)
        name, about = parameters.__name__, parameters.__doc__
        return create_model(name, __base__=parameters, __doc__=about, **fields)

    return with_choices


def choices_of(parameters: Any, start: str = "") -> dict[str, str]:
    """What the user says of how a file is written; see ``reading``."""
    given = {name: getattr(parameters, f"{start}{name}") for name in ReadingChoices.model_fields}
    return {name: value for name, value in given.items() if value is not None}


async def encoding_unknown(
    context: ActionContext, data: str, choices: Mapping[str, str]
) -> str | None:
    """Why an encoding has to be given for the file, with the choices; None where none has to."""
    if "encoding" in choices or format_of(data) not in ("csv", "tsv", "jsonl"):
        return None
    path = await context.path(data)
    name = PurePosixPath(data).name
    return await asyncio.to_thread(encoding_problem, path, name) if path.is_file() else None


async def data_files(context: ActionContext) -> list[str]:
    """The data files under the root, nearest to it first."""
    return [each for each in await context.files() if each.lower().endswith(tuple(READ))]


def target_path(data: str, target: str | None, format: str, ending: str = "") -> str:
    """The path of the new file: ``target`` (a mere name is one beside the data), or that of the
    data with ``ending`` and the suffix of the format. A target without a suffix gets it."""
    source = PurePosixPath(data)
    if target is None or not target.strip():
        return str(source.with_name(f"{source.stem}{ending}{SUFFIXES[format]}"))
    path = PurePosixPath(target.strip())
    if format_of(path.name) is None:
        path = path.with_name(f"{path.name}{SUFFIXES[format]}")
    return str(path if len(path.parts) > 1 else source.parent / path)


async def target_problem(context: ActionContext, path: str, format: str) -> str | None:
    """Why a new file cannot be written there; None where it can."""
    written = format_of(path)
    if written != format:
        label = next(each.text for each in FORMATS if each.value == format)
        return f"{path} does not end as a file of {label} does: {SUFFIXES[format]}."
    try:
        place = await context.path(path)
    except ActionFailed as error:
        return str(error)
    if place.exists():
        return f"{path} already exists. Choose another name, or delete the file first."
    if not place.parent.is_dir():
        return f"The folder {PurePosixPath(path).parent} does not exist. Create it first."
    return None


async def make(
    context: ActionContext,
    operation: str,
    sources: Sequence[str],
    target: str,
    format: str,
    progress: Progress,
    options: Mapping[str, Any] | None = None,
    choices: Sequence[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """Make the new file of the sources; see ``datasets/conversion_process.py``.

    Raises ``ActionFailed``."""
    files = []
    for each in sources:
        path = await context.path(each)
        if not path.is_file():
            raise ActionFailed(f"There is no file {each}.")
        files.append((path, PurePosixPath(each).name))
    return await make_of(context, operation, files, target, format, progress, options, choices)


async def make_of(
    context: ActionContext,
    operation: str,
    files: Sequence[tuple[Path, str]],
    target: str,
    format: str,
    progress: Progress,
    options: Mapping[str, Any] | None = None,
    choices: Sequence[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """The same of files anywhere, each with its name for the user. Raises ``ActionFailed``."""
    problem = await target_problem(context, target, format)
    if problem is not None:
        raise ActionFailed(problem)

    async def on_stage(stage: str, fraction: float) -> None:
        await progress(_STAGES.get(stage, "Working"), fraction)

    place = await context.path(target)
    try:
        return await make_file(operation, files, place, format, on_stage, options, choices)
    except AgentError as error:
        raise ActionFailed(error.message) from error
    except asyncio.CancelledError as stopped:
        # It may have come into its place just then.
        is_there = await asyncio.shield(asyncio.to_thread(place.exists))
        was = f"`{target}` was just written." if is_there else "Nothing was written."
        raise ActionStopped(f"Stopped. {was}") from stopped


def result_of(first: str, target: str, made: Mapping[str, Any]) -> ActionResult:
    """The result: ``first`` says what was done, the rest what became of rows and types."""
    lines = [first, *(f"- {each}" for each in notes_of(made))]
    return ActionResult("\n".join(lines), [target])


def notes_of(made: Mapping[str, Any]) -> list[str]:
    """What the user should know of how the files were read and written."""
    notes = []
    for facts in made["read"]:
        report = facts["report"]
        if report["rejected_rows"]:
            where = ", ".join(f"line {e['line']}: {e['reason']}" for e in report["rejected"][:3])
            notes.append(
                f"{report['rejected_rows']:,} rows of {facts['name']} could not be read and are "
                f"not in the new file ({where})."
            )
        notes += [f"{facts['name']}: {each}" for each in report["notes"]]
    return [*notes, *made["notes"]]


# Converts a data file to another format.


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


# Draws rows of a data file at random.


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


# Joins two data files, with a check of their keys.


_HOW = (
    Option("inner", "only rows that match", ("inner join",)),
    Option("left", "all rows of the first file", ("left join",)),
    Option("outer", "all rows of both files", ("outer join", "full")),
)


class Join(Action):
    """Joins by key columns: counts duplicates and rows that match nothing, and does not multiply
    rows unless that was allowed."""

    id = "join"
    title = "Join two data files"
    description = "Joins by key columns; duplicates and unmatched rows are counted first."
    examples = (
        "Join orders.csv with customers.csv on customer_id",
        "Merge the two data files sales.csv and stores.csv by store",
    )

    @reading(_="", other_=" of the second file")
    class Parameters(BaseModel):
        """What is joined, and how."""

        data: str = parameter(title="First file", kind="data")
        other: str = parameter(title="Second file", kind="data")
        keys: list[str] = parameter(title="Key columns", kind="columns")
        other_keys: list[str] | None = parameter(
            None,
            title="Key columns of the second file",
            description="Where they have other names there, in the same order.",
        )
        how: Literal["inner", "left", "outer"] = parameter("inner", title="Keep")
        many_to_many: bool = parameter(
            False,
            title="Allow many-to-many",
            description="Where a key is repeated in both files, every pair becomes a row.",
        )
        target: str | None = parameter(None, title="New file", kind="new-path", description=TARGET)

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name in ("data", "other"):
            return await data_files(self.context)
        if name == "how":
            return _HOW
        if name == "keys" and "data" in known:
            choices = {each: known[each] for each in ReadingChoices.model_fields if each in known}
            return await self.context.columns(known["data"], choices) or None
        return None

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        if parameters.data == parameters.other:
            return {"other": "Choose another file: this is the first one."}
        files = ((parameters.data, ""), (parameters.other, "other_"))
        for file, start in files:
            choices = choices_of(parameters, start)
            if unknown := await encoding_unknown(self.context, file, choices):
                return {f"{start}encoding": unknown}
        columns = await self.context.columns(parameters.other, choices)
        others = parameters.other_keys or parameters.keys
        missing = [each for each in others if columns and each not in columns]
        if missing:
            there = ", ".join(columns[:20])
            problem = f"{parameters.other} has no column {missing[0]}. It has: {there}."
            return {"other_keys": problem}
        if len(others) != len(parameters.keys):
            return {"other_keys": "Give as many key columns of the second file as of the first."}
        target, format = _join_target(parameters)
        problem_of_target = await target_problem(self.context, target, format)
        return {"target": problem_of_target} if problem_of_target is not None else {}

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        target, format = _join_target(parameters)
        how = {
            "keys": parameters.keys,
            "other_keys": parameters.other_keys or parameters.keys,
            "how": parameters.how,
            "many_to_many": parameters.many_to_many,
        }
        files = [parameters.data, parameters.other]
        choices = [choices_of(parameters), choices_of(parameters, "other_")]
        made = await make(self.context, "join", files, target, format, progress, how, choices)
        join = made["join"]
        first = (
            f"Joined `{files[0]}` and `{files[1]}` on {', '.join(parameters.keys)}, "
            f"{join['kind']}: `{target}` has {made['rows']:,} rows."
        )
        return result_of(first, target, {**made, "notes": [*_of_keys(files, made), *made["notes"]]})


def _of_keys(files: Sequence[str], made: Mapping[str, Any]) -> list[str]:
    join, notes = made["join"], []
    for side, file, read in zip(("first", "second"), files, made["read"], strict=True):
        line = (
            f"`{file}`: {read['rows']:,} rows; {join[f'{side}_repeated']:,} keys occur more than "
            f"once; {join[f'{side}_unmatched']:,} rows match nothing"
        )
        without = join[f"{side}_without_key"]
        notes.append(f"{line}, {without:,} of them without a key." if without else f"{line}.")
    return notes + [f"{each}." for each in join["renamed"]]


def _join_target(parameters: Any) -> tuple[str, str]:
    target = parameters.target
    format = format_of(target or "") or format_of(parameters.data) or "csv"
    ending = f"_{PurePosixPath(parameters.other).stem}"
    return target_path(parameters.data, target, format, ending), format
