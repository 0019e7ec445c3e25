"""Blobs: list, delete, copy to a data set."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from azure.storage.blob import BlobProperties, BlobServiceClient

from jupyter_datalayer_agent.services.action import ActionResult, Progress, parameter

from .account import Account
from .base import OfBlob, OfContainer, StorageAction
from .transfer import fetch

MOST_LISTED = 200


class ListBlobs(StorageAction):
    """Lists a container's blobs."""

    id = "list-blobs"
    title = "List the blobs of a container"
    description = "Lists the blobs of a container with their sizes."
    examples = ("List the blobs in the container reports", "What is in the storage container")
    Parameters = OfContainer

    async def execute(self, parameters: OfContainer, progress: Progress) -> ActionResult:
        """See ``Action``."""
        name = parameters.container

        def some(client: BlobServiceClient) -> list[BlobProperties]:
            blobs = client.get_container_client(name).list_blobs()
            return list(islice(blobs, MOST_LISTED + 1))

        found = await Account(parameters.connection).use(some, container=name)
        lines = [f"- `{each.name}` ({each.size:,} bytes)" for each in found[:MOST_LISTED]]
        if len(found) > MOST_LISTED:
            lines.append(f"\nThese are the first {MOST_LISTED}.")
        return ActionResult("\n".join(lines) or f"The container `{name}` is empty.")


class DeleteBlob(StorageAction):
    """Deletes one blob."""

    id = "delete-blob"
    title = "Delete a blob"
    description = "Deletes a blob from a container."
    examples = ("Delete the blob old.csv from reports", "Remove a blob from Azure")
    destructive = True
    Parameters = OfBlob

    def destroys(self, known: Mapping[str, Any]) -> str:
        """See ``Action``."""
        blob, container = known.get("blob", "that is chosen"), known.get("container", "chosen")
        return f"The blob {blob} in the container {container}. The agent cannot bring it back."

    async def execute(self, parameters: OfBlob, progress: Progress) -> ActionResult:
        """See ``Action``."""
        container, blob = parameters.container, parameters.blob
        await Account(parameters.connection).use(
            lambda client: client.get_blob_client(container, blob).delete_blob(),
            container=container,
            blob=blob,
        )
        return ActionResult(f"Deleted the blob `{blob}` from `{container}`.")


class CopyToDataset(StorageAction):
    """Makes a data set of a blob."""

    id = "copy-to-dataset"
    title = "Copy a blob to a data set"
    description = "Downloads a blob and makes a data set (Parquet) of it."
    examples = ("Copy the blob sales.csv to a data set", "Make a data set of a blob in Azure")

    class Parameters(OfBlob):
        """Which blob, and what the data set is called."""

        name: str | None = parameter(None, title="Name of the data set", kind="name")

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        source = parameters.blob.rpartition("/")[2]
        folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="azure-storage-")
        try:
            # Its suffix says what format it is.
            file = Path(folder.name) / f"blob{Path(source).suffix}"
            await fetch(parameters, file, progress)
            await progress(f"Making a data set of {source}")
            path = await self.context.add_dataset(file, source, parameters.name)
        finally:
            await asyncio.to_thread(folder.cleanup)
        return ActionResult(f"The data set is `{path}`.", [path])
