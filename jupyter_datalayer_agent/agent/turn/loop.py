"""The turn loop: run, step, query, execute."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...models.types import ModelError
from ...protocol import events
from ...protocol.base import Audience, new_id
from ...protocol.errors import AgentError, ErrorBody
from ...protocol.plans import PlanStep, StepStatus
from ...protocol.renames import Rename
from ...protocol.requests import ChatReply
from ...protocol.tools import Change, NotDone, TurnFacts
from ...protocol.workflows import FixInfo
from ...settings.turn_settings import Settings
from ...store.records import TurnContext
from ...tools.builtin.actions import action_tools
from ...tools.context import SeenCells, ToolFailure
from ...tools.dispatcher import Dispatcher
from ...tools.redaction import BY_SETTING
from ...tools.registry import ToolRegistry
from ..actions.proposals import OfferedActions, proposal_text
from ..approvals import ApprovalBroker
from ..changes.checkpoints import recorded
from ..context.gather import ContextStatement, references, warnings
from ..data_sharing import TurnSharing, UnaskedSharing, as_now
from ..event_buffer import EventBuffer
from ..fixes import MAX_OFFERS, fixes_of
from ..history import Item, assistant_item, note_item, unanswered, user_item
from ..model_calls.call import ModelAnswer
from ..model_calls.caller import ContextWindow, ModelCaller, TurnUsage
from ..open_proposal import OpenProposal
from ..request import TurnRequest
from ..state import SessionState, Stop
from ..tool_calls.scheduler import (
    FinishedCall,
    HeldBack,
    RepeatedFailures,
    aborted_call,
    answer_of,
    change_only,
    run_group,
    schedule,
)
from ..tool_calls.verification import Failure, StepWatch
from ..tool_output import ReportedResults
from .ends import AbortReason, TurnEnds, end_of, is_empty, why_empty
from .record import Restored, TurnRecord, TurnStatus, answered_before

# The plan that the model shows with ``updatePlan``, corrected by the results of the turn.


class ShownPlan:
    """The steps that the model gave last, and whether the step in progress has any result."""

    def __init__(self) -> None:
        self.steps: list[PlanStep] = []
        self._has_result = False

    def update(self, steps: Sequence[PlanStep], failed: str | None) -> None:
        """Take the model's steps. If ``failed``, a call of the same answer, failed, that answer
        completes no step. Raises ``ToolFailure``."""
        done = _with(self.steps, "completed")
        completed = [each for each in _with(steps, "completed") if each not in done]
        if failed is not None and completed:
            raise ToolFailure(
                "held_back",
                f"The plan was not changed: a call before it in this answer failed "
                f"({failed.rstrip('.')}), so “{completed[0]}” is not completed by it.",
                "Repair that first. A step is completed when its results say ok.",
            )
        if _with(steps, "in_progress") != _with(self.steps, "in_progress"):
            self._has_result = False
        self.steps = list(steps)

    def note(self, done: FinishedCall, registry: ToolRegistry) -> None:
        """Take a call with its answer."""
        tool = registry.behind(done.record.name)
        self._has_result |= done.done.result.ok and tool is not None and tool.changes

    def closed(self, not_done: NotDone | None) -> list[PlanStep] | None:
        """The steps at the end of a completed turn, None if they do not change.

        A step in progress failed if anything in the turn did, is completed if it changed or ran
        something, and is otherwise skipped, as are all steps that were not begun.
        """
        status: StepStatus = "completed" if self._has_result else "skipped"
        if not_done is not None:
            status = "failed"
        ends: dict[StepStatus, StepStatus] = {"in_progress": status, "pending": "skipped"}
        closed = [
            each.model_copy(update={"status": ends.get(each.status, each.status)})
            for each in self.steps
        ]
        return closed if closed != self.steps else None


def _with(steps: Sequence[PlanStep], status: StepStatus) -> list[str]:
    return [each.description for each in steps if each.status == status]


log = logging.getLogger(__name__)

WRITTEN_AT_ONCE = 100
"""Calls that are answered without being run and stored in one transaction."""


class Turn:
    """One message and all that follows from it, until exactly one event ends it."""

    def __init__(
        self,
        session: SessionState,
        request: TurnRequest,
        settings: Settings,
        audience: Audience,
        op_id: str | None,
        restored: Restored | None = None,
    ) -> None:
        self.id = new_id("turn") if restored is None else restored.turn.id
        self.session = session
        self.request = request
        self.settings = settings
        self.audience: Audience = audience
        self.runtime = session.runtime
        request.gate.has_user = self._has_user
        self.model = ""
        self.record = TurnRecord(session, self.id, request, op_id, restored)
        self._buffer = EventBuffer(self.record.append)
        self._stop = Stop()
        self._reason_to_stop: AbortReason = "interrupted"
        self.leaving = False
        self.quiet = False
        self._usage = TurnUsage(session, self._buffer)
        self._statement = ContextStatement(session, self._buffer, self._settings_now)
        self._window = ContextWindow(
            session, self.id, request, settings, self._statement, self._buffer, self._usage
        )
        self.items = self._window.sent.all
        self._caller = ModelCaller(session, settings, self._window, self._buffer, self._usage)
        self._calls_made = 0
        self.offered = OfferedActions(session, request, self.emit)
        request.tools = self._with_actions(request.tools)
        self._failures = RepeatedFailures()
        self._held_back = self._nothing_failed()
        self._plan = ShownPlan()
        self._reported = ReportedResults(lambda: request.gate.target)
        self.watch = StepWatch()
        self.approvals = ApprovalBroker(session.waiting, audience, self.emit)
        self.sharing = TurnSharing(self._settings_now, self.approvals)
        self._notebooks = recorded(self.runtime.notebooks, self.runtime.store, self.id)
        self._dispatcher = self._make_dispatcher(session.seen)
        self._restored = restored
        if restored is not None:
            self._restore(restored)

    @property
    def context(self) -> TurnContext | None:
        """What the turn stated before its message."""
        return self._statement.context

    @property
    def _has_user(self) -> bool:
        """Whether someone can answer a question. The panel answers for a magic, but a notebook
        without a page (nbconvert, a script) has none."""
        if self.request.location == "magic" and self.audience != "page":
            return any(page.connected for page in self.runtime.pages)
        return self.audience != "none" and self.request.chat.can_answer

    @property
    def started(self) -> bool:
        """Whether it is in the database."""
        return self.record.index is not None

    def _settings_now(self) -> Settings:
        session = self.session
        return as_now(self.settings, session.runtime.settings(), session.record.settings)

    def _restore(self, restored: Restored) -> None:
        self._keep(restored.sent.items)
        self._statement.context = restored.sent.context
        self._calls_made = len(restored.turn.tool_calls)
        self._usage.total = restored.turn.usage
        self.approvals.restore(restored.wait)

    def renamed(self, rename: Rename) -> bool:
        """Use the new path of a renamed document."""
        gate = self.request.gate
        is_concerned = any(map(rename.affects, [*gate.documents, *self.watch.paths]))
        self.request.renamed(rename)
        self.watch.renamed(rename)
        self.record.renamed(rename)
        return is_concerned

    # -- run -----------------------------------------------------------------------------------

    def stop(self, reason: AbortReason) -> None:
        """Stop the turn, now or as soon as it begins. A turn that is ending is not affected."""
        if not self._stop.requested:
            self._reason_to_stop = reason
            self._stop.request()

    async def run(self) -> ChatReply:
        """Run the turn until it ends or ``stop`` is called. It always ends with one event."""
        writing = self._begin()
        try:
            try:
                await self._stop.work(self._carry_on(writing))
            finally:
                await writing
        except asyncio.CancelledError:
            if self.leaving:
                return self._reply_as("aborted", None)
            await self._save_partial_text()
            return await self._end("aborted", self._reason_to_stop)
        except (TurnEnds, ModelError, AgentError) as error:
            if isinstance(error, AgentError) and not self.started:
                raise
            return await self._end_early(end_of(error))
        except Exception:
            log.exception("Turn %s failed", self.id)
            message = "The agent failed with an internal error. See the server log."
            return await self._end_early(TurnEnds("error", message, "internal"))
        return await self._complete()

    async def _carry_on(self, writing: asyncio.Task[None]) -> None:
        """The part that a stop cancels."""
        await self._start(writing)
        await self._work()
        await self._offer_fixes()

    async def _work(self) -> None:
        """All of the turn between its start and its end."""
        await self._answer_open_calls()
        while not await self._step():
            pass

    async def _step(self) -> bool:
        """Call the model and run its tool calls; True when it makes no more calls."""
        self._stop.check()
        answer = await self._query()
        self.record.note_answer(answer)
        calls = answer.calls
        if not calls:
            if is_empty(answer.text):
                raise TurnEnds("error", why_empty(answer), "model_error")
            return True
        await self._execute(calls)
        if (opened := self.offered.shown) is None:
            return False
        # The user goes on: by its form, or by the next message.
        text = proposal_text(opened.proposal)
        self._keep([assistant_item(text)])
        self.record.reply = f"{answer.text}\n\n{text}".strip()
        return True

    async def _answer_open_calls(self) -> None:
        """Run the calls that waited for the user when the server ended."""
        if self._restored is None or not (calls := unanswered(self.items)):
            return
        answered = await answered_before(
            self._restored.wait, calls, self.approvals, self.record.calls
        )
        if answered is not None:
            await self._answered(answered)
            calls = unanswered(self.items)
        await self._execute(calls, counted=True)

    def _begin(self) -> asyncio.Task[None]:
        """Begin to store the start of the turn with its message; a restored turn is stored."""
        if self._restored is not None:
            return asyncio.create_task(asyncio.sleep(0))
        self._keep([user_item(self.request.text)])
        self.model = self.settings.model or ""
        started = self.record.started(self.model)
        return asyncio.create_task(self.record.write_start(started, lambda: self.model, self.items))

    async def _start(self, writing: asyncio.Task[None]) -> None:
        """Gather the context while the start is being stored."""
        if self._restored is not None:
            await self._prepare()
            await self._statement.resume(self.record.number, self.sharing, self._restored.wait)
            return
        try:
            for warning in self._warnings():
                await asyncio.shield(writing)
                self.record.warnings.append(warning.message)
                await self.emit(warning)
            await self._prepare()
        finally:
            await asyncio.wait([writing])
        writing.result()
        await self._statement.state(self.record.number, self.sharing)

    def _warnings(self) -> list[events.Warning_]:
        """What the user should know before the model is asked."""
        found = warnings(references(self.request), self.request)
        instructions = self.runtime.instructions
        if instructions is not None and self.request.instructions is None:
            not_sent = instructions.warning()
            if not_sent is not None and not_sent.message not in self.session.said:
                self.session.said.add(not_sent.message)
                found.append(not_sent)
        return found

    async def _prepare(self) -> None:
        """Find the model, and gather the context."""
        self.model = self._window.model = self.runtime.resolve_model(self.settings)
        await self._statement.gather(self.request)
        turn_tools = self.runtime.turn_tools
        if turn_tools is None or not self.request.gate.may_change:
            return
        if await turn_tools.start_unknown(self.emit_status):
            tools = self._with_actions(turn_tools.now())
            self.request.tools = self._dispatcher.registry = tools

    def refine(self, proposal: OpenProposal) -> None:
        """The message may be a reply to this proposal."""
        self.offered.refines = proposal
        self.request.tools = self._dispatcher.registry = self._with_actions(self.request.tools)

    def _with_actions(self, tools: ToolRegistry) -> ToolRegistry:
        """The tools, with those for the actions of services where a page can show their forms, or a
        form is open."""
        request, chat = self.request, self.request.chat
        is_offered = self.offered.refines is not None or (
            self.settings.intent_detection == "auto" and request.location in ("panel", "inline")
        )
        is_decided = request.planned or chat.compare or chat.intent or chat.action
        if is_decided or not is_offered:
            return tools
        tools = tools.copy()
        for each in action_tools(self.runtime.service_registry().areas):
            # One that another package declared under this name stays.
            if tools.find(each.name) is None:
                tools.add(each)
        return tools

    # -- query ---------------------------------------------------------------------------------

    async def _query(self) -> ModelAnswer:
        sent = self._window.sent
        drops = sent.drops
        answer = await self._caller.ask(quiet=self.quiet)
        if sent.drops != drops:
            self._reported.forget()
        return answer

    def _keep(self, items: Sequence[Item]) -> None:
        self._window.sent.add(items)

    # -- execute -------------------------------------------------------------------------------

    async def _execute(self, calls: Sequence[Item], *, counted: bool = False) -> None:
        self._caller.check_limit()
        if counted:
            self._calls_made -= len(calls)
        allowed = self.settings.max_tool_calls - self._calls_made
        self._calls_made += len(calls)
        stuck: FinishedCall | None = None
        self._held_back = self._nothing_failed()
        for group in schedule(self.request.tools, calls[:allowed]):
            for done in await self._run(group):
                await self._answered(done)
                if self._failures.note(done):
                    stuck = done
        if len(calls) > allowed:
            await self._abort_open_calls()
            raise TurnEnds(
                "tool_limit",
                f"Stopped after {self.settings.max_tool_calls} tool calls, the limit of one turn. "
                "What was done is kept. Send “continue” to resume.",
            )
        if stuck is not None:
            raise TurnEnds(
                "tool_limit",
                f"Stopped: {stuck.event.name} failed {RepeatedFailures.LIMIT} times in the same "
                f"way: {stuck.done.summary_for_model}. Earlier changes are kept.",
            )

    async def _run(self, group: Sequence[Item]) -> list[FinishedCall]:
        """Run a group of calls, except those that an earlier failure in the answer holds back."""
        call = group[0]
        if self._held_back.why is not None and call["call_id"] not in self._caller.failures:
            if (held := self._held_back.whole(call)) is not None:
                return [answer_of(call, held)]
            if (run := self._held_back.run_of(call)) is not None:
                return [await change_only(self._dispatcher, call, run)]
        return await run_group(self._dispatcher, group, self._caller.failures, self._reported)

    def _nothing_failed(self) -> HeldBack:
        notebooks = self.runtime.notebooks
        return HeldBack(self.request.tools, self.request.gate, notebooks.root_dir)

    async def _answered(self, done: FinishedCall) -> None:
        self._held_back.note(done)
        self._plan.note(done, self.request.tools)
        items = [done.item]
        try:
            if done.done.images and self.runtime.supports_vision(self.model):
                items.append(await done.pictures(self._window.items))
        finally:
            # If the turn is stopped meanwhile, only the pictures are missing.
            self._keep(items)
            self.record.add_call(done)
            self.watch.note(done, self.request.gate.document)
            await self.emit(done.event, items=items, tool_calls=[done.record])

    async def _offer_fixes(self) -> None:
        """Offer the user fixes if a cell that this turn ran still shows its error."""
        for failure in [*self.watch.unbegun.values(), *self.watch.failed_runs][:MAX_OFFERS]:
            await self.offer_fixes(failure, await self.fixes_of(failure))

    async def fixes_of(self, failure: Failure) -> list[FixInfo]:
        """The fixes for a failure that need no model."""
        return await fixes_of(self.runtime, failure, self.request.chat.client_id)

    async def offer_fixes(self, failure: Failure, fixes: list[FixInfo]) -> None:
        """Offer the user fixes for a cell that failed."""
        if fixes and failure.path is not None and failure.cell_id is not None:
            await self.emit(
                events.FixesOffered(path=failure.path, cell_id=failure.cell_id, fixes=fixes)
            )

    def _make_dispatcher(self, seen: SeenCells | None) -> Dispatcher:
        """A dispatcher for this turn: for the model's calls, based on what it has ``seen``, or for
        the agent's own."""
        request = self.request
        context = replace(
            self.runtime.tool_context(request.gate, self.settings),
            notebooks=self._notebooks,
            client_id=request.chat.client_id,
            session_id=self.session.id,
            turn_id=self.id,
            seen=seen,
            active_document=request.active_document,
            ask=self.approvals.ask,
            ask_form=self.approvals.ask_form,
            update_plan=self._update_plan,
            find_actions=self.offered.find,
            propose_action=self.offered.propose,
            on_status=self.emit_status,
            on_changes=self._changed,
            on_stale=self._stale,
            sharing=(
                UnaskedSharing(self._settings_now, ask=BY_SETTING) if seen is None else self.sharing
            ),
        )
        return Dispatcher(
            request.tools,
            context,
            policy=self.settings.approval_policy,
            approve=self.approvals.approve,
        )

    async def _changed(self, path: str, changes: list[Change], call_id: str | None) -> None:
        """Store and emit the change of a document at once, whatever follows in the call."""
        self.record.changes.extend(changes)
        event = events.DocumentChanged(path=path, changes=changes, call_id=call_id)
        await self.emit(event, changes=changes)
        await self.runtime.pages.touched(path, self.session.id)

    async def _stale(self, path: str, cell_ids: list[str]) -> None:
        await self.emit(events.CellsStale(path=path, cell_ids=cell_ids))

    async def _update_plan(
        self, steps: Sequence[PlanStep], explanation: str | None
    ) -> Sequence[PlanStep]:
        self._plan.update(steps, self._held_back.why)
        await self.emit(events.PlanUpdated(steps=list(steps), explanation=explanation))
        return steps

    @property
    def waits(self) -> bool:
        """Whether the turn waits for the user and does nothing else."""
        return self.session.waiting.has_open

    def leave(self) -> None:
        """The server is ending while the turn waits: leave it to be resumed."""
        self.leaving = self.approvals.leaving = True

    # -- the end -------------------------------------------------------------------------------

    async def _save_partial_text(self) -> None:
        """Keep the text that was cut off in the history, since the user saw it."""
        if text := self._caller.partial_text:
            self.record.reply = text
            item = assistant_item(text)
            self._keep([item])
            await self.emit(None, items=[item])

    async def _abort_open_calls(self) -> None:
        """Answer every open call, so that the next request is valid. Many are stored together: an
        answer may have thousands."""
        calls = unanswered(self.items)
        for start in range(0, len(calls), WRITTEN_AT_ONCE):
            for call in calls[start : start + WRITTEN_AT_ONCE]:
                item, event, record = aborted_call(call, call["name"])
                self._keep([item])
                self.record.calls[record.call_id] = record
                self._buffer.add(event, items=[item], tool_calls=[record])
            self.session.touch()
            await self._buffer.flush()

    async def _complete(self) -> ChatReply:
        self.record.not_done = self._find_not_done()
        self.record.facts = self._find_facts()
        if (closed := self._plan.closed(self.record.not_done)) is not None:
            await self.emit(events.PlanUpdated(steps=closed))
        record = self.record
        await self.emit(
            events.FinalReply(
                text=record.reply,
                not_done=record.not_done,
                facts=record.facts,
                incomplete=record.incomplete,
            )
        )
        return await self._end("completed", None)

    def _find_not_done(self) -> NotDone | None:
        return self.record.find_not_done(self.items)

    def _find_facts(self) -> TurnFacts | None:
        return self.record.find_facts()

    async def _end_early(self, end: TurnEnds) -> ChatReply:
        error = None
        if end.code is not None:
            await self._save_partial_text()
            error = ErrorBody(code=end.code, message=end.message)
            await self.emit(
                events.ErrorEvent(
                    code=end.code,
                    message=end.message,
                    retryable=end.code != "no_model",
                    item_id=self._caller.broken_item_id,
                )
            )
        else:
            self.record.reply = end.message
            await self.emit(events.FinalReply(text=end.message))
        return await self._end(end.status, end.reason, error)

    async def _end(
        self, status: TurnStatus, reason: AbortReason | None, error: ErrorBody | None = None
    ) -> ChatReply:
        await self._abort_open_calls()
        await self._buffer.flush()
        if reason is not None:
            self.items.append(note_item(reason))
        self.session.history.add(self.items, self.record.index, self.context)
        await self.record.write_end(
            status, reason, error, self._usage.total, self._caller.first_text_at
        )
        return self._reply_as(status, error)

    def _reply_as(self, status: TurnStatus, error: ErrorBody | None) -> ChatReply:
        return self.record.as_reply(status, error, self._usage.total)

    async def emit_status(self, message: str) -> None:
        """Report what the turn is doing."""
        await self.emit(events.Status(message=message))

    async def emit(self, event: events.BaseEvent | None, **belongings: Any) -> None:
        """Store the event with what belongs to it, and send it to the listeners."""
        self.session.touch()
        self._buffer.add(event, **belongings)
        await self._buffer.flush()
