"""Makes a file that is there a data set of the conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel

from ...action import Action, ActionFailed, ActionResult, Progress, parameter
from .files import choices_of, data_files, encoding_unknown, reading


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
