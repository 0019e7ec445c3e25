"""The two tools with which a model finds and calls tools of MCP servers, if there are many."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from pydantic import Field

from ...protocol.base import Wire
from ..context import ToolContext
from ..ranking import Ranking
from ..registry import CallOfAnother, Tool, ToolOutcome, ToolRegistry, tool

SEARCH_TOOLS = ("searchTools", "callTool")
MOST_FOUND = 8

_PARTS = re.compile(r"[_\W]+|(?<=[a-z])(?=[A-Z])")


class SearchToolsArguments(Wire):
    """What is wanted."""

    query: str = Field(description="What the tool should do, in a few words; empty: list names")


def search_tools(registry: ToolRegistry) -> list[Tool]:
    """The tools that search ``registry``."""

    def allowed(context: ToolContext) -> list[Tool]:
        return [each for each in context.gate.allowed(registry) if each.is_found_by_search]

    @tool(
        SearchToolsArguments, group="mcp", label=("Search tools", "Searching tools"), parallel=True
    )
    async def search_tools(arguments: SearchToolsArguments, context: ToolContext) -> ToolOutcome:
        """Search the tools of connected MCP servers, which are not listed here. Returns the best
        matches with descriptions and schemas. Call one of them with callTool."""
        tools = {each.name: each for each in allowed(context)}
        texts = {
            name: " ".join(_PARTS.split(f"{name} {name} {each.description}"))
            for name, each in tools.items()
        }
        ranked = Ranking(texts).rank(" ".join(_PARTS.split(arguments.query)), by_common=True)
        found = [tools[each.key] for each in ranked[:MOST_FOUND]]
        if not found:
            names = list(tools)
            output: dict[str, Any] = {"found": [], "names": names}
            return ToolOutcome(output, f"No tools found for “{arguments.query[:60]}”")
        output = {
            "found": [
                {
                    "name": each.name,
                    "description": each.description,
                    "parameters": each.schema()["parameters"],
                }
                for each in found
            ]
        }
        return ToolOutcome(output, f"Found {len(found)} tools for “{arguments.query[:60]}”")

    @tool(CallOfAnother, group="mcp", label=("Call a tool", "Calling a tool"))
    async def call_tool(arguments: CallOfAnother, context: ToolContext) -> ToolOutcome:
        """Call a tool that searchTools found."""
        raise AssertionError("The dispatcher calls the tool that is named.")

    return [replace(each, searches=True) for each in (search_tools, call_tool)]
