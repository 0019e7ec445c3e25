"""What all actions of the account have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from jupyter_datalayer_agent.services.action import Action, parameter

from .account import MISSING, Account, blob_problem, container_problem, has_account

CONTAINER = ("conteneur", "contenedor")


class OfAccount(BaseModel):
    """With which account it is done."""

    connection: str = parameter(
        "",
        title="Connection string",
        description="Left out, the server's AZURE_STORAGE_CONNECTION_STRING is used.",
        secret=True,
    )


class OfContainer(OfAccount):
    """In which container."""

    container: str = parameter(title="Container", also_called=CONTAINER)


class OfBlob(OfContainer):
    """Which blob."""

    blob: str = parameter(title="Blob", kind="remote-path")


class StorageAction(Action):
    """Offers the containers and blobs that there are, and checks names. ``new`` names what must
    not be chosen from those."""

    new: frozenset[str] = frozenset()

    async def options(self, name: str, known: Mapping[str, Any]) -> Sequence[Any] | None:
        """See ``Action``."""
        if name in self.new or not has_account(known):
            return None
        account = Account(known.get("connection"))
        if name == "container":
            return await account.containers()
        if name == "blob" and known.get("container"):
            containers = await account.containers()
            if known["container"] in containers:
                return await account.blobs(known["container"])
        return None

    async def check_parameters(self, parameters: Any) -> Mapping[str, str]:
        """See ``Action``."""
        problems = {}
        if not has_account(parameters.model_dump()):
            problems["connection"] = MISSING
        container = getattr(parameters, "container", None)
        if container is not None and (problem := container_problem(container)):
            problems["container"] = problem
        blob = getattr(parameters, "blob", None)
        if blob is not None and (problem := blob_problem(blob)):
            problems["blob"] = problem
        return problems
