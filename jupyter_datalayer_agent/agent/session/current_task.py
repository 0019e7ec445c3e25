"""What runs in a session, one thing at a time: a turn, or a compaction or further answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from ...protocol.errors import AgentError
from ...protocol.requests import ChatReply
from ..message import Message
from ..state import SessionState, Stop
from ..turn.ends import AbortReason
from ..turn.loop import Turn

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TaskDone:
    """The session's task has ended; put on its queue of ops.

    ``failure`` is why a turn could not store its own end: the database could not be used.
    """

    turn_id: str | None = None
    failure: AgentError | None = None
    op_id: str | None = None


class CurrentTask:
    """Runs a turn or other work as an asyncio task; ``on_done`` is called when it ends."""

    def __init__(self, state: SessionState, on_done: Callable[[TaskDone], None]) -> None:
        self.turn: Turn | None = None
        self._state = state
        self._on_done = on_done
        self._task: asyncio.Task[Any] | None = None
        self._stop: Stop | None = None

    @property
    def is_other_work(self) -> bool:
        """Whether a compaction or a further answer runs."""
        return self._task is not None and self.turn is None

    def run_turn(self, turn: Turn, message: Message) -> None:
        """Run a turn; the message's caller gets its reply."""
        self.turn = self._state.turn = turn
        self._start(turn.run(), lambda task: self._turn_done(task, message))

    def run_other(self, work: Callable[[Stop], Coroutine[Any, Any, None]], failure: str) -> None:
        """Run work other than a turn; ``failure`` is reported for an internal error."""
        self._stop = Stop()
        self._start(work(self._stop), lambda task: self._other_done(task, failure))

    def interrupt(self, reason: AbortReason) -> None:
        """Ask what runs to stop."""
        if self.turn is not None:
            self.turn.stop(reason)
        elif self._stop is not None:
            self._stop.request()

    async def stop(self, reason: AbortReason) -> None:
        """Stop what runs, and wait for its end. At a shutdown, a turn that waits for the user is
        left as it is, to be resumed."""
        task = self._task
        # An MCP server that waits for a form ends with this server.
        can_resume = not self._state.waiting.ends_with_server
        if reason == "shutdown" and self.turn is not None and self.turn.waits and can_resume:
            self.turn.leave()
        self.interrupt(reason)
        if task is not None:
            await asyncio.wait([task])

    async def ended(self) -> None:
        """Wait for a turn whose end was emitted, or is about to be: a client that has read it may
        already ask for something that is refused while a turn runs."""
        if self.turn is not None and self.turn.record.ending and self._task is not None:
            await asyncio.wait([self._task])

    def _start(
        self, work: Coroutine[Any, Any, Any], done: Callable[[asyncio.Task[Any]], None]
    ) -> None:
        self._state.is_busy = True
        self._task = asyncio.create_task(work)
        self._task.add_done_callback(done)

    def _clear(self) -> None:
        self._state.is_busy = False
        self._task = self._stop = None
        self.turn = self._state.turn = None

    def _turn_done(self, task: asyncio.Task[ChatReply], message: Message) -> None:
        turn_id = self.turn.id if self.turn is not None and self.turn.started else None
        self._clear()
        error = None if task.cancelled() else task.exception()
        failure: AgentError | None = None
        if error is not None or task.cancelled():
            log.error("Session %s: a turn could not be saved", self._state.id, exc_info=error)
            failure = (
                error
                if isinstance(error, AgentError)
                else AgentError("internal", "The turn failed. See the server log for details.")
            )
            message.refuse(failure)
        elif message.result is not None and not message.result.done():
            message.result.set_result(task.result())
        self._on_done(TaskDone(turn_id, failure, message.op_id))

    def _other_done(self, task: asyncio.Task[None], failure: str) -> None:
        self._clear()
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, AgentError):
            log.error("Session %s: %s", self._state.id, failure, exc_info=error)
            error = AgentError("internal", failure)
        self._on_done(TaskDone(None, error))
