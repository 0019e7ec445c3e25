"""``resources``: open notebooks, cells, data sets and sessions."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol
from urllib.parse import quote, unquote

from ...agent.client_calls import ClientCalls
from ...agent.runtime import Runtime
from ...agent.tool_output import for_model
from ...notebook.document import DocumentError
from ...notebook.page import PageHub
from ...notebook.paths import resolve_path
from ...protocol.errors import AgentError
from ...protocol.json_text import to_json
from ...tools.limits import cut
from .asking import PeerClient
from .rpc import (
    INVALID_PARAMS,
    MAX_SUBSCRIPTIONS,
    RESOURCE_NOT_FOUND,
    Method,
    Params,
    Peer,
    RpcError,
)

# A kind of resource.


JSON = "application/json"


class ResourceKind(Protocol):
    """Resources whose URIs begin with ``prefix``. Methods get the rest of the URI, with its
    percent-escapes decoded, as ``name``. ``templates`` are URI templates in the protocol's form."""

    prefix: str
    templates: Sequence[dict[str, Any]]

    async def listed(self) -> list[dict[str, Any]]:
        """The resources that a program is shown, in the protocol's form."""
        ...

    async def read(self, name: str, peer: Peer) -> list[dict[str, Any]]:
        """The contents, without their URI. Raises ``RpcError``."""
        ...

    async def fingerprint(self, name: str) -> str:
        """A value that differs when the resource has changed."""
        ...

    async def complete(self, variable: str) -> list[str]:
        """Values of a template's variable."""
        ...


# Data sets: names, columns and sizes, without rows.


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
            dataset = await self._datasets.get(name)
        except AgentError as error:
            raise RpcError(RESOURCE_NOT_FOUND, error.message) from error
        return [{"mimeType": JSON, "text": to_json(dataset.to_wire())}]

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


# Notifies a program of changes of its subscribed resources and of the list of resources.
#
# Changes by the agent are noticed at once, and those by a user or another program within a few
# seconds. Without subscriptions, resources are not polled.


log = logging.getLogger(__name__)

PAUSE_SECONDS = 3.0
SHARE = 20
"""Polling takes at most one part in so many of the time."""
GATHER_SECONDS = 0.2
"""Changes within this time become one notification."""

Notify = Callable[[str, dict[str, Any]], Awaitable[None]]


class Subscriptions:
    """The subscriptions of one connection. ``close`` ends the task that watches them."""

    def __init__(self, pages: PageHub, notify: Notify) -> None:
        self._pages = pages
        self._notify = notify
        self._subscribed: dict[str, tuple[ResourceKind, str, str]] = {}
        self._wake = asyncio.Event()
        self._listed = self._open_paths()
        self._unwatch = pages.watch(self._wake.set)
        self._task = asyncio.create_task(self._watch())

    async def add(self, uri: str, kind: ResourceKind, name: str) -> None:
        """Watch a resource. Raises ``DocumentError``, and ``RpcError`` if there are too many."""
        if uri not in self._subscribed and len(self._subscribed) >= MAX_SUBSCRIPTIONS:
            raise RpcError(
                INVALID_PARAMS,
                f"A session can subscribe to {MAX_SUBSCRIPTIONS} resources. Unsubscribe from one.",
            )
        self._subscribed[uri] = (kind, name, await kind.fingerprint(name))
        self._wake.set()

    def remove(self, uri: str) -> None:
        """Stop watching a resource."""
        self._subscribed.pop(uri, None)

    def close(self) -> None:
        """Stop watching all resources."""
        self._unwatch()
        self._task.cancel()

    async def _watch(self) -> None:
        pause: float | None = None
        while True:
            try:
                await asyncio.wait_for(self._wake.wait(), pause)
                await asyncio.sleep(GATHER_SECONDS)
            except asyncio.TimeoutError:
                pass
            self._wake.clear()
            began = time.monotonic()
            try:
                await self._look()
            except Exception:
                # The task's boundary: a resource that cannot be read must not end the task.
                log.exception("Subscribed resources could not be checked for changes")
            took = time.monotonic() - began
            pause = max(PAUSE_SECONDS, took * SHARE) if self._subscribed else None

    async def _look(self) -> None:
        listed = self._open_paths()
        if listed != self._listed:
            self._listed = listed
            await self._notify("notifications/resources/list_changed", {})
        for uri, (kind, name, before) in list(self._subscribed.items()):
            now = await kind.fingerprint(name)
            if now != before and uri in self._subscribed:
                self._subscribed[uri] = (kind, name, now)
                await self._notify("notifications/resources/updated", {"uri": uri})

    def _open_paths(self) -> frozenset[str]:
        return frozenset(
            notebook.path
            for page in self._pages
            if page.connected
            for notebook in page.state.notebooks
        )


# The methods of ``resources``: list, read, subscribe and unsubscribe.


class ResourceMethods:
    """The resources of one connection."""

    def __init__(self, kinds: Sequence[ResourceKind], subscriptions: Subscriptions) -> None:
        self._kinds = kinds
        self._subscriptions = subscriptions

    def methods(self) -> dict[str, Method]:
        """The methods by name."""
        return {
            "resources/list": self.list,
            "resources/templates/list": self.templates,
            "resources/read": self.read,
            "resources/subscribe": self.subscribe,
            "resources/unsubscribe": self.unsubscribe,
        }

    async def list(self, peer: Peer, params: Params) -> dict[str, Any]:
        """All resources that can be listed."""
        return {"resources": [each for kind in self._kinds for each in await kind.listed()]}

    async def templates(self, peer: Peer, params: Params) -> dict[str, Any]:
        """The URI templates of all kinds."""
        return {"resourceTemplates": [each for kind in self._kinds for each in kind.templates]}

    async def read(self, peer: Peer, params: Params) -> dict[str, Any]:
        """The contents of one resource."""
        uri = str(params["uri"])
        kind, name = self._find(uri)
        return {"contents": [{"uri": uri, **each} for each in await kind.read(name, peer)]}

    async def subscribe(self, peer: Peer, params: Params) -> dict[str, Any]:
        """Notify the program from now on when the resource changes."""
        uri = str(params["uri"])
        kind, name = self._find(uri)
        try:
            await self._subscriptions.add(uri, kind, name)
        except DocumentError as error:
            raise RpcError(RESOURCE_NOT_FOUND, error.message) from error
        return {}

    async def unsubscribe(self, peer: Peer, params: Params) -> dict[str, Any]:
        """Stop notifying the program of the resource's changes."""
        self._subscriptions.remove(str(params["uri"]))
        return {}

    def _find(self, uri: str) -> tuple[ResourceKind, str]:
        for kind in self._kinds:
            name = unquote(uri.removeprefix(kind.prefix))
            if uri.startswith(kind.prefix) and name:
                return kind, name
        raise RpcError(
            RESOURCE_NOT_FOUND,
            f"Unknown resource: {uri[:200]}. See resources/list and resources/templates/list.",
            {"uri": uri[:200]},
        )


# Notebooks and their cells. Open notebooks are listed; any notebook can be read.


class Notebooks:
    """``jupyter://notebooks/{path}``: the cells of a notebook, with their outputs."""

    prefix = "jupyter://notebooks/"
    templates: Sequence[dict[str, Any]] = (
        {
            "uriTemplate": "jupyter://notebooks/{+path}",
            "name": "notebook",
            "title": "Notebook",
            "description": "All cells of a notebook, open or not, with their outputs.",
            "mimeType": JSON,
        },
    )

    def __init__(self, runtime: Runtime, calls: ClientCalls, level: Callable[[], str]) -> None:
        self._runtime = runtime
        self._calls = calls
        self._level = level

    def paths(self) -> list[str]:
        """The paths of the open notebooks, without duplicates."""
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
        """See ``ResourceKind``. Empty, since reading a notebook lists its cells."""
        return []

    async def read(self, name: str, peer: Peer) -> list[dict[str, Any]]:
        """See ``ResourceKind``."""
        cell_id, _, path = name.partition("/")
        return await self._notebooks.cells(path, {"cellIds": [cell_id]}, peer)

    async def fingerprint(self, name: str) -> str:
        """See ``ResourceKind``. It is the notebook's fingerprint."""
        return await self._notebooks.fingerprint(name.partition("/")[2])

    async def complete(self, variable: str) -> list[str]:
        """See ``ResourceKind``."""
        return []


# Conversations: the prompts of each, and the documents that their turns changed.


MAX_LISTED = 20


class SessionResources:
    """``jupyter://sessions/{id}``."""

    prefix = "jupyter://sessions/"
    templates: Sequence[dict[str, Any]] = (
        {
            "uriTemplate": "jupyter://sessions/{id}",
            "name": "session",
            "title": "Session",
            "description": "The turns of a conversation in short form. getTurnById reads one.",
            "mimeType": JSON,
        },
    )

    def __init__(self, runtime: Runtime) -> None:
        self._store = runtime.store

    async def listed(self) -> list[dict[str, Any]]:
        """See ``ResourceKind``."""
        page = await self._store.sessions.list_page(limit=MAX_LISTED)
        return [
            {
                "uri": self.prefix + quote(each.id, safe=""),
                "name": each.title,
                "description": "A conversation with the agent, or the calls of a program.",
                "mimeType": JSON,
            }
            for each in page.sessions
        ]

    async def read(self, name: str, peer: Peer) -> list[dict[str, Any]]:
        """See ``ResourceKind``."""
        try:
            session = await self._store.sessions.get(name)
            prompts = await self._store.withdrawals.prompts(name)
        except AgentError as error:
            raise RpcError(RESOURCE_NOT_FOUND, error.message) from error
        turns = [prompt.to_wire() for prompt in prompts]
        text = to_json({"id": session.id, "title": session.title, "turns": turns})
        return [{"mimeType": JSON, "text": text}]

    async def fingerprint(self, name: str) -> str:
        """See ``ResourceKind``."""
        try:
            return str((await self._store.sessions.get(name)).last_seq)
        except AgentError as error:
            return error.code

    async def complete(self, variable: str) -> list[str]:
        """See ``ResourceKind``."""
        if variable != "id":
            return []
        page = await self._store.sessions.list_page(limit=MAX_LISTED)
        return [each.id for each in page.sessions]
