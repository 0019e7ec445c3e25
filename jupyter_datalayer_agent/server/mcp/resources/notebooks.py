"""Open notebooks, and the cells of any notebook that is named."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from ....agent.client_calls.calls import ClientCalls
from ....agent.history.tool_output import for_model
from ....agent.runtime import Runtime
from ....notebook.document import DocumentError
from ....notebook.paths import resolve_path
from ....tools.limits import cut
from ..asking import PeerClient
from ..peer import Peer
from ..rpc import RESOURCE_NOT_FOUND, RpcError
from .kind import JSON


class Notebooks:
    """``jupyter://notebooks/{path}``: the cells of a notebook, with their outputs."""

    prefix = "jupyter://notebooks/"
    templates: Sequence[dict[str, Any]] = (
        {
            "uriTemplate": "jupyter://notebooks/{+path}",
            "name": "notebook",
            "title": "Notebook",
            "description": "All cells of a notebook with their outputs, whether it is open or not.",
            "mimeType": JSON,
        },
    )

    def __init__(self, runtime: Runtime, calls: ClientCalls, level: Callable[[], str]) -> None:
        self._runtime = runtime
        self._calls = calls
        self._level = level

    def paths(self) -> list[str]:
        """Open notebooks, each once."""
        pages = (page for page in self._runtime.pages if page.connected)
        open_ones = (notebook.path for page in pages for notebook in page.state.notebooks)
        return sorted(dict.fromkeys(open_ones))

    async def listed(self) -> list[dict[str, Any]]:
        """See ``ResourceKind``."""
        return [
            {
                "uri": self.prefix + quote(path),
                "name": path,
                "description": "A notebook that is open in JupyterLab.",
                "mimeType": JSON,
            }
            for path in self.paths()
        ]

    async def read(self, name: str, peer: Peer) -> list[dict[str, Any]]:
        """See ``ResourceKind``."""
        return await self.cells(name, {}, peer)

    async def cells(self, path: str, which: dict[str, Any], peer: Peer) -> list[dict[str, Any]]:
        """Cells with their outputs, as ``getNotebookCells`` reads them. Raises ``RpcError``."""
        arguments = {**which, "includeOutputs": True}
        client = PeerClient(peer, self._level)
        try:
            done = await self._calls.read(path, "getNotebookCells", arguments, client)
        except DocumentError as outside:
            raise RpcError(RESOURCE_NOT_FOUND, outside.message) from outside
        if (error := done.result.error) is not None:
            raise RpcError(RESOURCE_NOT_FOUND, error.message)
        return [{"mimeType": JSON, "text": cut(for_model(done.for_model), done.more)[0]}]

    async def fingerprint(self, name: str) -> str:
        """See ``ResourceKind``."""
        notebooks = self._runtime.notebooks
        path = await notebooks.located(resolve_path(name, notebooks.root_dir))
        try:
            notebook = await notebooks.read(path)
        except DocumentError as error:
            return error.code
        state = [
            (cell.id, cell.type, cell.hash, cell.execution_count, cell.has_output)
            for cell in notebook.cells
        ]
        return hashlib.sha256(repr(state).encode()).hexdigest()

    async def complete(self, variable: str) -> list[str]:
        """See ``ResourceKind``."""
        return self.paths() if variable in ("path", "notebook") else []


class Cells:
    """``jupyter://cells/{cellId}/{path}``: one cell with its outputs."""

    prefix = "jupyter://cells/"
    templates: Sequence[dict[str, Any]] = (
        {
            "uriTemplate": "jupyter://cells/{cellId}/{+path}",
            "name": "cell",
            "title": "Cell",
            "description": "One cell of a notebook with its outputs.",
            "mimeType": JSON,
        },
    )

    def __init__(self, notebooks: Notebooks) -> None:
        self._notebooks = notebooks

    async def listed(self) -> list[dict[str, Any]]:
        """See ``ResourceKind``. Notebooks name their cells."""
        return []

    async def read(self, name: str, peer: Peer) -> list[dict[str, Any]]:
        """See ``ResourceKind``."""
        cell_id, _, path = name.partition("/")
        return await self._notebooks.cells(path, {"cellIds": [cell_id]}, peer)

    async def fingerprint(self, name: str) -> str:
        """See ``ResourceKind``: that of its notebook."""
        return await self._notebooks.fingerprint(name.partition("/")[2])

    async def complete(self, variable: str) -> list[str]:
        """See ``ResourceKind``."""
        return []
