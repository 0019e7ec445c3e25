"""Calls of models on this computer: the model is started, then called like any other server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

from ..types import Model, ModelError, ModelLoading, ModelRequest, StreamEvent
from .added_models import PREFIX
from .servers import LocalServers, RunningModel

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
