"""The model behind litellm: any provider, one stream of events, one attempt a call."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import anyio

from . import loader
from .capabilities import taken_effort
from .catalogue import readiness
from .chat_assembler import ChatAssembler
from .drafts import Assembler
from .errors import model_error
from .prices import cost_of
from .provider_arguments import (
    ModelRoute,
    call_arguments,
    register,
    route,
    serves_responses,
    takes_reasoning,
)
from .responses_assembler import ResponsesAssembler
from .tokens import counted_usage
from .types import BrokenStream, ModelError, ModelErrorCode, ModelRequest, ResponseDone, StreamEvent

IDLE_TIMEOUT = 300.0
"""Seconds without a byte after which a stream counts as broken."""


class LitellmModel:
    """Calls models through litellm: by the Responses API, or by chat completions.

    ``environ`` is where keys are read from; they are passed on and never kept."""

    def __init__(
        self, *, idle_timeout: float = IDLE_TIMEOUT, environ: Mapping[str, str] = os.environ
    ) -> None:
        self._idle_timeout = idle_timeout
        self._environ = environ

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """See ``types.Model.stream``."""
        where = route(request, self._environ)
        self._check_ready(request, where)
        litellm = await loader.litellm()
        register(litellm, where)
        if where.responses and not serves_responses(litellm, where):
            where = replace(where, responses=False)
        if where.responses:
            await loader.responses()
        effort = taken_effort(where.model, request.reasoning_effort)
        request = replace(request, reasoning_effort=effort)
        arguments = call_arguments(
            request, where, idle_timeout=self._idle_timeout, environ=self._environ
        )
        if where.responses and takes_reasoning(litellm, where.model):
            arguments["include"] = ["reasoning.encrypted_content"]
        assembler: Assembler
        if where.responses:
            assembler = ResponsesAssembler()
            source = await self._open_readable(litellm, arguments, where)
        else:
            assembler = ChatAssembler(_call_ids(request))
            source = await self._open(litellm.acompletion(**arguments), where)
        if not request.stream:
            for event in assembler.feed_whole(source):
                yield event
        else:
            async with contextlib.aclosing(self._read(source, assembler, where)) as events:
                async for event in events:
                    yield event
        for event in assembler.finish():
            yield await _priced(event, request, where) if isinstance(event, ResponseDone) else event

    def _check_ready(self, request: ModelRequest, where: ModelRoute) -> None:
        """Detect a missing or empty key before litellm turns it into a connection error."""
        state = readiness(where.model if request.model else None, where.api_base, self._environ)
        if state.ready:
            return
        unset = not any(name in self._environ for name in state.missing)
        code: ModelErrorCode = "no_model" if unset or not request.model else "authentication"
        raise ModelError(code, f"{state.reason} {state.what_to_do}")

    async def _open_readable(
        self, litellm: Any, arguments: dict[str, Any], where: ModelRoute
    ) -> Any:
        """Open the answer; without earlier reasoning if the model cannot read it, as after a change
        of model or key."""
        try:
            return await self._open(litellm.aresponses(**arguments), where)
        except ModelError as error:
            body = arguments.get("extra_body", arguments)
            kept = [item for item in body["input"] if item.get("type") != "reasoning"]
            unreadable = error.code == "bad_request" and "encrypted" in error.message
            if not unreadable or len(kept) == len(body["input"]):
                raise
        body["input"] = kept
        return await self._open(litellm.aresponses(**arguments), where)

    async def _open(self, call: Any, where: ModelRoute) -> Any:
        """Make the call; returns the beginning stream, or the whole answer."""
        try:
            with anyio.fail_after(self._idle_timeout):
                return await call
        except TimeoutError as error:
            raise self._silent(None) from error
        except Exception as error:  # litellm raises what its providers' clients raise: any kind
            raise self._failed(error, where, None) from error

    async def _read(
        self, source: Any, assembler: Assembler, where: ModelRoute
    ) -> AsyncGenerator[StreamEvent, None]:
        """The stream's events up to its end, which must be a sound one."""
        try:
            events: AsyncIterator[Any] = source.__aiter__()
            while not assembler.ended:
                event = await self._next(events, where)
                if event is None:
                    break
                for ours in assembler.feed(event):
                    yield ours
            if not assembler.is_whole(source):
                message = "The answer was cut off before it was complete."
                raise ModelError("broken_stream", message)
        except ModelError as error:
            for whole in assembler.recover():
                yield whole
            error.broken = assembler.broken()
            raise
        finally:
            await _close(source)

    async def _next(self, events: AsyncIterator[Any], where: ModelRoute) -> Any:
        """The next of litellm's events, None at their end. Raises ``ModelError``."""
        try:
            # Not asyncio.wait_for: before Python 3.12 it loses a cancellation that comes just when
            # the event does.
            with anyio.fail_after(self._idle_timeout):
                return await events.__anext__()
        except StopAsyncIteration:
            return None
        except TimeoutError as error:
            raise self._silent(BrokenStream()) from error
        except Exception as error:
            raise self._failed(error, where, BrokenStream()) from error

    def _silent(self, broken: BrokenStream | None) -> ModelError:
        message = f"The model sent nothing for {self._idle_timeout:g} seconds."
        return ModelError("broken_stream", message, broken=broken)

    def _failed(
        self, error: Exception, where: ModelRoute, broken: BrokenStream | None
    ) -> ModelError:
        return model_error(
            error,
            provider=where.provider,
            api_base=where.api_base,
            broken=broken,
            environ=self._environ,
        )


async def _priced(done: ResponseDone, request: ModelRequest, where: ModelRoute) -> ResponseDone:
    """The end of an answer with its usage, estimated if the provider reported none."""
    usage = done.usage
    if usage.total_tokens == 0:
        usage = await asyncio.to_thread(counted_usage, request, done.items)
    cost = cost_of(where.model, usage, done.cache_written)
    return replace(done, usage=usage.model_copy(update={"cost": cost}))


def _call_ids(request: ModelRequest) -> set[str]:
    """The ids of the calls in the request."""
    return {item["call_id"] for item in request.input if item.get("type") == "function_call"}


async def _close(source: Any) -> None:
    """Close the HTTP stream now, not at garbage collection, so that the provider stops generating
    and billing."""
    for holder in (source, getattr(source, "response", None)):
        close = getattr(holder, "aclose", None)
        if close is not None:
            # Errors of a connection that is being closed do not matter.
            with contextlib.suppress(OSError, RuntimeError):
                await close()
