"""A storage account: which one, its containers and blobs, and what is wrong with it."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ServiceRequestError,
    ServiceResponseError,
)
from azure.storage.blob import BlobServiceClient

from jupyter_datalayer_agent.services.action import ActionFailed

VARIABLE = "AZURE_STORAGE_CONNECTION_STRING"
MOST_CHOICES = 1_000
"""A container with more blobs offers none of them to choose from: the name is typed."""

_CONTAINER = re.compile(r"(?=.{3,63}$)[a-z0-9]+(?:-[a-z0-9]+)*")
_WHAT_TO_DO = {
    "ContainerNotFound": "There is no container {container!r}. /storage list containers shows "
    "which there are.",
    "ContainerBeingDeleted": "The container {container!r} is being deleted. Try again in a minute.",
    "ContainerAlreadyExists": "There is a container {container!r} already.",
    "BlobNotFound": "There is no blob {blob!r} in the container {container!r}. /storage list the "
    "blobs in {container} shows which there are.",
    "BlobAlreadyExists": "There is a blob {blob!r} in the container {container!r} already. Choose "
    "another name, or delete it first.",
    "BlobArchived": "The blob {blob!r} is archived. Rehydrate it first; that takes hours.",
    "AuthorizationPermissionMismatch": "This key may not do that. Use one with more rights.",
}

Kind = TypeVar("Kind")


class Account:
    """The account of a connection string: that of the form, else of the server's environment."""

    def __init__(self, connection: str | None) -> None:
        connection = connection or os.environ.get(VARIABLE)
        if not connection:
            raise ActionFailed(MISSING)
        try:
            self.client = BlobServiceClient.from_connection_string(
                connection.strip(), connection_timeout=4, read_timeout=60, retry_total=1
            )
        except (ValueError, KeyError, TypeError):
            # Its message may repeat a part of the string.
            raise ActionFailed(
                "This is not a connection string. It is in the Azure portal, at the storage "
                "account's access keys."
            ) from None

    async def use(self, work: Callable[[BlobServiceClient], Kind], **names: str | None) -> Kind:
        """What ``work`` returns, done in a thread. Raises ``ActionFailed``; ``names`` are of the
        container and the blob that it is about."""

        def explained() -> Kind:
            with errors(self.client.account_name, **names):
                return work(self.client)

        return await asyncio.to_thread(explained)

    async def containers(self) -> list[str]:
        """The names of its containers."""
        return await self.use(lambda client: [each.name for each in client.list_containers()])

    async def blobs(self, container: str) -> list[str] | None:
        """The names of the container's blobs; None where there are more than can be chosen from."""

        def some(client: BlobServiceClient) -> list[str]:
            names = client.get_container_client(container).list_blob_names()
            return list(islice(names, MOST_CHOICES + 1))

        found = await self.use(some, container=container)
        return found if len(found) <= MOST_CHOICES else None


MISSING = f"Give the account's connection string, or set {VARIABLE} for the server."


def has_account(known: Mapping[str, Any]) -> bool:
    """Whether there is a connection string."""
    return bool(known.get("connection") or os.environ.get(VARIABLE))


def container_problem(name: str) -> str | None:
    """Why this cannot be a container's name; None where it can."""
    if _CONTAINER.fullmatch(name):
        return None
    return (
        f"{name!r} is not allowed as a container's name: 3 to 63 lower-case letters, digits and "
        "single hyphens between them."
    )


def blob_problem(name: str) -> str | None:
    """Why this cannot be a blob's name; None where it can."""
    if 0 < len(name) <= 1024 and not name.endswith((".", "/")):
        return None
    return (
        f"{name!r} is not allowed as a blob's name: 1 to 1,024 characters, no dot or / at its end."
    )


@contextmanager
def errors(account: str | None, **names: str | None) -> Iterator[None]:
    """Azure's errors as sentences that say what to do. Its own messages are not repeated: they may
    have parts of a signature."""
    try:
        yield
    except (ServiceRequestError, ServiceResponseError) as error:
        raise ActionFailed(
            f"The storage account {account} cannot be reached. Check the network, and the "
            "account's name in the connection string."
        ) from error
    except AzureError as error:
        code = getattr(error, "error_code", None)
        status = error.status_code if isinstance(error, HttpResponseError) else None
        if code in _WHAT_TO_DO:
            raise ActionFailed(
                _WHAT_TO_DO[code].format_map({**names, "account": account})
            ) from error
        if isinstance(error, ClientAuthenticationError) or status in (401, 403):
            raise ActionFailed(
                f"The storage account {account} refuses this key. Check the connection string (the "
                f"form's, or {VARIABLE} of the server): it may be of another account, or renewed."
            ) from error
        raise ActionFailed(
            f"Azure Storage could not do it ({code or status or type(error).__name__})."
        ) from error
