"""The services of one server that handlers use."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from ...agent.features.connect import ConnectService
from ...agent.services import Services
from ...agent.session.registry import SessionRegistry
from ...agent.session.strategist import Strategist
from ...models.local.servers import LocalServers
from ...protocol.requests import ModelsReply
from ...settings.service import ConfigService
from .accepted import AcceptedOps


@dataclass(frozen=True)
class Parts:
    """One server's parts, as ``app.py`` wires them together."""

    services: Services
    sessions: SessionRegistry
    connect: ConnectService
    config: ConfigService
    version: str
    local_models: LocalServers
    accepted: AcceptedOps = field(default_factory=AcceptedOps)

    def models(self) -> ModelsReply:
        """Every model that may be chosen, with its readiness."""
        return self.connect.models()

    @cached_property
    def strategist(self) -> Strategist:
        """Answers questions about earlier conversations."""
        return Strategist(self.sessions)
