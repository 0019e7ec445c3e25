"""A live session: ops come in, events go out, and one task takes the ops and runs the turns.

Handlers only ``submit`` ops and ``subscribe`` to events. Every event is in the database before it
is sent, in the order of its ``seq``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...protocol import events, ops
from ...protocol.base import Audience, new_id
from ...protocol.errors import AgentError
from ...protocol.renames import Rename
from ...protocol.requests import ChatReply
from ...settings.turn_settings import check_session, for_turn, loosened_in_session
from ...store.records import StoredOp, WaitingTurn
from ..asker import Asker
from ..message import Message, TurnMaker
from ..model_calls.compaction import compact_now
from ..request import TurnRequest, as_submitted, turn_request
from ..state import RetainedState, SessionState
from ..turn.loop import Turn
from . import datasets
from .current_task import CurrentTask, TaskDone
from .message_queue import MessageQueue
from .op_handlers import OpContext, changed_defaults, handle_op
from .turn_factory import create_turn, resume_turn

log = logging.getLogger(__name__)

UNLOADED = AgentError("internal", "The session was unloaded.")
FAILED = AgentError("internal", "Internal error. See the server log for details.")


@dataclass(frozen=True)
class QueuedOp:
    """A queued op other than a message."""

    op_id: str
    op: ops.Op


class LiveSession:
    """Runs one session in memory. Created by ``SessionRegistry``; ``close`` ends its turn and its
    task."""

    def __init__(self, state: SessionState) -> None:
        self.state = state
        self._messages = MessageQueue(state.runtime.store, state.id, state.channel)
        self._arriving = 0
        self._ops: asyncio.Queue[QueuedOp | Message | TaskDone | None] = asyncio.Queue()
        self._current = CurrentTask(state, self._ops.put_nowait)
        self._context = OpContext(
            state=state,
            current=self._current,
            messages=self._messages,
            queue_or_start=self._queue_or_start,
            start_next=self._next,
            compact_soon=self._compact_soon,
        )
        self._compaction_wanted = False
        self._starting: dict[str, asyncio.Event] = {}
        self._remembering: asyncio.Task[None] | None = None
        self._is_handling = False
        self._ending = False
        self._worker = asyncio.create_task(self._work())

    @property
    def id(self) -> str:
        """The session's id."""
        return self.state.id

    @property
    def turn(self) -> Turn | None:
        """The running turn."""
        return self._current.turn

    # -- in ------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether a turn runs, or a message is queued to run after it."""
        return self.state.is_busy or bool(self._messages.has_next or self._arriving)

    @property
    def waits(self) -> bool:
        """Whether the running turn waits for the user."""
        return self.turn is not None and self.turn.waits

    @property
    def ended(self) -> bool:
        """Whether the session takes no more ops; it can be loaded again after ``gone``."""
        return self._ending or self._worker.done()

    async def gone(self) -> None:
        """Wait until the session's task has ended."""
        await asyncio.wait([self._worker])

    @property
    def idle(self) -> bool:
        """Whether nothing runs or waits, so that the whole session is in the database."""
        remembering = self._remembering is not None and not self._remembering.done()
        waits = self.state.waiting.has_open or not self._ops.empty()
        return not (self.busy or self._is_handling or waits or remembering)

    def unload(self) -> RetainedState:
        """End the idle session's task. Returns what is needed to load it again. Listeners of its
        channel stay connected."""
        self._ending = True
        self._ops.put_nowait(None)
        return self.state.retained

    async def check(self, op: ops.Op, asker: Asker) -> None:
        """Raises ``AgentError``: ``not_found`` for an op about a turn that the session does not
        have, ``forbidden`` if it sets what is locked or if the asker may not send it."""
        if isinstance(op, ops.TurnOp):
            session_id = await self.state.runtime.store.turn_reader.session_of(op.turn_id)
            if session_id != self.id:
                raise AgentError("not_found", f"There is no turn {op.turn_id} in this session.")
        elif isinstance(op, ops.UploadRegistered):
            await datasets.check(self.state, op)
        elif isinstance(op, ops.ConfigUpdate):
            base, now = self.state.runtime.settings(), self.state.record.settings
            check_session(base, op.settings)
            self.state.starters.check_settings(loosened_in_session(base, now, op.settings), asker)
        self.state.starters.check(op, asker)

    def submit(
        self,
        op: ops.Op,
        audience: Audience = "page",
        op_id: str | None = None,
        starter: str | None = None,
    ) -> str:
        """Queue an op. Returns its id, ``op_id`` or a new one."""
        op_id = op_id or new_id("op")
        if isinstance(op, ops.UserMessage):
            self._arrive(Message(op_id, op, audience, starter=starter))
        else:
            self._ending = self._ending or isinstance(op, ops.Shutdown)
            self._ops.put_nowait(QueuedOp(op_id, op))
        return op_id

    def _arrive(self, message: Message) -> None:
        request = as_submitted(self.state.runtime, message.op.request)
        if request.action is not None:
            message.parameters = request.action.parameters
            kept = request.action.model_copy(update={"parameters": {}})
            request = request.model_copy(update={"action": kept})
        message.op = message.op.model_copy(update={"request": request})
        self._arriving += 1
        self._ops.put_nowait(message)

    async def chat(
        self,
        op: ops.UserMessage,
        audience: Audience,
        turn_maker: TurnMaker | None = None,
        starter: str | None = None,
    ) -> tuple[str, asyncio.Future[ChatReply]]:
        """Start a turn now, or after a running compaction or further answer. Returns its op id and
        the future reply. ``turn_maker`` makes the turn instead of the text. Raises
        ``turn_in_progress``."""
        await self._current.ended()
        queued = self._messages.has_next or self._arriving
        if self.busy and (queued or not self._current.is_other_work):
            raise AgentError(
                "turn_in_progress",
                "A turn is running in this session. Wait for it to end, interrupt it, or send the "
                "message as an op, which is queued.",
            )
        result: asyncio.Future[ChatReply] = asyncio.get_running_loop().create_future()
        message = Message(new_id("op"), op, audience, result, starter, turn_maker=turn_maker)
        self._arrive(message)
        return message.op_id, result

    async def started(self, op_id: str, result: asyncio.Future[ChatReply]) -> AgentError | None:
        """Wait until the message's turn runs. Returns the error if it was refused before that."""
        running = asyncio.ensure_future(self._starting.setdefault(op_id, asyncio.Event()).wait())
        try:
            first: list[asyncio.Future[Any]] = [running, result]
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        finally:
            running.cancel()
            self._starting.pop(op_id, None)
        failure = result.exception() if result.done() and not result.cancelled() else None
        return failure if isinstance(failure, AgentError) else None

    async def close(self) -> None:
        """End the running turn and the session's task."""
        if self._worker.done():
            return
        self._ops.put_nowait(None)
        await asyncio.wait([self._worker])

    # -- the task ------------------------------------------------------------------------------

    async def _work(self) -> None:
        while (entry := await self._ops.get()) is not None:
            self._is_handling = True
            try:
                if isinstance(entry, Message):
                    await self._receive(entry)
                elif isinstance(entry, TaskDone):
                    if entry.failure is not None and entry.turn_id is not None:
                        self._ending = True
                        await self.state.runtime.store.turns.abandon(entry.turn_id)
                        self.state.channel.send_failure(entry.failure, entry.turn_id)
                        break
                    if entry.failure is not None:
                        await self._emit_refusal(entry.failure, entry.op_id)
                    await self.state.tell()
                    await self._next()
                elif await self._handle(entry):
                    break
            except AgentError as error:
                await self._emit_refusal(error, entry.op_id)
            except Exception:
                # One bad op must not end the session, and its sender waits for an answer.
                log.exception("Session %s: an op failed", self.id)
                await self._emit_refusal(FAILED, entry.op_id)
            self._is_handling = False
            self.state.touch()
        await self._current.stop("shutdown")
        if self._remembering is not None:
            await self._remembering
        self._messages.refuse_all(UNLOADED)
        while not self._ops.empty():
            if isinstance(late := self._ops.get_nowait(), Message):
                late.refuse(UNLOADED)

    def renamed(self, rename: Rename) -> bool:
        """See ``SessionState.renamed``; queued messages follow, too."""
        self._messages.renamed(rename)
        return self.state.renamed(rename)

    def put_back(self, waiting: Sequence[StoredOp]) -> None:
        """Queue these messages again, as before the session was unloaded."""
        self._messages.put_back(waiting)

    def run_queued(self) -> None:
        """Start the first queued message, if there is one."""
        if self._messages.has_next:
            self._ops.put_nowait(TaskDone())

    async def _emit_refusal(self, error: AgentError, op_id: str | None = None) -> None:
        event = events.ErrorEvent(code=error.code, message=error.message, op_id=op_id)
        try:
            await self.state.emit(event)
        except Exception:
            # Failing to report the failure must not end the session either.
            log.exception("Session %s: an error could not be written", self.id)
            self.state.channel.send_unsaved(event, None)

    async def _handle(self, queued: QueuedOp) -> bool:
        """Carry out an op other than a message; True if the session is to end."""
        if isinstance(queued.op, ops.Shutdown):
            return True
        if isinstance(queued.op, ops.TurnOp):
            await self._current.ended()
        await handle_op(self._context, queued.op_id, queued.op)
        return False

    async def _compact_soon(self) -> None:
        # A running compaction is not repeated; a turn ends first.
        self._compaction_wanted = not self._current.is_other_work
        await self._next()

    # -- messages ------------------------------------------------------------------------------

    async def _receive(self, message: Message) -> None:
        try:
            await self._queue_or_start(message)
        finally:
            self._arriving -= 1

    async def _queue_or_start(self, message: Message) -> None:
        if self.state.is_busy or self._messages.has_next:
            await self._messages.add(message)
            # A turn may have just ended; earlier messages come first.
            await self._next()
        else:
            await self._start(message)

    async def _start(self, message: Message) -> None:
        """Start a message's turn, or report why it has none."""
        state, chat_request = self.state, message.op.request
        runtime = state.runtime
        if self._remembering is not None:
            await self._remembering
        try:
            request = await turn_request(
                runtime, chat_request, state.record.settings, state.created
            )
            await state.refresh()
            settings = for_turn(
                runtime.settings(), state.record.settings, chat_request, request.mode
            )
            turn = await create_turn(state, request, settings, message)
        except Exception as error:
            if not isinstance(error, AgentError):
                log.exception("Session %s: a message's turn could not begin", self.id)
            refusal = error if isinstance(error, AgentError) else FAILED
            message.refuse(refusal)
            await self._emit_refusal(refusal, message.op_id)
            return
        self._run(turn, message)
        if message.op_id in self._starting:
            self._starting[message.op_id].set()
        # In parallel with the turn, which does not need it.
        self._remembering = asyncio.create_task(self._remember(request))

    async def resume(self, waiting: WaitingTurn) -> None:
        """Resume a turn that waited for the user when its server ended.

        Raises ``AgentError`` if what it was about no longer exists.
        """
        self._run(*await resume_turn(self.state, waiting))

    def _run(self, turn: Turn, message: Message) -> None:
        # The turn follows renames from now on; these came while its subject was being decided.
        for rename in self.state.runtime.notebooks.renames.noted(turn.request.renames):
            turn.renamed(rename)
        self.state.starters.started(turn.id, message.starter)
        self._current.run_turn(turn, message)

    async def _remember(self, request: TurnRequest) -> None:
        """Title the session from its first message; remember its mode, model and notebook."""
        state = self.state
        title, settings = changed_defaults(state.record, request)
        if title is None and settings is None:
            return
        try:
            state.record = await state.runtime.store.sessions.update(
                self.id, title=title, settings=settings
            )
            await state.emit_configured()
        except AgentError as error:
            await self._emit_refusal(error)

    def _compact(self) -> None:
        self._compaction_wanted = False
        self._current.run_other(
            lambda stop: compact_now(self.state, stop),
            "The conversation could not be summarised.",
        )

    async def _next(self) -> None:
        if not self.state.is_busy and self._compaction_wanted:
            self._compact()
        # If one is refused, the next one follows.
        while not self.state.is_busy and (message := await self._messages.take()) is not None:
            await self._start(message)
