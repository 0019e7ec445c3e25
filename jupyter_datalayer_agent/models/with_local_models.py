"""The model of a process: whatever a name stands for, at a provider, of an installed package or on
this computer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import get_args

from ..secrets_in_text import redact
from .catalogue import installed_providers
from .installed_providers import InstalledProviders
from .litellm_model import LitellmModel
from .local.added_models import PREFIX
from .local.servers import LocalServers, RunningModel
from .types import (
    Model,
    ModelError,
    ModelLoading,
    ModelProvider,
    ModelRequest,
    ResponseDone,
    StreamEvent,
)

# Calls of models on this computer: the model is started, then called like any other server.


LOADED = "Thinking"
"""Shown when the model has been loaded, as it is during any call."""


class WithLocalModels:
    """A ``Model`` that calls ``local/NAME`` by ``on_this_computer`` and all others by ``model``."""

    def __init__(
        self, model: Model, on_this_computer: Callable[[], Model], servers: LocalServers
    ) -> None:
        self._model = model
        self._on_this_computer = on_this_computer
        self._servers = servers

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """See ``types.Model.stream``. What is shown while a model is loaded comes first."""
        if not request.model.startswith(PREFIX):
            async with contextlib.aclosing(self._model.stream(request)) as events:
                async for event in events:
                    yield event
            return
        async with self._servers.use(request.model.removeprefix(PREFIX)) as running:
            if not running.is_loaded:
                async with contextlib.aclosing(running.loading()) as messages:
                    async for message in messages:
                        yield ModelLoading(message)
                yield ModelLoading(LOADED)
            address = await running.process.address()
            sent = replace(
                request,
                model=f"openai/{request.model}",
                api_base=f"{address}/v1",
                api_key=running.process.key,
                model_api="chat",
            )
            try:
                model = self._on_this_computer()
                async with contextlib.aclosing(model.stream(sent)) as events:
                    async for event in events:
                        yield event
            except ModelError as error:
                raise await _of_local(error, running, sent.api_base or "") from error


async def _of_local(error: ModelError, running: RunningModel, api_base: str) -> ModelError:
    """The error in terms of the local model, and of its process where that has ended."""
    process = running.process
    was_cut_off = error.code in ("connection", "broken_stream")
    if was_cut_off and await asyncio.to_thread(process.ends):
        message = await asyncio.to_thread(process.failure)
        return ModelError("broken_stream", message, retryable=False)
    name = f"The local model {process.model.name}"
    error.message = error.message.replace(f"OpenAI at {api_base}", name)
    return error


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
