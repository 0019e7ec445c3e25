"""``mcp-servers``: other programs whose tools the agent uses."""

from __future__ import annotations

from html import escape
from urllib.parse import unquote

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join

from ...protocol.errors import AgentError
from ...protocol.mcp import (
    McpLogReply,
    McpServerDefinition,
    McpServerPatch,
    McpServersReply,
    McpSignInReply,
    McpSignInRequest,
    McpTestReply,
    McpTestRequest,
)
from ...protocol.tools import FolderFileDecision
from ..base.handler import RESOURCE, Handler, Operation, Route, route

# Signing in to MCP servers: the request that begins it, and the page on which it ends.


BACK = "mcp-sign-in"
PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body style="font-family: sans-serif; max-width: 40em; margin: 4em auto">
<h1 style="font-size: 1.2em">{title}</h1><p>{text}</p></body></html>"""


class McpSignInHandler(Handler):
    """Begins and ends a sign-in."""

    @route("execute")
    async def post(self, name: str) -> McpSignInReply:
        path = url_path_join(self.base_url, RESOURCE, BACK)
        request = self.body(McpSignInRequest)
        return await self.parts.mcp.sign_in(unquote(name), request, self.request.host, path)

    @route("execute")
    async def delete(self, name: str) -> McpServersReply:
        return await self.parts.mcp.sign_out(unquote(name))


class McpSignedInHandler(Handler):
    """The page to which the authorization server sends the browser. Its parameters count only with
    the state of a sign-in that is waiting."""

    def get_login_url(self) -> str:
        """The login page, from which a browser without a login comes back here."""
        return JupyterHandler.get_login_url(self)

    @route("execute")
    async def get(self) -> None:
        state, code = (self.get_query_argument(name, "") for name in ("state", "code"))
        try:
            if code:
                iss = self.get_query_argument("iss", None)
                name = await self.parts.mcp.finish_sign_in(state, code, iss)
            else:
                error, about = (
                    self.get_query_argument(name, "") for name in ("error", "error_description")
                )
                name = await self.parts.mcp.refuse_sign_in(state, error, about)
        except AgentError as error:
            self.set_status(error.status)
            title, text = "You are not signed in", error.message
        else:
            title = f"You are signed in to {name}"
            text = "Close this page and go back to JupyterLab."
        self.set_header("Referrer-Policy", "no-referrer")
        self.finish(
            PAGE.format(title=escape(title), text=escape(text)),
            set_content_type="text/html; charset=utf-8",
        )


MCP_SIGN_IN_ROUTES = [
    Route(
        "mcp-servers/{name}/sign-in",
        McpSignInHandler,
        {
            "post": Operation("Begin to sign in to a server", McpSignInRequest, McpSignInReply),
            "delete": Operation("Sign out of a server", response=McpServersReply),
        },
    ),
    Route(
        BACK,
        McpSignedInHandler,
        {
            "get": Operation(
                "The page to which a browser returns after signing in to an MCP server",
                query={
                    "state": "the state of the sign-in",
                    "code": "the authorization code",
                    "error": "the error, if there is no code",
                    "error_description": "the error in words",
                    "iss": "the issuer of the code (RFC 9207)",
                },
                content="text/html",
            )
        },
    ),
]


class McpServersHandler(Handler):
    """Lists the servers, and tries one."""

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
    """A server's log."""

    @route("read")
    async def get(self, name: str) -> McpLogReply:
        return self.parts.mcp.log(unquote(name))


class McpFolderFileHandler(Handler):
    """Allows or refuses the ``mcp.json`` of the server root, which may have come with a
    repository."""

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
                "Allow the current mcp.json of the server root, or refuse it",
                FolderFileDecision,
                McpServersReply,
            )
        },
    ),
]
