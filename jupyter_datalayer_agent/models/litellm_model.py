"""The model behind litellm: any provider, one stream of events, one attempt a call."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import anyio

from ..pauses import Pauses
from . import loader
from .capabilities import taken_effort
from .catalogue import readiness
from .chat_assembler import ChatAssembler
from .connections.connection import is_loopback
from .connections.registry import ConnectedCall, Connections
from .connections.way import Way, going
from .drafts import Assembler
from .errors import Refusals, model_error, refused_by, without
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
from .stream_bytes import ReportedError, StreamBytes, StreamEnds, bytes_of
from .thoughts import WithoutThoughts, speaks_of_marks
from .tokens import counted_usage
from .types import (
    CONNECTION_LOST,
    SIZE_LIMIT,
    BrokenStream,
    ModelError,
    ModelErrorCode,
    ModelRequest,
    ResponseDone,
    StreamEvent,
)

IDLE_TIMEOUT = 300.0
"""Seconds without a byte after which a stream counts as broken."""

LOCAL_IDLE_TIMEOUT = 3600.0
"""The same for a model on this computer: it is silent while it reads, some 35 tokens a second on a
slow one, and a connection to it does not get lost on the way."""


_MOST_CHUNKS, _FIRST_CHUNKS, _LAST_CHUNKS = 2_000, 100, 200


class LitellmModel:
    """Calls models through litellm: by the Responses API, or by chat completions.

    ``environ`` is where keys are read from, ``connections`` what users connected in the panel; keys
    are passed on and never kept. ``idle_timeout`` (seconds) is ``IDLE_TIMEOUT``, or
    ``LOCAL_IDLE_TIMEOUT`` on this computer, unless given."""

    def __init__(
        self,
        *,
        idle_timeout: float | None = None,
        environ: Mapping[str, str] = os.environ,
        connections: Connections | None = None,
    ) -> None:
        self._idle_timeout = idle_timeout
        self._environ = environ
        self._connections = connections
        self._refusals = Refusals()
        self._ends = StreamEnds()
        # By server and model: what ends the reasoning with which answers begin unmarked.
        self._implied: dict[tuple[str | None, str], str | None] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """See ``types.Model.stream``."""
        call = ConnectedCall(request, self._environ)
        if self._connections is not None:
            call = await self._connections.call(request)
        async with contextlib.aclosing(self.stream_call(call)) as events:
            async for event in events:
                yield event

    async def stream_call(self, call: ConnectedCall) -> AsyncGenerator[StreamEvent, None]:
        """``stream`` with the address and the key of a connection, which may not be saved."""
        request, environ = call.request, call.environ
        where = route(request, environ)
        if call.connection is not None:
            where = replace(where, provider=call.connection.provider)
        if call.connection is None or call.connection.form is None:
            self._check_ready(request, where, environ)
        litellm = await loader.litellm()
        register(litellm, where)
        if where.responses and not serves_responses(litellm, where):
            where = replace(where, responses=False)
        if where.responses:
            await loader.responses()
        effort = taken_effort(where.model, request.reasoning_effort)
        request = replace(request, reasoning_effort=effort)
        arguments = call_arguments(request, where, idle_timeout=self._idle(where), environ=environ)
        if where.responses and takes_reasoning(litellm, where.model):
            arguments["include"] = ["reasoning.encrypted_content"]
        chat = None if where.responses else ChatAssembler(_call_ids(request))
        inner = chat or ResponsesAssembler()
        key = (where.api_base, where.model)
        assembler = WithoutThoughts(inner, self._implied.get(key), speaks_of_marks(request.input))
        arguments.update(call.arguments)
        way = Way(environ, where.api_base, call.headers, call.certificate, call.secrets)
        source = await self._open_accepted(litellm, arguments, where, way)
        # Chat completions announce all calls, which may be thousands, after the last event.
        pauses = Pauses()
        if request.stream and chat is not None:
            chat.keep_refusals(source)
        if not request.stream:
            if isinstance(error := getattr(source, "error", None), dict):
                raise _failed(ReportedError(error), where, way)
            for event in assembler.feed_whole(source):
                await pauses.rest()
                yield event
            if assembler.is_over:
                assembler.end_as(SIZE_LIMIT)
        else:
            seconds = request.answer_timeout
            async with contextlib.aclosing(
                self._read(source, assembler, where, way, seconds, pauses)
            ) as events:
                async for event in events:
                    yield event
        for event in assembler.finish():
            await pauses.rest()
            if isinstance(event, ResponseDone):
                is_free = call.connection is not None and call.connection.server is not None
                event = await _counted(event, request)
                event = event if is_free else _priced(event, where)
                self._implied[key] = assembler.learnt()
            yield event

    def _check_ready(
        self, request: ModelRequest, where: ModelRoute, environ: Mapping[str, str]
    ) -> None:
        """Detect a missing or empty key before litellm turns it into a connection error."""
        state = readiness(where.model if request.model else None, where.api_base, environ)
        if state.ready:
            return
        unset = not any(name in environ for name in state.missing)
        code: ModelErrorCode = "no_model" if unset or not request.model else "authentication"
        raise ModelError(code, f"{state.reason} {state.what_to_do}")

    async def _open_accepted(
        self,
        litellm: Any,
        arguments: dict[str, Any],
        where: ModelRoute,
        way: Way,
    ) -> Any:
        """Open the answer, without what this server refuses; see ``refusals``."""
        known = refused = self._refusals.of(where.api_base, where.model)
        while True:
            sent = without(arguments, refused) if refused else arguments
            try:
                if where.responses:
                    source = await self._open_readable(litellm, sent, where, way)
                else:
                    source = await self._open(litellm.acompletion(**sent), where, way)
            except ModelError as error:
                more = refused_by(error, sent)
                if not more:
                    raise
                refused |= more
                continue
            if refused != known:
                self._refusals.learn(where.api_base, where.model, refused)
            return source

    async def _open_readable(
        self,
        litellm: Any,
        arguments: dict[str, Any],
        where: ModelRoute,
        way: Way,
    ) -> Any:
        """Open the answer; without earlier reasoning if the model cannot read it, as after a change
        of model or key."""
        try:
            return await self._open(litellm.aresponses(**arguments), where, way)
        except ModelError as error:
            body = arguments.get("extra_body", arguments)
            kept = [item for item in body["input"] if item.get("type") != "reasoning"]
            unreadable = error.code == "bad_request" and "encrypted" in error.message
            if not unreadable or len(kept) == len(body["input"]):
                raise
        body["input"] = kept
        return await self._open(litellm.aresponses(**arguments), where, way)

    async def _open(self, call: Any, where: ModelRoute, way: Way) -> Any:
        """Make the call; returns the beginning stream, or the whole answer."""
        try:
            with going(way), anyio.fail_after(self._idle(where)):
                return await call
        except TimeoutError as error:
            raise self._silent(where, None) from error
        except Exception as error:  # litellm raises what its providers' clients raise: any kind
            raise _failed(error, where, way) from error

    async def _read(
        self,
        source: Any,
        assembler: Assembler,
        where: ModelRoute,
        way: Way,
        seconds: float,
        pauses: Pauses,
    ) -> AsyncGenerator[StreamEvent, None]:
        """The stream's events up to its end, which must be a sound one."""
        seen = bytes_of(source)
        try:
            events: AsyncIterator[Any] = source.__aiter__()
            while not assembler.ended:
                await pauses.rest()
                _forget_chunks(source)
                event = await self._next(events, where, way, seen, seconds)
                if event is None:
                    break
                for ours in assembler.feed(event):
                    yield ours
                if assembler.is_over:
                    break
            if _is_over(assembler, seen):
                assembler.end_as(SIZE_LIMIT)
                return
            self._check_end(source, assembler, where, way, seen)
        except ModelError as error:
            if _is_over(assembler, seen):
                # litellm finds that the end of the answer is missing.
                assembler.end_as(SIZE_LIMIT)
                return
            if assembler.has_reason(source):
                # What was lost is at most how much it cost.
                return
            if error.retryable and assembler.was_shown():
                assembler.end_as(CONNECTION_LOST)
                return
            for whole in assembler.recover():
                await pauses.rest()
                yield whole
            error.broken = assembler.broken()
            raise
        finally:
            await _close(source)

    def _check_end(
        self,
        source: Any,
        assembler: Assembler,
        where: ModelRoute,
        way: Way,
        seen: StreamBytes | None,
    ) -> None:
        """Raises ``ModelError`` if the stream, read to its end, is not to count as an answer."""
        server = (where.api_base, where.model)
        if assembler.is_whole(source):
            self._ends.said(server)
            return
        if seen is not None and seen.error is not None:
            raise _failed(seen.error, where, way, BrokenStream())
        reason = None
        if seen is not None and seen.is_complete and assembler.may_be_whole():
            reason = self._ends.unsaid(server)
        if reason is None:
            message = "The answer was cut off before it was complete."
            raise ModelError("broken_stream", message)
        assembler.end_as(reason)

    async def _next(
        self,
        events: AsyncIterator[Any],
        where: ModelRoute,
        way: Way,
        seen: StreamBytes | None,
        seconds: float,
    ) -> Any:
        """The next of litellm's events, None at their end. Raises ``ModelError``."""
        idle, last = self._idle(where), anyio.current_time() + seconds
        try:
            # Not asyncio.wait_for: before Python 3.12 it loses a cancellation that comes just when
            # the event does.
            # litellm makes the requests of some providers when their answers are first read.
            with going(way), anyio.fail_after(idle) as scope:
                if seen is not None:
                    # A comment is no event, and the server is not silent.
                    seen.on_bytes = partial(_extend, scope, idle, last)
                return await events.__anext__()
        except StopAsyncIteration:
            return None
        except TimeoutError as error:
            if anyio.current_time() >= last:
                raise _only_signs_of_life(seconds) from error
            raise self._silent(where, BrokenStream()) from error
        except Exception as error:
            # litellm loses the code of an error that the Responses API reports.
            reported = None if seen is None else seen.error
            raise _failed(reported or error, where, way, BrokenStream()) from error

    def _idle(self, where: ModelRoute) -> float:
        return idle_timeout(where) if self._idle_timeout is None else self._idle_timeout

    def _silent(self, where: ModelRoute, broken: BrokenStream | None) -> ModelError:
        message = f"The model sent nothing for {self._idle(where):g} seconds."
        return ModelError("broken_stream", message, broken=broken)


def _is_over(assembler: Assembler, seen: StreamBytes | None) -> bool:
    return assembler.is_over or (seen is not None and seen.is_over)


def _forget_chunks(source: Any) -> None:
    """Have litellm keep the chunks in which providers report the usage, and not all of a long
    answer: those take much memory, and seconds to be joined at the end for nothing."""
    chunks: list[Any] = getattr(source, "chunks", [])
    if len(chunks) > _MOST_CHUNKS:
        del chunks[_FIRST_CHUNKS:-_LAST_CHUNKS]


def _extend(scope: anyio.CancelScope, seconds: float, last: float) -> None:
    scope.deadline = min(anyio.current_time() + seconds, last)


def _only_signs_of_life(seconds: float) -> ModelError:
    message = (
        f"The model sent nothing but signs of life for {seconds:g} seconds. Allow more with "
        "answer_timeout_seconds (Settings → Agent), or choose another model."
    )
    return ModelError("broken_stream", message, retryable=False, broken=BrokenStream())


def idle_timeout(where: ModelRoute) -> float:
    """Seconds of silence after which a stream of this route counts as broken."""
    is_ollama = where.api_base is None and where.model.startswith(("ollama/", "ollama_chat/"))
    is_local = is_ollama or is_loopback(urlsplit(where.api_base or "").hostname)
    return LOCAL_IDLE_TIMEOUT if is_local else IDLE_TIMEOUT


def _failed(
    error: Exception,
    where: ModelRoute,
    way: Way,
    broken: BrokenStream | None = None,
) -> ModelError:
    return model_error(
        error,
        provider=where.provider,
        api_base=where.api_base,
        broken=broken,
        environ=way.environ,
        secrets=(*way.headers.values(), *way.secrets),
    )


async def _counted(done: ResponseDone, request: ModelRequest) -> ResponseDone:
    """The end of an answer with its usage, estimated if the provider reported none."""
    if done.usage.total_tokens:
        return done
    return replace(done, usage=await asyncio.to_thread(counted_usage, request, done.items))


def _priced(done: ResponseDone, where: ModelRoute) -> ResponseDone:
    cost = cost_of(where.model, done.usage, done.cache_written)
    return replace(done, usage=done.usage.model_copy(update={"cost": cost}))


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
