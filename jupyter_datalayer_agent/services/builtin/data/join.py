"""Joins two data files, with a check of their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel

from ....datasets.files.formats import format_of
from ....protocol.datasets import ReadingChoices
from ...action import Action, ActionResult, Option, Progress, parameter
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
        target, format = _target(parameters)
        problem_of_target = await target_problem(self.context, target, format)
        return {"target": problem_of_target} if problem_of_target is not None else {}

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        target, format = _target(parameters)
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


def _target(parameters: Any) -> tuple[str, str]:
    target = parameters.target
    format = format_of(target or "") or format_of(parameters.data) or "csv"
    ending = f"_{PurePosixPath(parameters.other).stem}"
    return target_path(parameters.data, target, format, ending), format
