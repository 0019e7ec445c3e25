"""The model of a process: whatever a name stands for, at a provider or on this computer."""

from __future__ import annotations

from .litellm_model import LitellmModel
from .local.calls import WithLocalModels
from .local.servers import LocalServers
from .types import Model


def with_local_models(model: Model, servers: LocalServers) -> Model:
    """Calls models on this computer by ``servers`` and litellm, with no key but that of their
    process, and all others by ``model``."""
    return WithLocalModels(model, LitellmModel, servers)
