"""A tool of an MCP server as a tool of ours, for the gate, the approvals and the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import ConfigDict

from ...protocol.base import Wire
from ...protocol.tools import ToolLabel
from ..context import ToolContext
from ..registry import Tool, ToolOutcome
from .definition import ServerDefinition
from .listed import ListedTool, visible
from .state_file import Trust

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

    It counts as one that changes something, whatever the server says of it, unless the user knows
    that it only reads.
    """

    async def run(arguments: ForeignArguments, context: ToolContext) -> ToolOutcome:
        return await call(server, tool, dict(arguments.model_extra or {}), context)

    reads = trust == "read"
    shown = visible(server.name, 40)
    asks = f"{tool.title} is a tool of the MCP server {shown}, which you have not trusted with it"
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
