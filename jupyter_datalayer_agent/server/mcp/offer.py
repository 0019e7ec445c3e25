"""What one connection is offered, put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...agent.client_calls.calls import ClientCalls
from ...agent.runtime import Runtime
from ..base.parts import Parts
from .asking import LEVELS
from .completion import Completion
from .connection import Connection
from .connections import Connections
from .peer import Method, Params, Peer
from .prompts.kind import Prompt
from .prompts.methods import PromptMethods
from .prompts.services import service_prompts
from .prompts.workflows import workflow_prompts
from .resources.datasets import DatasetResources
from .resources.kind import ResourceKind
from .resources.methods import ResourceMethods
from .resources.notebooks import Cells, Notebooks
from .resources.sessions import SessionResources
from .resources.subscriptions import Subscriptions
from .rpc import INVALID_PARAMS, RpcError
from .sdk.adapter import Identity
from .tools import ToolMethods

NAME = "jupyter-datalayer-agent"
TITLE = "Jupyter Datalayer Agent"
INSTRUCTIONS = """\
Notebooks, kernels, files and data sets of a running Jupyter server. Name the notebook by path, \
relative to the server's root; a call without path is about the notebook that was named or made \
last. Read cells before you change them: a cell that the user changed since is not overwritten. \
Cells are named by their ids. Results say what in fact happened, as read back from the notebook \
and the kernel. The user sees changes live in JupyterLab, marked, and can undo them. Acts that may \
lose something, and code that acts beyond the kernel, need the user's approval."""


class Offer:
    """All methods of one connection, and its state."""

    def __init__(self, parts: Parts, connection: Connection) -> None:
        runtime = parts.runtime
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
        """The least level of what the program wants logged."""
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
        lambda: parts.runtime.settings().mcp_mode,
    )
