"""Containers: list, create, delete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyter_datalayer_agent.services.action import ActionResult, Progress, parameter

from .account import Account
from .base import CONTAINER, OfAccount, OfContainer, StorageAction


class ListContainers(StorageAction):
    """Lists the account's containers."""

    id = "list-containers"
    title = "List the containers"
    description = "Lists the containers of the storage account."
    examples = ("List the containers", "Which containers are in my storage account")
    Parameters = OfAccount

    async def execute(self, parameters: OfAccount, progress: Progress) -> ActionResult:
        """See ``Action``."""
        names = await Account(parameters.connection).containers()
        lines = [f"- `{each}`" for each in names]
        return ActionResult("\n".join(lines) or "The account has no containers.")


class CreateContainer(StorageAction):
    """Creates a container that nobody but the account can read."""

    id = "create-container"
    title = "Create a container"
    description = "Creates a private container in the storage account."
    examples = ("Create a container called reports", "Make a new storage container")
    new = frozenset({"container"})

    class Parameters(OfAccount):
        """What it is called."""

        container: str = parameter(title="Name", kind="name", also_called=CONTAINER)

    async def execute(self, parameters: Any, progress: Progress) -> ActionResult:
        """See ``Action``."""
        name = parameters.container
        account = Account(parameters.connection)
        await account.use(lambda client: client.create_container(name), container=name)
        return ActionResult(f"Created the container `{name}`.")


class DeleteContainer(StorageAction):
    """Deletes a container with all that is in it."""

    id = "delete-container"
    title = "Delete a container"
    description = "Deletes a container and all blobs in it."
    examples = ("Delete the container reports", "Remove the storage container and its blobs")
    destructive = True
    Parameters = OfContainer

    def destroys(self, known: Mapping[str, Any]) -> str:
        """See ``Action``."""
        name = known.get("container", "that is chosen")
        return f"The container {name} and every blob in it. The agent cannot bring them back."

    async def execute(self, parameters: OfContainer, progress: Progress) -> ActionResult:
        """See ``Action``."""
        name = parameters.container
        account = Account(parameters.connection)
        await account.use(lambda client: client.delete_container(name), container=name)
        return ActionResult(f"Deleted the container `{name}` and all that was in it.")
