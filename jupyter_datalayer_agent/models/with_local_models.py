"""The model of a process: whatever a name stands for, at a provider, of an installed package or on
this computer."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import get_args

from .catalogue import installed_providers
from .errors import redact
from .installed_providers import InstalledProviders
from .litellm_model import LitellmModel
from .local.calls import WithLocalModels
from .local.servers import LocalServers
from .types import Model, ModelError, ModelProvider, ModelRequest, ResponseDone, StreamEvent

log = logging.getLogger(__name__)


def with_local_models(model: Model, servers: LocalServers) -> Model:
    """Calls models on this computer by ``servers`` and litellm, with no key but that of their
    process, those of installed packages by their providers, and all others by ``model``."""
    others = WithInstalledProviders(model, installed_providers)
    return WithLocalModels(others, LitellmModel, servers)


class WithInstalledProviders:
    """A ``Model`` that calls the models of installed packages by their providers and all others by
    ``model``."""

    def __init__(self, model: Model, providers: Callable[[], InstalledProviders]) -> None:
        self._model = model
        self._providers = providers
        self._connected: dict[str, Model] = {}

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """See ``types.Model.stream``."""
        if self._providers().has(request.model):
            return self._of_package(request)
        return self._model.stream(request)

    async def _of_package(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Whatever a provider raises or leaves out is a ``ModelError`` that names it. It gets no
        address or key that is configured for others."""
        provider = self._providers().provider(request.model)
        sent = replace(request, api_base=None, api_key=None)
        is_whole = False
        try:
            model = self._model_of(request.model.partition("/")[0], provider)
            async with aclosing(model.stream(sent)) as events:
                async for event in events:
                    if not isinstance(event, get_args(StreamEvent)):
                        raise TypeError(f"{type(event).__name__} is not an event of a stream.")
                    is_whole = isinstance(event, ResponseDone)
                    yield event
        except ModelError:
            raise
        except Exception as error:
            log.exception("A call of %s failed", provider.label)
            text = redact(str(error) or type(error).__name__)
            message = f"{provider.label} failed: {text}"
            raise ModelError("server", message, retryable=False) from error
        if not is_whole:
            message = f"The answer of {provider.label} ended before it was complete."
            raise ModelError("broken_stream", message, retryable=False)

    def _model_of(self, prefix: str, provider: ModelProvider) -> Model:
        if prefix not in self._connected:
            self._connected[prefix] = provider.connect()
        return self._connected[prefix]
