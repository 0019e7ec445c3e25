"""All methods that a connection can call: tools, resources, prompts and completion."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...agent.client_calls import ClientCalls, ClientGate
from ...agent.runtime import Runtime
from ...agent.tool_output import for_model
from ...protocol.base import Mode
from ...protocol.errors import AgentError
from ...tools.limits import cut
from ...tools.pictures import fitted
from ...tools.registry import Tool
from ...tools.result import Dispatched
from ..base.handler import Parts
from .asking import LEVELS, PeerClient
from .connections import Connection, Connections
from .prompts import Prompt, PromptMethods, service_prompts, workflow_prompts
from .resources import (
    Cells,
    DatasetResources,
    Notebooks,
    ResourceKind,
    ResourceMethods,
    SessionResources,
    Subscriptions,
)
from .rpc import INVALID_PARAMS, MAX_RUNNING_READS, Method, Params, Peer, RpcError
from .sdk.adapter import Identity

# ``completion/complete``: values for arguments of prompts and variables of URI templates.


MOST_VALUES = 100


class Completion:
    """Completes names of notebooks, data sets and sessions."""

    def __init__(self, kinds: Sequence[ResourceKind]) -> None:
        self._kinds = kinds

    async def complete(self, peer: Peer, params: Params) -> dict[str, Any]:
        """The values that begin with the typed text."""
        argument = params.get("argument") or {}
        typed = str(argument.get("value", "")).lower()
        name = str(argument.get("name", ""))
        values = [each for kind in self._kinds for each in await kind.complete(name)]
        matches = [value for value in dict.fromkeys(values) if value.lower().startswith(typed)]
        return {
            "completion": {
                "values": matches[:MOST_VALUES],
                "total": len(matches),
                "hasMore": len(matches) > MOST_VALUES,
            }
        }


# ``tools``: the registry's tools, called through the same gate and dispatcher as the agent's calls.


NOT_OFFERED = frozenset({"updatePlan"})
"""``updatePlan`` shows the plan of one of our turns; a program shows its plans itself."""


class ToolMethods:
    """The tools of one connection. ``level`` returns the lowest level that it wants logged."""

    def __init__(self, runtime: Runtime, calls: ClientCalls, level: Callable[[], str]) -> None:
        self._runtime = runtime
        self._calls = calls
        self._level = level
        self._reads = asyncio.Semaphore(MAX_RUNNING_READS)

    def methods(self) -> dict[str, Method]:
        """The methods by name."""
        return {"tools/list": self.list, "tools/call": self.call}

    async def list(self, peer: Peer, params: Params) -> dict[str, Any]:
        """The tools that ``mcp_mode`` allows for a document whose path is given."""
        gate = ClientGate.on("any.ipynb", self._mode())
        return {
            "tools": [
                _described(tool)
                for tool in gate.sent(self._runtime.registry, with_blocks=True)
                if tool.name not in NOT_OFFERED and (peer.can_elicit or not tool.asks)
            ]
        }

    async def call(self, peer: Peer, params: Params) -> dict[str, Any]:
        """Call a tool. Cancelling interrupts this call only."""
        name = str(params["name"])
        tool = self._runtime.registry.behind(name)
        if tool is None or tool.name in NOT_OFFERED:
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {name}. See tools/list.")
        if peer.info.get("name"):
            self._calls.title = client_title(peer.info)
        arguments = params.get("arguments") or {}
        # In its own task, which is cancelled once: anyio cancels repeatedly whatever is in its
        # scope, even while a kernel is being interrupted.
        task = asyncio.create_task(self._made(tool, name, arguments, PeerClient(peer, self._level)))
        task.add_done_callback(_retrieve)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            raise

    async def _made(
        self, tool: Tool, name: str, arguments: dict[str, Any], client: PeerClient
    ) -> dict[str, Any]:
        try:
            if tool.changes:
                done = await self._calls.call(tool, name, arguments, self._mode(), client)
            else:
                async with self._reads:
                    done = await self._calls.call(tool, name, arguments, self._mode(), client)
        except AgentError as error:
            return {"content": [{"type": "text", "text": error.message}], "isError": True}
        return await _result(done)

    def _mode(self) -> Mode:
        mode = self._runtime.settings().mcp_mode
        return "ask" if mode == "off" else mode


def client_title(info: dict[str, Any]) -> str:
    """A title made from the program's name, which is untrusted."""
    given = str(info.get("title") or info.get("name") or "")
    name = "".join(each if each.isalnum() or each in " .-_" else " " for each in given)
    return f"{' '.join(name.split())[:60] or 'A program'} (MCP)"


def _described(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.label.action if tool.label is not None else tool.name,
        "description": tool.description,
        "inputSchema": {"type": "object", **tool.schema()["parameters"]},
        "annotations": {
            "readOnlyHint": not tool.changes,
            "destructiveHint": tool.may_lose,
            "openWorldHint": False,
        },
    }


async def _result(done: Dispatched) -> dict[str, Any]:
    """The result for the program's model: cut, scaled and redacted as for our own models."""
    text = cut(for_model(done.for_model), done.more)[0]
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    for image in await fitted(done.images):
        name = image.name or "The picture"
        if not image.data:
            content.append({"type": "text", "text": f"{name} {image.note}"})
            continue
        if image.name or image.note:
            note = f" ({image.note})" if image.note else ""
            content.append({"type": "text", "text": f"{name}{note}:"})
        content.append({"type": "image", "data": image.data, "mimeType": image.mime})
    return {"content": content, "isError": not done.result.ok}


def _retrieve(task: asyncio.Task[Any]) -> None:
    """Ignore the failure of a call that nobody waits for any more."""
    if not task.cancelled():
        task.exception()


NAME = "jupyter-datalayer-agent"
TITLE = "Jupyter Datalayer Agent"
INSTRUCTIONS = """\
Works with the notebooks, kernels, files and data sets of a running Jupyter server. Give a \
notebook's path relative to the server's root; a call without a path is about the notebook that \
was last named or created. Refer to cells by their ids. Read cells before you change them: a cell \
that the user has changed since is not overwritten. Results report what happened, as read back \
from the notebook and the kernel. The user sees changes live and marked in JupyterLab, and can \
undo them. Calls that may lose something, and code that acts outside the kernel, need the user's \
approval."""


class Offer:
    """The methods of one connection, and its log level."""

    def __init__(self, parts: Parts, connection: Connection) -> None:
        runtime = parts
        self._level = "info"
        calls = ClientCalls(parts.sessions, f"{TITLE} (MCP)")
        kinds = resource_kinds(runtime, calls, self)
        self._subscriptions = Subscriptions(runtime.pages, connection.notify)
        connection.on_end.append(self._subscriptions.close)
        self.methods: dict[str, Method] = {
            **ToolMethods(runtime, calls, self.level).methods(),
            **ResourceMethods(kinds, self._subscriptions).methods(),
            **PromptMethods(lambda: prompts(runtime)).methods(),
            "completion/complete": Completion(kinds).complete,
            "logging/setLevel": self._set_level,
        }

    def level(self) -> str:
        """The lowest level that the program wants logged."""
        return self._level

    async def _set_level(self, peer: Peer, params: Params) -> dict[str, Any]:
        level = str(params.get("level"))
        if level not in LEVELS:
            raise RpcError(INVALID_PARAMS, f"The level must be one of {', '.join(LEVELS)}.")
        self._level = level
        return {}


def resource_kinds(runtime: Runtime, calls: ClientCalls, offer: Offer) -> Sequence[ResourceKind]:
    """All kinds of resources, in one explicit list."""
    notebooks = Notebooks(runtime, calls, offer.level)
    return [
        notebooks,
        Cells(notebooks),
        DatasetResources(runtime),
        SessionResources(runtime),
    ]


def prompts(runtime: Runtime) -> Iterator[Prompt]:
    """All prompts."""
    yield from workflow_prompts(runtime.templates())
    yield from service_prompts(runtime.service_registry())


def connections_of(parts: Parts) -> Connections:
    """The MCP connections of a server."""
    identity = Identity(NAME, TITLE, parts.version, INSTRUCTIONS)
    return Connections(
        identity,
        lambda connection: Offer(parts, connection).methods,
        lambda: parts.settings().mcp_mode,
    )
