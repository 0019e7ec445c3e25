"""What the handlers work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..agent.services import Services
from ..agent.sessions import Sessions
from ..protocol.requests import ConfigReply, ModelsReply
from .accepted import AcceptedOps


@dataclass(frozen=True)
class Parts:
    """One server's parts, as ``app.py`` wires them together."""

    services: Services
    sessions: Sessions
    models: Callable[[], ModelsReply]
    config: Callable[[], ConfigReply]
    version: str
    accepted: AcceptedOps = field(default_factory=AcceptedOps)
