"""A live session: ops in, events out, one task that takes the ops and runs the turns.

Handlers only ``submit`` ops and ``subscribe`` to events. Every event is in the database before
anybody is told of it, and the order in which it is told is the order of its ``seq``.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..protocol import events, ops
from ..protocol.base import new_id
from ..protocol.errors import AgentError
from ..protocol.requests import ChatReply, Session
from ..store.records import QueuedOp, WaitingTurn
from ..tools.context import SeenCells
from . import datasets, undo
from .again import to_ask
from .beginning import turn_of, turn_that_waited
from .channel import EventChannel
from .compact_op import compact_now
from .history import History, read_history
from .message_queue import Message, MessageQueue
from .orders import carry_out, reset
from .planned.steering import steer
from .remembering import to_remember
from .services import Services
from .settings import check_session, for_turn
from .targets import Submission, submission
from .turn import AbortReason, Turn
from .waiting import Audience, WaitingRoom

log = logging.getLogger(__name__)

UNLOADED = AgentError("internal", "The session was unloaded.")


@dataclass(frozen=True)
class TurnEnded:
    """Put on the queue by the session itself when a turn's task is done.

    ``failure`` is what kept the turn from telling its own end: the database could not be used.
    """

    turn_id: str | None = None
    failure: AgentError | None = None
    op_id: str | None = None


@dataclass(frozen=True)
class Order:
    """An op that is not a message, on the queue."""

    op_id: str
    op: ops.Op


@dataclass
class Kept:
    """The little of a session that stays in memory while the session does not: what its model saw
    of cells, and what was approved for the whole session."""

    seen: SeenCells = field(default_factory=SeenCells)
    approved_tools: set[str] = field(default_factory=set)


class LiveSession:
    """One session in memory. Made by ``Sessions``; ``close`` ends its turn and its task.

    ``out_of_date``: the database has another history than ``history`` is.
    """

    def __init__(
        self,
        services: Services,
        record: Session,
        history: History,
        created: list[str],
        channel: EventChannel,
        kept: Kept | None = None,
    ) -> None:
        kept = kept or Kept()
        self.services = services
        self.id = record.id
        self.record = record
        self.history = history
        self.out_of_date = False
        self.created = created
        self.seen = kept.seen
        self.waiting = WaitingRoom(kept.approved_tools)
        self.session_tokens = record.session_tokens
        self.session_cost = record.session_cost
        self.turn: Turn | None = None
        self.channel = channel
        self.used_at = time.monotonic()
        self._messages = MessageQueue(services.store, record.id, channel)
        self._arriving = 0
        self._ops: asyncio.Queue[Order | Message | TurnEnded | None] = asyncio.Queue()
        # A turn runs in it, or what was asked for beside turns: a compaction, another answer.
        self._turn_task: asyncio.Task[Any] | None = None
        self._compaction_asked = False
        self._starting: dict[str, asyncio.Event] = {}
        self._remembering: asyncio.Task[None] | None = None
        self._at_work = False
        self._ending = False
        self._worker = asyncio.create_task(self._work())

    # -- in ------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether a turn runs or a message waits."""
        return self.working or bool(self._messages or self._arriving)

    @property
    def working(self) -> bool:
        """Whether a turn runs, or a compaction or another answer that was asked for."""
        return self._turn_task is not None

    @property
    def waits(self) -> bool:
        """Whether the turn that runs waits for the person."""
        return self.turn is not None and self.turn.waits

    @property
    def ended(self) -> bool:
        """Whether the session takes nothing more; when it is needed again it is loaded again, once
        ``gone`` returns."""
        return self._ending or self._worker.done()

    async def gone(self) -> None:
        """Wait until the session's task is over."""
        await asyncio.wait([self._worker])

    @property
    def at_rest(self) -> bool:
        """Whether nothing goes on and nothing waits: all that there is of it is kept."""
        remembering = self._remembering is not None and not self._remembering.done()
        waits = self.waiting.has_open or not self._ops.empty()
        return not (self.busy or self._at_work or waits or remembering)

    def touch(self) -> None:
        """Somebody needs the session now."""
        self.used_at = time.monotonic()

    def let_go(self) -> Kept:
        """End the session's task while it is at rest; what is to be given to it when it is loaded
        again. Who listens to its channel hears of it then."""
        self._ending = True
        self._ops.put_nowait(None)
        return Kept(self.seen, self.waiting.approved_tools)

    async def check(self, op: ops.Op) -> None:
        """Raises ``AgentError``: ``not_found`` for an op about a turn that the session has not,
        ``forbidden`` for one that sets what is locked."""
        if isinstance(op, ops.Undo | ops.Keep | ops.GoBack | ops.AskAgain | ops.ChooseAnswer):
            await undo.check(self, op)
        elif isinstance(op, ops.UploadRegistered):
            await datasets.check(self, op)
        elif isinstance(op, ops.ConfigUpdate):
            check_session(self.services.settings(), op.settings)

    def submit(self, op: ops.Op, audience: Audience = "page") -> str:
        """Put an op on the queue; its id."""
        op_id = new_id("op")
        if isinstance(op, ops.UserMessage):
            self._arrive(Message(op_id, op, audience))
        else:
            self._ending = self._ending or isinstance(op, ops.Shutdown)
            self._ops.put_nowait(Order(op_id, op))
        return op_id

    def _arrive(self, message: Message) -> None:
        self._arriving += 1
        self._ops.put_nowait(message)

    async def chat(
        self, op: ops.UserMessage, audience: Audience
    ) -> tuple[str, asyncio.Future[ChatReply]]:
        """Start a turn now, or after a compaction or another answer that is under way; its op id
        and the reply to come. Raises ``turn_in_progress``."""
        compacts = self.working and self.turn is None
        if self.busy and (not compacts or self._messages or self._arriving):
            raise AgentError(
                "turn_in_progress",
                "A turn is running in this session. Wait for its end, interrupt it, or send the "
                "message as an op, which is queued.",
            )
        result: asyncio.Future[ChatReply] = asyncio.get_running_loop().create_future()
        message = Message(new_id("op"), op, audience, result)
        self._arrive(message)
        return message.op_id, result

    async def started(self, op_id: str, result: asyncio.Future[ChatReply]) -> AgentError | None:
        """Wait until the message's turn runs; the error if it was refused before that."""
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

    # -- out -----------------------------------------------------------------------------------

    async def emit(
        self,
        event: events.BaseEvent | Sequence[events.BaseEvent] | None,
        *,
        turn_id: str | None = None,
        **belongings: Any,
    ) -> None:
        """Write events with what belongs to them (items, tool_calls, changes, usage), then tell
        them."""
        self.touch()

        async def write(written: Sequence[events.BaseEvent]) -> None:
            await self.services.store.append(self.id, turn_id, events=written, **belongings)

        await self.channel.emit(write, event, turn_id)

    # -- the task ------------------------------------------------------------------------------

    async def _work(self) -> None:
        while (entry := await self._ops.get()) is not None:
            self._at_work = True
            try:
                if isinstance(entry, Message):
                    await self._take_in(entry)
                elif isinstance(entry, TurnEnded):
                    if entry.failure is not None and entry.turn_id is not None:
                        self._ending = True
                        await self.services.store.abandon(entry.turn_id)
                        self.channel.tell_failure(entry.failure, entry.turn_id)
                        break
                    if entry.failure is not None:
                        await self._tell_refusal(entry.failure, entry.op_id)
                    await self._next()
                elif await self._handle(entry):
                    break
            except AgentError as error:
                await self._tell_refusal(error, entry.op_id)
            except Exception:
                # The edge of the session's task: one bad op must not end the session.
                log.exception("Session %s: an op failed", self.id)
            self._at_work = False
            self.touch()
        await self._stop_turn("shutdown")
        if self._remembering is not None:
            await self._remembering
        self._messages.refuse_all(UNLOADED)
        while not self._ops.empty():
            if isinstance(late := self._ops.get_nowait(), Message):
                late.refuse(UNLOADED)

    def put_back(self, waiting: Sequence[QueuedOp]) -> None:
        """These messages wait, as they did before the session was unloaded."""
        self._messages.put_back(waiting)

    def go_on(self) -> None:
        """Take the first message that waits, if there is one."""
        if self._messages:
            self._ops.put_nowait(TurnEnded())

    async def _tell_refusal(self, error: AgentError, op_id: str | None = None) -> None:
        event = events.ErrorEvent(code=error.code, message=error.message, op_id=op_id)
        try:
            await self.emit(event)
        except AgentError:
            log.exception("Session %s: an error could not be written", self.id)
            self.channel.tell_unsaved(event, None)

    async def _handle(self, order: Order) -> bool:
        """Carry out an op that is not a message; True when the session is to end."""
        op = order.op
        if isinstance(op, ops.Interrupt):
            self._interrupt("interrupted")
        elif isinstance(op, ops.Dequeue):
            await self._messages.remove(op.op_id)
        elif isinstance(op, ops.SendNow):
            self._messages.put_first(op.op_id)
            self._interrupt("replaced")
        elif isinstance(op, ops.PlanDecision | ops.Pause | ops.Resume):
            request = await steer(self.services, self.id, self.turn, op)
            if request is not None:
                await self._queue_or_start(
                    Message(order.op_id, ops.UserMessage(request=request), "page")
                )
        elif isinstance(op, ops.Compact):
            # One that is under way is not begun again; a turn ends first.
            self._compaction_asked = self._turn_task is None or self.turn is not None
            await self._next()
        elif isinstance(op, ops.AskAgain):
            self._beside((await to_ask(self, op)).run(), "The answer could not be kept.")
        elif isinstance(op, ops.Reset):
            await self._stop_turn("replaced")
            await reset(self)
        elif isinstance(op, ops.Shutdown):
            return True
        else:
            await carry_out(self, op)
        return False

    async def configured(self) -> None:
        """Tell the session's title and settings as they are now."""
        await self.emit(
            events.SessionConfigured(settings=self.record.settings, title=self.record.title)
        )
        self.waiting.changed()  # what waits is told by its title

    async def read_again(self) -> None:
        """Take over what the database has of the conversation."""
        store = self.services.store
        self.history = await read_history(store, self.id)
        self.created = await store.created_paths(self.id)
        # What the model saw of cells may have been withdrawn: it reads them again.
        self.seen = SeenCells()
        self.out_of_date = False

    # -- messages ------------------------------------------------------------------------------

    async def _take_in(self, message: Message) -> None:
        try:
            await self._queue_or_start(message)
        finally:
            self._arriving -= 1

    async def _queue_or_start(self, message: Message) -> None:
        if self.working:
            await self._messages.add(message)
        else:
            await self._start(message)

    async def _start(self, message: Message) -> None:
        """Begin a message's turn, or tell why it has none."""
        request = message.op.request
        if self._remembering is not None:
            await self._remembering
        try:
            about = await submission(self.services, request, self.record.settings, self.created)
            if not await self.channel.in_step() or self.out_of_date:
                await self.read_again()
            settings = for_turn(self.services.settings(), self.record.settings, request, about.mode)
            turn = await turn_of(self, about, settings, message)
        except AgentError as error:
            message.refuse(error)
            await self._tell_refusal(error, message.op_id)
            return
        self._run(turn, message)
        if message.op_id in self._starting:
            self._starting[message.op_id].set()
        # Beside the turn, which needs none of it.
        self._remembering = asyncio.create_task(self._remember(about))

    def _run(self, turn: Turn, message: Message) -> None:
        self.turn = turn
        self._turn_task = asyncio.create_task(turn.run())
        self._turn_task.add_done_callback(lambda task: self._ended(task, message))

    async def take_up(self, waiting: WaitingTurn) -> None:
        """Go on with a turn that waited for the person when its server ended.

        Raises ``AgentError`` when what it was about is not there any more.
        """
        self._run(*await turn_that_waited(self, waiting))

    async def _remember(self, about: Submission) -> None:
        """Title the session by its first message; remember its mode, model and notebook."""
        title, settings = to_remember(self.record, about)
        if title is None and settings is None:
            return
        try:
            self.record = await self.services.store.update_session(
                self.id, title=title, settings=settings
            )
            await self.configured()
        except AgentError as error:
            await self._tell_refusal(error)

    def _ended(self, task: asyncio.Task[ChatReply], message: Message) -> None:
        turn_id = self.turn.id if self.turn is not None and self.turn.started else None
        self._turn_task = None
        self.turn = None
        error = None if task.cancelled() else task.exception()
        failure: AgentError | None = None
        if error is not None or task.cancelled():
            log.error("Session %s: a turn could not be kept", self.id, exc_info=error)
            failure = (
                error
                if isinstance(error, AgentError)
                else AgentError("internal", "The turn failed. The server's log has the details.")
            )
            message.refuse(failure)
        elif message.result is not None and not message.result.done():
            message.result.set_result(task.result())
        self._ops.put_nowait(TurnEnded(turn_id, failure, message.op_id))

    def _compact(self) -> None:
        self._compaction_asked = False
        self._beside(compact_now(self), "The conversation could not be summarised.")

    def _beside(self, work: Coroutine[Any, Any, None], failure: str) -> None:
        """Do what was asked for that is no turn; ``failure`` is told where it fails inside."""
        self._turn_task = asyncio.create_task(work)
        self._turn_task.add_done_callback(lambda task: self._done_beside(task, failure))

    def _done_beside(self, task: asyncio.Task[None], failure: str) -> None:
        self._turn_task = None
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, AgentError):
            log.error("Session %s: %s", self.id, failure, exc_info=error)
            error = AgentError("internal", failure)
        self._ops.put_nowait(TurnEnded(None, error))

    async def _next(self) -> None:
        if self._turn_task is None and self._compaction_asked:
            self._compact()
        # One that is refused leaves its place to the next.
        while not self.working and (message := await self._messages.take()) is not None:
            await self._start(message)

    # -- stopping ------------------------------------------------------------------------------

    def _interrupt(self, reason: AbortReason) -> None:
        """Stop the running turn; a second interrupt while it stops changes nothing."""
        if self.turn is not None and self._turn_task is not None and not self.turn.stopping:
            self.turn.stopping = True
            self.turn.reason_to_stop = reason
            self._turn_task.cancel()
        elif self.turn is None and self._turn_task is not None:
            self._turn_task.cancel()

    async def _stop_turn(self, reason: AbortReason) -> None:
        task = self._turn_task
        if reason == "shutdown" and self.turn is not None and self.turn.waits:
            self.turn.leave()
        self._interrupt(reason)
        if task is not None:
            await asyncio.wait([task])
