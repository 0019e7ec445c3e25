"""What an MCP server asks the user during calls of its tools (elicitation).

Its requests are taken out of the stream of messages, and answered there: version 1 of the SDK reads
nothing more, neither results nor the server's end, until a request is answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import anyio

from ...protocol.forms import FormAnswer
from ..context import AskForm
from .form_fields import BadForm, form_of, problem_of
from .listed import plain, visible
from .sdk import Incoming, Sdk
from .server_log import ServerLog

MOST_OPEN = 3
"""Requests of one server that wait for the user. Further ones are cancelled."""
LONGEST_MESSAGE = 4_000
SEND_SECONDS = 5.0
"""For an answer to be on its way."""
INVALID_PARAMS = -32602


@dataclass(eq=False)
class RunningCall:
    """A call of a tool: who asks its user, and its time limit, which does not run meanwhile."""

    ask: AskForm
    limit: anyio.CancelScope
    _left: float | None = None

    def pause(self) -> None:
        """Stop its time."""
        if self._left is None:
            self._left = self.limit.deadline - anyio.current_time()
            self.limit.deadline = math.inf

    def go_on(self) -> None:
        """Let its time go on."""
        if self._left is not None:
            self.limit.deadline = anyio.current_time() + self._left
            self._left = None


@dataclass(eq=False)
class _Request:
    """A request that waits for the user, and who asks it."""

    ask: AskForm
    task: asyncio.Task[None] = field(init=False)


class Elicitations:
    """The requests of one server. ``name`` is the server's, for the user.

    MCP does not say which call a request is part of. It is asked where the call that began last
    comes from, and cancelled once no call from there runs any more.
    """

    def __init__(self, name: str, sdk: Sdk, log: ServerLog) -> None:
        self._name = visible(name, 40)
        self._sdk = sdk
        self._log = log
        self._calls: list[RunningCall] = []
        self._open: dict[Any, _Request] = {}

    @contextlib.asynccontextmanager
    async def during(self, call: RunningCall | None) -> AsyncIterator[None]:
        """While a call runs; with its end, what it asks is cancelled."""
        if call is None:
            yield
            return
        self._calls.append(call)
        if self._open:
            call.pause()
        try:
            yield
        finally:
            self._calls.remove(call)
            asked_by = [each.ask for each in self._calls]
            # The time limit may have ended the call, and would end this, too.
            with anyio.CancelScope(shield=True):
                await _cancel([each for each in self._open.values() if each.ask not in asked_by])

    def take(self, message: Incoming, write: Any) -> bool:
        """Whether a message is one of these requests, which will be answered to ``write``."""
        if message.method == "notifications/cancelled":
            request = self._open.get(message.params.get("requestId"))
            if request is not None:
                request.task.cancel()
            return request is not None
        if message.method != "elicitation/create":
            return False
        if message.id in self._open:
            self._log.add("It asked for input twice by the same id.")
            return True
        ask = self._calls[-1].ask if self._calls else None
        if ask is None or len(self._open) >= MOST_OPEN:
            self._log.add("It asked for input outside of a call, or too often: cancelled.")
            ask = _cancelled
        request = _Request(ask)
        self._open[message.id] = request
        for call in self._calls:
            call.pause()
        request.task = asyncio.create_task(self._answer(request, message, write))
        return True

    async def close(self) -> None:
        """Cancel what is open."""
        await _cancel(list(self._open.values()))

    async def _answer(self, request: _Request, message: Incoming, write: Any) -> None:
        reply: Any
        try:
            reply = self._sdk.response(message.id, await self._asked(request.ask, message.params))
        except BadForm as error:
            self._log.add(f"It asked for input in a form that is not supported: {error}")
            reply = self._sdk.error(message.id, INVALID_PARAMS, str(error))
        except asyncio.CancelledError:
            reply = self._sdk.response(message.id, {"action": "cancel"})
        except Exception as error:  # noqa: BLE001 - the task's boundary: a database may be gone
            self._log.add(f"Its request for input could not be shown: {error!r}")
            reply = self._sdk.response(message.id, {"action": "cancel"})
        finally:
            self._open.pop(message.id, None)
            if not self._open:
                for call in self._calls:
                    call.go_on()
        # The server may be gone, or read nothing.
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            with anyio.move_on_after(SEND_SECONDS):
                await write.send(reply)

    async def _asked(self, ask: AskForm, params: dict[str, Any]) -> dict[str, Any]:
        if params.get("mode", "form") != "form":
            raise BadForm(f"The mode {str(params['mode'])[:40]!r} is not supported.")
        form = form_of(self._name, params.get("requestedSchema"))
        text = plain(str(params.get("message", "")), LONGEST_MESSAGE)
        answer = await ask(text, form, lambda values: problem_of(form, values))
        given = {"action": answer.action}
        return {**given, "content": answer.values} if answer.action == "accept" else given


async def _cancelled(*_: object) -> FormAnswer:
    return FormAnswer(action="cancel")


async def _cancel(requests: list[_Request]) -> None:
    for each in requests:
        each.task.cancel()
    if requests:
        await asyncio.wait([each.task for each in requests])
