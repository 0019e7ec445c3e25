"""MCP servers in the panel: which there are, and what users decide about them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from pydantic import SecretStr

from ...models.connections.connection import KeyPlace
from ...models.connections.key_store import KeyStoreError
from ...protocol.errors import AgentError
from ...protocol.mcp import (
    McpFolderFile,
    McpFolderServer,
    McpLogReply,
    McpServerDefinition,
    McpServerInfo,
    McpServerPatch,
    McpServersReply,
    McpSignIn,
    McpSignInReply,
    McpSignInRequest,
    McpTestReply,
    McpTestRequest,
    McpTool,
    McpToolSetting,
)
from ...protocol.tools import FolderFileDecision
from ...tools.mcp.config_files import FolderConfig, check
from ...tools.mcp.connection import ConnectionFailed
from ...tools.mcp.definition import ListedTool, ServerDefinition, visible
from ...tools.mcp.sign_in import AddressRefused, Answer, SignInFailed, redirect_uri
from ...tools.mcp.turn_tools import TurnTools

LOCKED = "The administrator of this server switched off MCP servers."


LONGEST_DESCRIPTION = 500
"""Characters of a tool's description that are sent to the panel."""
START_SECONDS = 15.0
"""How long the reply to a request that starts a server waits; the start continues afterwards."""


class McpService:
    """What users see and decide, as the routes use it. Every method raises ``AgentError``."""

    def __init__(self, tools: TurnTools) -> None:
        self._tools = tools
        self._servers = tools.servers

    def reply(self) -> McpServersReply:
        """The servers with their tools, and any problems. Nothing is started."""
        files = self._servers.files
        if not self._servers.is_allowed:
            return McpServersReply(
                servers=[], problems=[], user_file=str(files.user_file), locked=LOCKED
            )
        found = self._servers.found()
        names = self._tools.names()
        return McpServersReply(
            servers=[self._info(each, names) for each in found.servers],
            problems=[str(each) for each in found.problems],
            folder=None if found.folder is None else _folder(found.folder),
            user_file=str(files.user_file),
            is_searched=self._tools.is_searched,
        )

    async def test(self, request: McpTestRequest) -> McpTestReply:
        """Start a server, list its tools, and end it. A failure is an answer."""
        self._check_allowed()
        try:
            server = self._defined(request.name, request)
            connection, tools = await self._servers.try_out(server)
        except ConnectionFailed as error:
            return McpTestReply(ok=False, message=str(error))
        except AgentError as error:
            return McpTestReply(ok=False, message=error.message)
        info = connection.info
        known = f" ({info.name} {info.version})" if info is not None and info.name else ""
        count = "1 tool" if len(tools) == 1 else f"{len(tools)} tools"
        return McpTestReply(
            ok=True, message=f"Works: {count}{known}", tools=[each.title for each in tools]
        )

    async def save(self, name: str, request: McpServerDefinition) -> McpServersReply:
        """Add or replace a server of the user's file, and start it."""
        self._check_allowed()
        server = self._defined(name, request)
        before = self._in_user_file(name)
        try:
            self._servers.files.save(server)
        except (OSError, ValueError) as error:
            raise _not_written(error, str(server.file)) from error
        if before is not None:
            await self._servers.stop(before)
            if before.fingerprint != server.fingerprint:
                await self._forget_sign_in(before)
        return await self.start(name)

    async def remove(self, name: str) -> McpServersReply:
        """Remove a server from the user's file, and what was decided about it."""
        self._check_allowed()
        server = self._find(name)
        if server.source != "user":
            raise AgentError(
                "invalid_request",
                f"{name} is defined in {server.file}. Remove it there, or turn it off.",
            )
        await self._forget_sign_in(server)
        try:
            self._servers.files.remove(name)
            self._servers.state.forget(server)
        except (OSError, ValueError) as error:
            raise _not_written(error, str(server.file)) from error
        await self._servers.stop(server)
        return self.reply()

    async def start(self, name: str) -> McpServersReply:
        """Start a server, or restart it, and list its tools. The reply says whether it failed or is
        still starting."""
        self._check_allowed()
        server = self._find(name)
        await self._servers.stop(server)
        starting = asyncio.ensure_future(self._servers.start(server))
        starting.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.wait([starting], timeout=START_SECONDS)
        return self.reply()

    async def stop(self, name: str) -> McpServersReply:
        """End a server. Calling one of its tools starts it again."""
        self._check_allowed()
        await self._servers.stop(self._find(name))
        return self.reply()

    async def change(self, name: str, request: McpServerPatch) -> McpServersReply:
        """Record what the user decided."""
        self._check_allowed()
        server = self._find(name)
        state = self._servers.state
        listed = {each.name: each for each in state.listed(server) or []}
        for unknown in request.tools.keys() - listed.keys():
            raise AgentError("not_found", f"{name} has no tool named {unknown}.")
        try:
            if request.enabled is not None:
                state.set_enabled(server, request.enabled)
            if request.trust is not None:
                for tool in listed.values():
                    self._set(server, tool, McpToolSetting(trust=request.trust))
            for tool_name, setting in request.tools.items():
                self._set(server, listed[tool_name], setting)
        except OSError as error:
            raise _not_written(error, str(state.path)) from error
        if request.enabled is False:
            await self._servers.stop(server)
        return self.reply()

    async def decide_on_folder(self, request: FolderFileDecision) -> McpServersReply:
        """Allow the server root's file as the user saw it, or withdraw that."""
        self._check_allowed()
        folder = self._servers.found().folder
        self._servers.state.decide(
            None if folder is None else folder.file,
            "mcp.json",
            request.content_hash,
            request.allowed,
        )
        if folder is not None and not request.allowed:
            for server in folder.config.servers:
                await self._servers.stop(server)
        return self.reply()

    async def sign_in(
        self, name: str, request: McpSignInRequest, host: str, path: str
    ) -> McpSignInReply:
        """Ask where the user signs in to a server. The browser returns to ``path`` at the page's
        origin, which must match the request's ``host``. Tokens go to the keyring or, if there is
        none and the user agreed, to a file."""
        self._check_allowed()
        server = self._find(name)
        if server.url is None:
            raise AgentError("invalid_request", f"{name} is not a server over HTTP.")
        sign_ins = self._servers.sign_ins
        keys = sign_ins.grants.keys
        place: KeyPlace = "keyring"
        try:
            await keys.keyring_name()
        except KeyStoreError as error:
            if not request.keep_in_file:
                return McpSignInReply(file=str(keys.files.folder), keyring_problem=str(error))
            place = "file"
        try:
            back = redirect_uri(request.origin, host, path)
            secret = request.client_secret
            address = await sign_ins.begin(
                server, back, place, None if secret is None else secret.get_secret_value()
            )
        except (SignInFailed, AddressRefused) as error:
            raise AgentError("invalid_request", f"{name}: {error}") from error
        return McpSignInReply(address=address)

    async def finish_sign_in(self, state: str, code: str, iss: str | None) -> str:
        """Take the code that the browser returned with. Returns the server's name."""
        return await self._answer_sign_in(state, Answer(code, state, iss))

    async def refuse_sign_in(self, state: str, error: str, about: str) -> str:
        """Take the error that the browser returned with."""
        said = visible(f"{error} {about}", 300)
        reason = f"The sign-in page reported: {said}" if said else "The sign-in page gave no code."
        if error == "access_denied":
            reason = "Access was denied on the sign-in page."
        return await self._answer_sign_in(state, reason)

    async def _answer_sign_in(self, state: str, answer: Answer | str) -> str:
        self._check_allowed()
        try:
            return await self._servers.sign_ins.answer(state, answer)
        except SignInFailed as error:
            raise AgentError("invalid_request", str(error)) from error

    async def sign_out(self, name: str) -> McpServersReply:
        """Delete a server's tokens and end it, or cancel a waiting sign-in."""
        self._check_allowed()
        server = self._find(name)
        await self._forget_sign_in(server)
        await self._servers.stop(server)
        return self.reply()

    def log(self, name: str) -> McpLogReply:
        """The newest lines of a server's log."""
        self._check_allowed()
        return McpLogReply(lines=self._servers.log_of(self._find(name)))

    # -- inside

    async def _forget_sign_in(self, server: ServerDefinition) -> None:
        try:
            await self._servers.sign_ins.forget(server)
        except (KeyStoreError, OSError) as error:
            raise AgentError("internal", f"The sign-in is still stored. {error}") from error

    def _sign_in(self, server: ServerDefinition) -> McpSignIn | None:
        sign_ins = self._servers.sign_ins
        if sign_ins.is_waiting(server):
            return "waiting"
        if self._servers.wants_sign_in(server):
            return "needed"
        return "done" if sign_ins.grants.has(server) else None

    def _set(self, server: ServerDefinition, tool: ListedTool, setting: McpToolSetting) -> None:
        state = self._servers.state
        enabled = state.tool_enabled(server, tool) if setting.enabled is None else setting.enabled
        trust = state.trust(server, tool) if setting.trust is None else setting.trust
        state.set_tool(server, tool, enabled=enabled, trust=trust)

    def _check_allowed(self) -> None:
        if not self._servers.is_allowed:
            raise AgentError("forbidden", LOCKED)

    def _find(self, name: str) -> ServerDefinition:
        for server in self._servers.found().servers:
            if server.name == name:
                return server
        raise AgentError("not_found", f"There is no MCP server named {name}.")

    def _in_user_file(self, name: str) -> ServerDefinition | None:
        for server in self._servers.found().servers:
            if server.name == name and server.source == "user":
                return server
        return None

    def _defined(self, name: str, request: McpServerDefinition) -> ServerDefinition:
        """The definition, with the stored values. Raises ``AgentError``."""
        name = name.strip()
        before = self._in_user_file(name)
        server = ServerDefinition(
            name,
            "user",
            self._servers.files.user_file,
            command=request.command,
            args=tuple(request.args),
            env=_values(request.env, before.env if before else {}),
            cwd=request.cwd or None,
            url=request.url,
            headers=_values(request.headers, before.headers if before else {}),
            client_id=request.client_id or None,
        )
        problem = check(server)
        if problem is not None:
            raise AgentError("invalid_request", problem)
        return server

    def _info(
        self, server: ServerDefinition, names: Mapping[tuple[str, str], str]
    ) -> McpServerInfo:
        servers, state = self._servers, self._servers.state
        listed = state.listed(server)
        connection = servers.connection(server)
        info = connection.info if connection is not None else None
        return McpServerInfo(
            name=server.name,
            source=server.source,
            file=str(server.file),
            command=server.command,
            args=list(server.args),
            env=list(server.env),
            cwd=server.cwd,
            url=server.url,
            headers=list(server.headers),
            client_id=server.client_id,
            enabled=state.is_enabled(server),
            state=servers.status(server),
            problem=servers.problem(server),
            sign_in=self._sign_in(server),
            sign_in_problem=servers.sign_ins.problem(server),
            says_it_is=None if info is None else f"{info.name} {info.version}".strip(),
            tools=None
            if listed is None
            else [
                McpTool(
                    name=tool.name,
                    title=tool.title,
                    model_name=names.get((server.key, tool.name)),
                    description=visible(tool.description, LONGEST_DESCRIPTION),
                    enabled=state.tool_enabled(server, tool),
                    trust=state.trust(server, tool),
                    has_changed=state.has_changed(server, tool),
                    says_it_reads=tool.says_it_reads,
                )
                for tool in listed
            ],
        )


def _folder(folder: FolderConfig) -> McpFolderFile:
    file = folder.file
    return McpFolderFile(
        path=str(file.path),
        content_hash=file.content_hash,
        servers=[
            McpFolderServer(
                name=each.name,
                command=each.command,
                args=list(each.args),
                url=each.url,
                sets=sorted(each.env),
                reads=sorted(each.references),
            )
            for each in folder.config.servers
        ],
        allowed=file.is_allowed,
        has_changed=file.was_allowed,
    )


def _values(given: Mapping[str, SecretStr | None], before: Mapping[str, str]) -> dict[str, str]:
    """The values as entered; None keeps the previous one."""
    values = {}
    for name, value in given.items():
        if value is not None:
            values[name] = value.get_secret_value()
        elif name in before:
            values[name] = before[name]
        else:
            raise AgentError("invalid_request", f"{name} has no value yet.")
    return values


def _not_written(error: OSError | ValueError, file: str) -> AgentError:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return AgentError("invalid_request", f"{file} could not be written: {reason}.")
