"""The services of one server that handlers use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property

from ...agent.features.connect import ConnectService
from ...agent.features.mcp_servers import McpService
from ...agent.instructions import Instructions
from ...agent.runtime import Runtime
from ...agent.session.registry import SessionRegistry
from ...agent.session.strategist import Strategist
from ...entry_points import Plugins
from ...models.local.servers import LocalServers
from ...protocol.requests import ModelsReply
from ...settings.service import ConfigService
from ...tools.mcp.turn_tools import TurnTools
from .accepted import AcceptedOps
from .askers import Askers


@dataclass(frozen=True)
class Parts:
    """One server's parts, as ``app.py`` wires them together. ``on_close`` is called when the server
    ends, before the sessions do."""

    runtime: Runtime
    sessions: SessionRegistry
    connect: ConnectService
    config: ConfigService
    version: str
    local_models: LocalServers
    turn_tools: TurnTools
    instructions: Instructions
    plugins: Plugins
    accepted: AcceptedOps = field(default_factory=AcceptedOps)
    askers: Askers = field(default_factory=Askers)
    on_close: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    def models(self) -> ModelsReply:
        """Every model that may be chosen, with its readiness."""
        return self.connect.models()

    @cached_property
    def mcp(self) -> McpService:
        """MCP servers, whose tools the agent uses."""
        return McpService(self.turn_tools)

    @cached_property
    def strategist(self) -> Strategist:
        """Answers questions about earlier conversations."""
        return Strategist(self.sessions)
