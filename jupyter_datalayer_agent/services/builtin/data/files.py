"""What the actions on data files share: which files there are, and how a new one is made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, create_model

from ....datasets.dialect.head import encoding_problem
from ....datasets.file_jobs import make_file
from ....datasets.files.formats import READ, SUFFIXES, format_of
from ....protocol.datasets import ReadingChoices
from ....protocol.errors import AgentError
from ...action import (
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
    """Make the new file of the sources; see ``datasets/file_jobs.py``. Raises ``ActionFailed``."""
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
