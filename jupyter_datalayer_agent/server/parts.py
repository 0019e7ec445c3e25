"""What the handlers work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from ..agent.services import Services
from ..agent.sessions import Sessions
from ..agent.strategist import Strategist
from ..protocol.requests import ConfigReply, ModelsReply, SessionSettings
from .accepted import AcceptedOps


class Config(Protocol):
    """Shows the settings and changes the person's."""

    def reply(self, session: SessionSettings | None = None) -> ConfigReply:
        """Every setting; with a session, as it holds there."""
        ...

    def change(self, values: dict[str, Any]) -> ConfigReply:
        """Change the person's settings. Raises ``AgentError`` that names what cannot be."""
        ...


@dataclass(frozen=True)
class Parts:
    """One server's parts, as ``app.py`` wires them together."""

    services: Services
    sessions: Sessions
    models: Callable[[], ModelsReply]
    config: Config
    version: str
    accepted: AcceptedOps = field(default_factory=AcceptedOps)

    @cached_property
    def strategist(self) -> Strategist:
        """Who answers questions about the past."""
        return Strategist(self.sessions)
