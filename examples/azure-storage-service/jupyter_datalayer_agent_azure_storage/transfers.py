"""Upload and download, with a schema form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_datalayer_agent.services.action import (
    ActionFailed,
    ActionResult,
    Progress,
    parameter,
)

from .base import OfBlob, OfContainer, StorageAction
from .transfer import fetch, send


class Upload(StorageAction):
    """Uploads a file to a blob that is not there yet."""

    id = "upload"
    title = "Upload a file to Azure"
    description = "Uploads a file to a container; no blob is overwritten."
    examples = ("Upload cars.csv to the container reports", "Put model.pkl into Azure storage")
    new = frozenset({"blob"})

    class Parameters(OfContainer):
        """What is uploaded, and where to."""

        file: str = parameter(title="File", kind="path")
        blob: str | None = parameter(
            None, title="Blob", description="Left out, it is called as the file.", kind="new-path"
        )

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        source = await self.context.path(parameters.file)
        if not source.is_file():
            raise ActionFailed(f"There is no file {parameters.file}.")
        blob = parameters.blob or source.name
        await send(parameters, source, blob, progress)
        return ActionResult(f"Uploaded `{parameters.file}` to `{parameters.container}/{blob}`.")


class Download(StorageAction):
    """Downloads a blob to a file that is not there yet."""

    id = "download"
    title = "Download a blob from Azure"
    description = "Downloads a blob to a file; no file is overwritten."
    examples = ("Download sales.csv from the container reports", "Fetch a blob from Azure")

    class Parameters(OfBlob):
        """What is downloaded, and where to."""

        to: str | None = parameter(
            None, title="File", description="Left out, it is called as the blob.", kind="new-path"
        )

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        name = parameters.to or parameters.blob.rpartition("/")[2]
        target = await self.context.path(name)
        if target.exists():
            raise ActionFailed(f"There is a file {name} already. Choose another name for it.")
        if not target.parent.is_dir():
            raise ActionFailed(f"There is no folder {Path(name).parent}. Make it first.")
        await fetch(parameters, target, progress)
        return ActionResult(f"Downloaded `{parameters.container}/{parameters.blob}`.", [name])
