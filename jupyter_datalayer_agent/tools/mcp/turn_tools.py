"""The tools of a message: the agent's own, and those of MCP servers at the time it is sent."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from pydantic import ConfigDict

from ...protocol.base import Wire
from ...protocol.tools import ToolLabel
from ..context import ToolContext
from ..registry import Tool, ToolOutcome, ToolRegistry, normalise
from .definition import ListedTool, ServerDefinition, visible
from .search_tools import SEARCH_TOOLS, search_tools
from .servers import McpServers
from .state_file import Trust

# An MCP server's tool as one of the agent's, for the gate, the approvals and the model.


Call = Callable[[ServerDefinition, ListedTool, dict[str, Any], ToolContext], Awaitable[ToolOutcome]]


class ForeignArguments(Wire):
    """Any arguments: the server checks them."""

    model_config = ConfigDict(extra="allow")


def foreign_tool(
    name: str,
    server: ServerDefinition,
    tool: ListedTool,
    trust: Trust,
    call: Call,
    trust_now: Callable[[], Trust],
    *,
    is_found_by_search: bool,
) -> Tool:
    """The tool under the name that a model is sent.

    It counts as one that changes something, whatever the server says, unless the user knows that it
    only reads.
    """

    async def run(arguments: ForeignArguments, context: ToolContext) -> ToolOutcome:
        return await call(server, tool, dict(arguments.model_extra or {}), context)

    reads = trust == "read"
    shown = visible(server.name, 40)
    asks = f"You have not trusted {tool.title}, a tool of the MCP server {shown}"
    return Tool(
        name=name,
        description=tool.description or tool.title,
        arguments=ForeignArguments,
        run=run,
        group="mcp",
        label=ToolLabel(
            action=f"Use {tool.title} of {shown}", activity=f"Using {tool.title} of {shown}"
        ),
        changes=not reads,
        parallel=reads,
        parameters=tool.schema,
        is_found_by_search=is_found_by_search,
        needs_approval=lambda: None if trust_now() != "ask" else asks,
        version=f"{tool.content_hash[:12]}{server.fingerprint[:12]}",
    )


# The names under which a model is sent the tools of MCP servers: ``server__tool``.


LONGEST = 64
"""Characters of a function's name, by OpenAI's API."""

_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_DIGITS = 6


def model_name(server: str, tool: str, is_taken: Callable[[str], bool]) -> str:
    """The name of a server's tool; if too long or taken, it ends with a hash of both names."""
    name = f"{_plain(server)}__{_plain(tool)}"
    made = name
    tries = 0
    while len(made) > LONGEST or is_taken(made):
        digest = hashlib.sha256(f"{server}\0{tool}\0{tries}".encode()).hexdigest()[:_DIGITS]
        made = f"{name[: LONGEST - _DIGITS - 1]}_{digest}"
        tries += 1
    return made


def _plain(name: str) -> str:
    return _OTHER.sub("_", name).strip("_") or "_"


Found = tuple[ServerDefinition, ListedTool]
MOST_SENT = 20
"""Tools of servers whose schemas are in each request. If there are more, the model searches."""


class TurnTools:
    """Registries of tools for messages, remade when something has changed."""

    def __init__(self, own: ToolRegistry, servers: McpServers) -> None:
        self._own = own
        self.servers = servers
        self._made: tuple[object, ToolRegistry] | None = None

    async def start_unknown(self, report: Callable[[str], Awaitable[None]]) -> bool:
        """See ``McpServers.start_unknown``."""
        return await self.servers.start_unknown(report)

    def now(self) -> ToolRegistry:
        """The current tools: the agent's registry itself, if no server has any. It does not change
        afterwards, so that a turn has the same tools to its end."""
        found = self._found()
        if not found:
            return self._own
        key = [
            (server.key, server.fingerprint, tool.content_hash, self._trust(server, tool))
            for server, tool in found
        ]
        if self._made is None or self._made[0] != key:
            self._made = (key, self._registry(found))
        return self._made[1]

    @property
    def is_searched(self) -> bool:
        """Whether there are so many that the model searches them."""
        return len(self._found()) > MOST_SENT

    def names(self) -> dict[tuple[str, str], str]:
        """The names that a model is sent, by the key of the server and the tool's own name."""
        found = self._found()
        return {
            (server.key, tool.name): name
            for (server, tool), name in zip(found, self._names(found), strict=True)
        }

    def _found(self) -> list[Found]:
        state = self.servers.state
        return [
            (server, tool)
            for server in self.servers.usable()
            for tool in state.listed(server) or []
            if state.tool_enabled(server, tool)
        ]

    def _names(self, found: list[Found]) -> list[str]:
        """A name for each that no other tool has, of a server or of the agent."""
        taken = {normalise(name) for name in SEARCH_TOOLS}

        def is_taken(name: str) -> bool:
            return normalise(name) in taken or self._own.find(name) is not None

        names = []
        for server, tool in found:
            name = model_name(server.name, tool.name, is_taken)
            taken.add(normalise(name))
            names.append(name)
        return names

    def _registry(self, found: list[Found]) -> ToolRegistry:
        registry = self._own.copy()
        is_searched = len(found) > MOST_SENT
        if is_searched:
            for each in search_tools(registry):
                registry.add(each)
        for name, (server, tool) in zip(self._names(found), found, strict=True):
            registry.add(
                foreign_tool(
                    name,
                    server,
                    tool,
                    self._trust(server, tool),
                    self.servers.call,
                    partial(self._trust, server, tool),
                    is_found_by_search=is_searched,
                )
            )
        return registry

    def _trust(self, server: ServerDefinition, tool: ListedTool) -> Trust:
        return self.servers.state.trust(server, tool)
