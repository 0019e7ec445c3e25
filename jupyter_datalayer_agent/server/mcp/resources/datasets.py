"""Data sets: names, columns and sizes, without rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ....agent.runtime import Runtime
from ....protocol.errors import AgentError
from ....protocol.json_text import to_json
from ..peer import Peer
from ..rpc import RESOURCE_NOT_FOUND, RpcError
from .kind import JSON


class DatasetResources:
    """``jupyter://datasets/{name}``."""

    prefix = "jupyter://datasets/"
    templates: Sequence[dict[str, Any]] = (
        {
            "uriTemplate": "jupyter://datasets/{name}",
            "name": "dataset",
            "title": "Data set",
            "description": "Columns with their types, number of rows, and where the file is.",
            "mimeType": JSON,
        },
    )

    def __init__(self, runtime: Runtime) -> None:
        self._datasets = runtime.datasets

    async def listed(self) -> list[dict[str, Any]]:
        """See ``ResourceKind``."""
        return [
            {
                "uri": self.prefix + quote(each.name, safe=""),
                "name": each.name,
                "description": f"An uploaded data set with {each.rows:,} rows.",
                "mimeType": JSON,
            }
            for each in await self._datasets.known()
        ]

    async def read(self, name: str, peer: Peer) -> list[dict[str, Any]]:
        """See ``ResourceKind``."""
        try:
            found = await self._datasets.get(name)
        except AgentError as error:
            raise RpcError(RESOURCE_NOT_FOUND, error.message) from error
        return [{"mimeType": JSON, "text": to_json(found.to_wire())}]

    async def fingerprint(self, name: str) -> str:
        """See ``ResourceKind``."""
        try:
            return to_json((await self._datasets.get(name)).to_wire())
        except AgentError as error:
            return error.code

    async def complete(self, variable: str) -> list[str]:
        """See ``ResourceKind``."""
        if variable not in ("name", "data", "dataset"):
            return []
        return [each.name for each in await self._datasets.known()]
