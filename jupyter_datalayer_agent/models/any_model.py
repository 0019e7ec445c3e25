"""The model of a process: whatever a name stands for, at a provider or on this computer."""

from __future__ import annotations

from .litellm_model import LitellmModel
from .local.calls import IDLE_TIMEOUT, WithLocalModels
from .local.servers import LocalServers
from .types import Model


def any_model(servers: LocalServers) -> Model:
    """Calls models through litellm, those on this computer by ``servers``."""
    return WithLocalModels(LitellmModel(), lambda: LitellmModel(idle_timeout=IDLE_TIMEOUT), servers)
