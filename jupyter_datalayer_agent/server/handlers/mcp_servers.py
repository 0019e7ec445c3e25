"""``mcp-servers``: other programs whose tools the agent uses."""

from __future__ import annotations

from urllib.parse import unquote

from ...protocol.instructions import FolderFileDecision
from ...protocol.mcp import (
    McpLogReply,
    McpServerDefinition,
    McpServerPatch,
    McpServersReply,
    McpTestReply,
    McpTestRequest,
)
from ..base.handler import Handler, route
from ..base.route_table import Operation, Route


class McpServersHandler(Handler):
    """All servers; trying one."""

    @route("read")
    async def get(self) -> McpServersReply:
        return self.parts.mcp.reply()

    @route("execute", decides=True)
    async def post(self) -> McpTestReply:
        return await self.parts.mcp.test(self.body(McpTestRequest))


class McpServerHandler(Handler):
    """One server. Saving it starts a program."""

    @route("execute", decides=True)
    async def put(self, name: str) -> McpServersReply:
        return await self.parts.mcp.save(unquote(name), self.body(McpServerDefinition))

    @route("execute", decides=True)
    async def patch(self, name: str) -> McpServersReply:
        return await self.parts.mcp.change(unquote(name), self.body(McpServerPatch))

    @route("write")
    async def delete(self, name: str) -> McpServersReply:
        return await self.parts.mcp.remove(unquote(name))


class McpStartHandler(Handler):
    """Starts a server."""

    @route("execute", decides=True)
    async def post(self, name: str) -> McpServersReply:
        return await self.parts.mcp.start(unquote(name))


class McpStopHandler(Handler):
    """Ends a server."""

    @route("execute")
    async def post(self, name: str) -> McpServersReply:
        return await self.parts.mcp.stop(unquote(name))


class McpLogHandler(Handler):
    """What a server logged."""

    @route("read")
    async def get(self, name: str) -> McpLogReply:
        return self.parts.mcp.log(unquote(name))


class McpFolderFileHandler(Handler):
    """The file of the server root, which may have come with a repository."""

    @route("execute", decides=True)
    async def put(self) -> McpServersReply:
        return await self.parts.mcp.decide_on_folder(self.body(FolderFileDecision))


ROUTES = [
    Route(
        "mcp-servers",
        McpServersHandler,
        {
            "get": Operation("MCP servers and their tools", response=McpServersReply),
            "post": Operation("Try an MCP server without saving it", McpTestRequest, McpTestReply),
        },
    ),
    Route(
        "mcp-servers/{name}",
        McpServerHandler,
        {
            "put": Operation("Add or replace a server", McpServerDefinition, McpServersReply),
            "patch": Operation(
                "Switch a server or its tools on or off, or trust them",
                McpServerPatch,
                McpServersReply,
            ),
            "delete": Operation("Remove a server", response=McpServersReply),
        },
    ),
    Route(
        "mcp-servers/{name}/start",
        McpStartHandler,
        {"post": Operation("Start a server and list its tools", response=McpServersReply)},
    ),
    Route(
        "mcp-servers/{name}/stop",
        McpStopHandler,
        {"post": Operation("End a server", response=McpServersReply)},
    ),
    Route(
        "mcp-servers/{name}/log",
        McpLogHandler,
        {"get": Operation("The newest lines of a server's log", response=McpLogReply)},
    ),
    Route(
        "mcp-folder-file",
        McpFolderFileHandler,
        {
            "put": Operation(
                "Allow the mcp.json of the server root as it is, or not any more",
                FolderFileDecision,
                McpServersReply,
            )
        },
    ),
]
