"""The turn loop: run, step, query, execute (DESIGN 4)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..models.types import ModelError, ModelRequest
from ..notebook.edits import source_hash
from ..protocol import events
from ..protocol.base import new_id, now_ms
from ..protocol.errors import AgentError, ErrorBody, ErrorCode
from ..protocol.plans import PlanStep
from ..protocol.requests import ChatReply, ToolCallRecord
from ..protocol.requests import Turn as StoredTurn
from ..protocol.tools import Change
from ..tools.context import SeenCells, ToolContext
from ..tools.dispatch import Dispatcher
from . import context_block
from .asking import Asking
from .calls import FinishedCall, RepeatedFailures, aborted_call, run_group, schedule
from .checkpoints import recorded
from .fixes import fixes_of
from .history import Item, assistant_item, note_item, unanswered, user_item
from .model_call import Answer
from .outbox import Outbox
from .person import Person
from .references import references, warnings
from .settings import Settings
from .shared_before import answered_before
from .sharing import NotedSharing, SilentSharing, TurnSharing, as_now
from .targets import Submission
from .waiting import Audience
from .watch import StepWatch

if TYPE_CHECKING:
    from .session import LiveSession

log = logging.getLogger(__name__)

MAX_OFFERS = 3
"""Of how many failed cells repairs are told at the end of a turn."""

AbortReason = Literal["interrupted", "replaced", "token_limit", "tool_limit", "shutdown", "error"]


class TurnEnds(Exception):
    """The turn cannot go on: why, and what the person is told."""

    def __init__(self, reason: AbortReason, message: str, code: ErrorCode | None = None) -> None:
        super().__init__(message)
        self.reason: AbortReason = reason
        self.message = message
        self.code: ErrorCode | None = code


@dataclass(frozen=True)
class Restored:
    """A turn that waited for the person when its server ended; ``wait`` is the event that asks."""

    turn: StoredTurn
    wait: dict[str, Any]


class Turn:
    """One message and all that follows from it, until exactly one event ends it."""

    def __init__(
        self,
        session: LiveSession,
        about: Submission,
        settings: Settings,
        audience: Audience,
        op_id: str | None,
        restored: Restored | None = None,
    ) -> None:
        self.id = new_id("turn") if restored is None else restored.turn.id
        self.session = session
        self.about = about
        self.settings = settings
        self.audience: Audience = audience
        self.op_id = op_id
        self.services = session.services
        self._outbox = Outbox(self._emit)
        self.model = ""
        self.reason_to_stop: AbortReason = "interrupted"
        self.stopping = False
        self.leaving = False
        self.quiet = False
        self.started = False
        self.items: list[Item] = []
        self._context: Item | None = None
        self._index: int | None = None if restored is None else restored.turn.index
        # What it sends: ``items``, which are kept, and pictures, which are not.
        self._asking = Asking(session, self.id, about, settings, self._outbox, self._keep)
        self._window = self._asking.window
        self._calls_made = 0
        self._records: dict[str, ToolCallRecord] = {}
        self._changes: list[Change] = []
        self._reply = ""
        self._began = time.monotonic()
        self._failures = RepeatedFailures()
        self.watch = StepWatch()
        self.person = Person(session.waiting, audience, self.emit)
        self.sharing = TurnSharing(self._settings_now, self.person)
        self._notebooks = recorded(self.services.notebooks, self.services.store, self.id)
        self._dispatcher = self._make_dispatcher(session.seen)
        self._restored = restored
        if restored is not None:
            self._restore(restored)

    def _settings_now(self) -> Settings:
        session = self.session
        return as_now(self.settings, session.services.settings(), session.record.settings)

    def _restore(self, restored: Restored) -> None:
        turn = restored.turn
        self.started = True
        self.items = list(turn.items)
        self._window.sent.add(turn.items)
        self._records = {record.call_id: record for record in turn.tool_calls}
        self._calls_made = len(turn.tool_calls)
        self._changes = list(turn.changes)
        self._asking.usage = turn.usage
        self._began -= (now_ms() - turn.started_at) / 1000
        self.person.asked_before(restored.wait)

    # -- run -----------------------------------------------------------------------------------

    async def run(self) -> ChatReply:
        """The whole turn. Cancelling the task stops it; whatever happens, it ends with an event."""
        try:
            await self._start()
            await self._work()
            await self._offer_fixes()
        except asyncio.CancelledError:
            if self.leaving:
                return self._reply_as("aborted", None)
            await self._keep_partial_text()
            return await self._end("aborted", self.reason_to_stop)
        except TurnEnds as end:
            return await self._end_early(end)
        except ModelError as error:
            return await self._end_early(TurnEnds("error", error.message, error_code(error)))
        except AgentError as error:
            if not self.started:
                raise
            reason: AbortReason = "token_limit" if error.code == "token_limit" else "error"
            return await self._end_early(TurnEnds(reason, error.message, error.code))
        except Exception:
            log.exception("Turn %s failed", self.id)
            message = "The agent failed inside. The server's log has the details."
            return await self._end_early(TurnEnds("error", message, "internal"))
        return await self._complete()

    async def _work(self) -> None:
        """All of the turn between its start and its end."""
        await self._answer_open_calls()
        while not await self._step():
            pass

    async def _step(self) -> bool:
        """Ask the model and carry out what it asks for; True when it asks for nothing more."""
        answer = await self._query()
        if answer.text:
            self._reply = answer.text
        calls = answer.calls
        if not calls:
            if not answer.text:
                raise TurnEnds(
                    "error",
                    "The model answered with nothing. Send the message again, or choose another "
                    "model.",
                    "model_error",
                )
            return True
        await self._execute(calls)
        return False

    async def _answer_open_calls(self) -> None:
        """Carry out the calls that waited for the person when the server ended."""
        if self._restored is None or not (calls := unanswered(self.items)):
            return
        answered = await answered_before(self._restored.wait, calls, self.person, self._records)
        if answered is not None:
            await self._answered(answered)
            calls = unanswered(self.items)
        await self._execute(calls, counted=True)

    async def _start(self) -> None:
        if self._restored is not None:
            await self._prepare()
            self._keep_context()
            self._see_what_was_asked(self._restored.wait)
            return
        gate = self.about.gate
        self._keep([user_item(self.about.text)])
        self.model = self.settings.model or ""
        started = events.TurnStarted(
            mode=self.about.mode,
            notebook_mode=gate.notebook_mode,
            tools=[tool.name for tool in gate.allowed(self.services.registry)],
            message=self.about.request.message,
            model=self.model or None,
            target=gate.target,
            op_id=self.op_id,
            workflow=self.about.request.workflow,
        )
        telling = asyncio.create_task(
            self.session.channel.emit(self._write_start, started, self.id)
        )
        try:
            await asyncio.sleep(0)  # it takes its place before whatever is told below
            for warning in warnings(references(self.services, self.about), self.about):
                await self.emit(warning)
            await self._prepare()
        finally:
            await telling
        self._keep_context()

    async def _prepare(self) -> None:
        """Find the model, and gather what it is sent before the message."""
        self.model = self.services.resolve_model(self.settings)
        sharing = NotedSharing(self.sharing)
        context = await context_block.gather(self.services, self.about, self.session.seen, sharing)
        self._context = sharing.noted(user_item(context.text))
        self._window.begin(self.model, [self._context])

    def _keep_context(self) -> None:
        """Another model can be asked with the same; written with what is told next."""
        if self._context is not None:
            self._outbox.add(None, context=self._context)

    def _see_what_was_asked(self, wait: dict[str, Any]) -> None:
        """What the person decides on is based on the cells as they were shown then: if one was
        changed since, the change is refused."""
        for each in wait.get("changes") or []:
            if each.get("before") is not None and each.get("cellId") is not None:
                self.session.seen.note_hash(
                    each["path"], each["cellId"], source_hash(each["before"])
                )

    async def _write_start(self, written: Sequence[events.BaseEvent]) -> None:
        self._index = await self.services.store.start_turn(
            session_id=self.session.id,
            turn_id=self.id,
            mode=self.about.mode,
            notebook_mode=self.about.gate.notebook_mode,
            location=self.about.location,
            model=self.model or None,
            request=self.about.as_decided(),
            op_id=self.op_id,
            events=written,
            items=self.items,
        )
        self.started = True

    # -- query ---------------------------------------------------------------------------------

    async def _query(self) -> Answer:
        return await self._asking.ask(self._request, quiet=self.quiet)

    def _keep(self, items: Sequence[Item]) -> None:
        self.items.extend(items)
        self._window.sent.add(items)

    def _request(self) -> ModelRequest:
        return self._window.request()

    # -- execute -------------------------------------------------------------------------------

    async def _execute(self, calls: Sequence[Item], *, counted: bool = False) -> None:
        self._asking.check_limit()
        if counted:
            self._calls_made -= len(calls)
        allowed = self.settings.max_tool_calls - self._calls_made
        self._calls_made += len(calls)
        stuck: FinishedCall | None = None
        for group in schedule(self.services.registry, calls[:allowed]):
            for call, done in zip(group, await run_group(self._dispatcher, group), strict=True):
                await self._answered(done)
                if self._failures.note(call, done.done):
                    stuck = done
        if len(calls) > allowed:
            await self._abort_open_calls()
            raise TurnEnds(
                "tool_limit",
                f"Stopped after {self.settings.max_tool_calls} tool calls, the limit of one turn. "
                "What was done stays. Send “continue” to go on.",
            )
        if stuck is not None:
            raise TurnEnds(
                "tool_limit",
                f"Stopped: {stuck.event.name} failed {RepeatedFailures.LIMIT} times in the same "
                f"way: {stuck.done.summary_for_model}. What was done before stays.",
            )

    async def _answered(self, done: FinishedCall) -> None:
        self._keep([done.item])
        self._records[done.record.call_id] = done.record
        self.watch.note(done, self.about.gate.target)
        await self.emit(done.event, items=[done.item], tool_calls=[done.record])
        if done.done.images and self.services.sees(self.model):
            self._window.sent.add([done.pictures])

    async def _offer_fixes(self) -> None:
        """Tell the person of repairs, where a cell that this turn ran still shows its error."""
        for failure in self.watch.failed_runs[:MAX_OFFERS]:
            assert failure.path is not None
            assert failure.cell_id is not None
            services, path, cell_id = self.services, failure.path, failure.cell_id
            fixes = await fixes_of(
                services.notebooks, services.find_fixes, path, cell_id, self.about.request.client_id
            )
            if fixes:
                await self.emit(events.FixesOffered(path=path, cell_id=cell_id, fixes=fixes))

    def _make_dispatcher(self, seen: SeenCells | None) -> Dispatcher:
        """Calls tools for this turn: the model's, based on what it has ``seen``, or our own."""
        about = self.about
        person = self.person
        context = ToolContext(
            gate=about.gate,
            notebooks=self._notebooks,
            kernel_timeout_seconds=self.settings.kernel_timeout_seconds,
            client_id=about.request.client_id,
            session_id=self.session.id,
            turn_id=self.id,
            seen=seen,
            active_document=about.active_document,
            past=self.services.store.past,
            datasets=self.services.datasets,
            ask=person.ask,
            update_plan=self._update_plan,
            on_status=self.say,
            on_changes=self._changed,
            on_stale=self._stale,
            sharing=SilentSharing(self._settings_now) if seen is None else self.sharing,
        )
        return Dispatcher(
            self.services.registry,
            context,
            policy=self.settings.approval_policy,
            approve=person.approve,
        )

    async def _changed(self, path: str, changes: list[Change]) -> None:
        """A document was changed: kept and told at once, whatever follows in the call."""
        self._changes.extend(changes)
        await self.emit(events.DocumentChanged(path=path, changes=changes), changes=changes)
        await self.services.pages.touched(path, self.session.id)

    async def _stale(self, path: str, cell_ids: list[str]) -> None:
        await self.emit(events.CellsStale(path=path, cell_ids=cell_ids))

    async def _update_plan(self, steps: list[PlanStep], explanation: str | None) -> None:
        await self.emit(events.PlanUpdated(steps=steps, explanation=explanation))

    @property
    def waits(self) -> bool:
        """Whether the turn waits for the person and does nothing else."""
        return self.session.waiting.has_open

    def leave(self) -> None:
        """The server ends while the turn waits: it is left as it stands, to be taken up again."""
        self.leaving = self.person.leaving = True

    # -- the end -------------------------------------------------------------------------------

    async def _keep_partial_text(self) -> None:
        """The person saw the text that was cut off, so it stays, and the next turn knows it."""
        text = self._asking.partial_text
        if text:
            self._reply = text
            item = assistant_item(text)
            self._keep([item])
            await self.emit(None, items=[item])

    async def _abort_open_calls(self) -> None:
        """Every call gets an answer, so that the next request is valid."""
        for call in unanswered(self.items):
            item, event, record = aborted_call(call, call["name"])
            self._keep([item])
            self._records[record.call_id] = record
            await self.emit(event, items=[item], tool_calls=[record])

    async def _complete(self) -> ChatReply:
        await self.emit(events.FinalReply(text=self._reply))
        return await self._end("completed", None)

    async def _end_early(self, end: TurnEnds) -> ChatReply:
        error = None
        if end.code is not None:
            await self._keep_partial_text()
            error = ErrorBody(code=end.code, message=end.message)
            await self.emit(
                events.ErrorEvent(
                    code=end.code,
                    message=end.message,
                    retryable=end.code != "no_model",
                    item_id=self._asking.broken_item_id,
                )
            )
        else:
            self._reply = end.message
            await self.emit(events.FinalReply(text=end.message))
        failed = end.reason in ("error", "token_limit")
        return await self._end("failed" if failed else "aborted", end.reason, error)

    async def _end(
        self,
        status: Literal["completed", "failed", "aborted"],
        reason: AbortReason | None,
        error: ErrorBody | None = None,
    ) -> ChatReply:
        await self._abort_open_calls()
        await self._outbox.flush()
        duration = (time.monotonic() - self._began) * 1000
        first_text = self._asking.first_text_at
        first = None if first_text is None else (first_text - self._began) * 1000
        if reason is not None:
            self.items.append(note_item(reason))
        self.session.history.add(self.items, self._index)
        ended: events.BaseEvent = (
            events.TurnCompleted(
                duration_ms=duration, time_to_first_token_ms=first, usage=self._asking.usage
            )
            if reason is None
            else events.TurnAborted(reason=reason, duration_ms=duration)
        )

        async def write(written: Sequence[events.BaseEvent]) -> None:
            await self.services.store.finish_turn(
                self.id,
                status=status,
                reply=self._reply,
                error=error,
                usage=self._asking.usage,
                ttft_ms=first,
                duration_ms=duration,
                events=written,
            )

        await self.session.channel.emit(write, ended, self.id)
        return self._reply_as(status, error)

    def _reply_as(
        self, status: Literal["completed", "failed", "aborted"], error: ErrorBody | None
    ) -> ChatReply:
        return ChatReply(
            session_id=self.session.id,
            turn_id=self.id,
            status=status,
            mode=self.about.mode,
            notebook_mode=self.about.gate.notebook_mode,
            reply=self._reply,
            tool_calls=list(self._records.values()),
            changes=self._changes,
            usage=self._asking.usage,
            error=error,
        )

    async def say(self, message: str) -> None:
        """Tell in words what is being done now."""
        await self.emit(events.Status(message=message))

    async def emit(self, event: events.BaseEvent | None, **belongings: Any) -> None:
        """Write the event with what belongs to it, then tell it to all who listen."""
        self._outbox.add(event, **belongings)
        await self._outbox.flush()

    async def _emit(self, written: Sequence[events.BaseEvent], **belongings: Any) -> None:
        await self.session.emit(written, turn_id=self.id, **belongings)


def error_code(error: ModelError) -> ErrorCode:
    """The wire's code for a model's failure."""
    return "no_model" if error.code in ("no_model", "litellm_unusable") else "model_error"
