"""What the actions on data files share: which files there are, and how a new one is made."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from ....datasets.file_jobs import make_file
from ....datasets.files.formats import READ, SUFFIXES, format_of
from ....protocol.errors import AgentError
from ...action import (
    ActionContext,
    ActionFailed,
    ActionResult,
    ActionStopped,
    Option,
    Progress,
)

FORMATS = (
    Option("csv", "CSV"),
    Option("parquet", "Parquet"),
    Option("excel", "Excel", ("xlsx", "spreadsheet", "workbook")),
    Option("jsonl", "JSON lines", ("json", "ndjson")),
    Option("tsv", "TSV", ("tab-separated",)),
)
TARGET = "A path under the server root. Left out, it is written beside the data."
_STAGES = {
    "reading": "Reading",
    "writing": "Writing",
    "comparing": "Checking",
}


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
        return f"There is a file {path} already. Give another name, or delete it first."
    if not place.parent.is_dir():
        return f"There is no folder {PurePosixPath(path).parent}. Make it first."
    return None


async def make(
    context: ActionContext,
    operation: str,
    sources: Sequence[str],
    target: str,
    format: str,
    progress: Progress,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Make the new file of the sources; see ``datasets/file_jobs.py``. Raises ``ActionFailed``."""
    files = []
    for each in sources:
        path = await context.path(each)
        if not path.is_file():
            raise ActionFailed(f"There is no file {each}.")
        files.append((path, PurePosixPath(each).name))
    return await make_of(context, operation, files, target, format, progress, options)


async def make_of(
    context: ActionContext,
    operation: str,
    files: Sequence[tuple[Path, str]],
    target: str,
    format: str,
    progress: Progress,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The same of files anywhere, each with its name for the user. Raises ``ActionFailed``."""
    problem = await target_problem(context, target, format)
    if problem is not None:
        raise ActionFailed(problem)

    async def on_stage(stage: str, fraction: float) -> None:
        await progress(_STAGES.get(stage, "Working"), fraction)

    place = await context.path(target)
    try:
        return await make_file(operation, files, place, format, on_stage, options)
    except AgentError as error:
        raise ActionFailed(error.message) from error
    except asyncio.CancelledError as stopped:
        # It may have come into its place just then.
        is_there = await asyncio.shield(asyncio.to_thread(place.exists))
        was = f"`{target}` was written just before." if is_there else "Nothing was written."
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
