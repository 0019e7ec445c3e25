"""What a turn did, for the database and for its reply."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ...protocol import events
from ...protocol.errors import ErrorBody
from ...protocol.renames import Rename
from ...protocol.requests import ChatReply, Incomplete, ToolCallRecord, Turn, Usage
from ...protocol.tools import Change, NotDone, ShareRequest, ToolError, ToolResult, TurnFacts
from ...protocol.workflows import WorkflowOffer
from ...store.records import TurnHistory
from ...tools.redaction import BY_SETTING, BY_USER, CallRef
from ...tools.registry import Tool, ToolRegistry
from ...tools.result import Dispatched
from ..approvals import ApprovalBroker
from ..data_sharing import note_of, share_request
from ..history import Item, output_item
from ..model_calls.call import ModelAnswer
from ..request import TurnRequest
from ..state import SessionState
from ..tool_calls.scheduler import FinishedCall, finished
from ..tool_calls.verification import RUN_FAILURES, WELL, runs_of
from .ends import AbortReason

# What a turn did, counted from the results of its calls; the model's text is not read for it.


NOTHING = "Nothing was changed or run in this turn."


def facts_of(records: Iterable[ToolCallRecord], registry: ToolRegistry) -> TurnFacts:
    """The facts of a turn, from its calls in their order."""
    changed: set[tuple[str, str | None]] = set()
    ran: set[str] = set()
    failed: set[str] = set()
    codes = others = 0
    for record in records:
        tool = registry.behind(record.name)
        if tool is None or not tool.changes or record.status == "denied":
            continue
        result = record.output if isinstance(record.output, dict) else {}
        output, changes = result.get("output"), result.get("changes") or []
        runs = [run for run in runs_of(output) if run["status"] != "skipped"]
        for change in changes:
            changed.add((change["path"], change.get("cellId")))
            if change["op"] == "delete":
                failed.discard(str(change.get("cellId")))
        for run in runs:
            cell_id = str(run["cellId"])
            ran.add(cell_id)
            (failed.discard if run["status"] in WELL else failed.add)(cell_id)
        if changes or runs or not _may_have_acted(record, output, result):
            continue
        codes += tool.runs
        others += not tool.runs
        if tool.runs:
            # Code without a cell: the next run of the tool counts.
            (failed.discard if record.status == "ok" else failed.add)(tool.name)
    count = len(ran) + codes
    return TurnFacts(
        changed=len(changed),
        runs=count,
        errors=len(failed),
        other_calls=others,
        message=_message(len(changed), count, len(failed), others),
    )


def _may_have_acted(record: ToolCallRecord, output: Any, result: dict[str, Any]) -> bool:
    """Whether a call without a cell did something, or may have."""
    if record.status == "error":
        return (result.get("error") or {}).get("code") in RUN_FAILURES
    return not (isinstance(output, dict) and output.get("unchanged") is True)


def _message(changed: int, runs: int, errors: int, others: int) -> str:
    parts = [
        f"{count} {noun}{'' if count == 1 else 's'}{verb}"
        for count, noun, verb in (
            (changed, "change", ""),
            (runs, "run", ""),
            (others, "other action", ""),
            (errors, "error", " left"),
        )
        if count
    ]
    return " · ".join(parts) or NOTHING


# Which changes and runs of a turn failed: derived from results, not from the answer.
#
# Reads do not count, nor does a failure that was fixed later in the turn.


DOCUMENTS = frozenset({"notebook", "document", "lexical", "file"})
"""The groups of tools that change documents, except those that run code."""
RUNS = "jupyter-input"
"""The type of a block that runs."""
LONGEST = 300

Kind = Literal["change_failed", "run_failed", "call_failed"]


@dataclass(frozen=True)
class _Failure:
    """An act that failed and has not been fixed; ``step`` is the model's answer that asked for it,
    ``is_last`` whether nothing has succeeded since."""

    kind: Kind
    step: int
    call_id: str
    name: str
    message: str
    is_last: bool = True

    def summary(self) -> str:
        """For the user."""
        nouns = {"change_failed": "change", "run_failed": "run"}
        what = nouns.get(self.kind, f"call of {self.name}")
        head = f"The last {what} failed" if self.is_last else f"A {what} failed and was not fixed"
        return f"{head}: {self.message}"


def not_done(
    items: Sequence[Item],
    records: Mapping[str, ToolCallRecord],
    summaries: Mapping[str, str],
    registry: ToolRegistry,
) -> NotDone | None:
    """What the user should know about a turn that seems to have succeeded; None if it did.

    ``records`` are the calls that have ended, by id, and ``summaries`` their lines for the user, if
    known.
    """
    tally = _Tally()
    for step, call_id in _calls(items):
        record = records.get(call_id)
        tool = None if record is None else registry.behind(record.name)
        if record is not None and tool is not None and tool.changes:
            tally.note(step, record, tool, summaries.get(call_id))
    return tally.result()


def _calls(items: Sequence[Item]) -> Iterator[tuple[int, str]]:
    """The calls in order, each with the number of the model's answer that asked for it."""
    step, answered = 0, True
    for item in items:
        if item.get("type") == "function_call_output":
            answered = True
        elif item.get("type") == "function_call":
            step += answered
            answered = False
            yield step, item["call_id"]


class _Tally:
    """Tracks the acts of a turn: which calls and cells failed and are not fixed."""

    def __init__(self) -> None:
        self._calls: list[_Failure] = []
        # By the cell's id, since a call need not name its notebook.
        self._cells: dict[str, _Failure] = {}
        self._denied: str | None = None
        # A successful call that changed nothing, since everything was already in place.
        self._idle: str | None = None
        self._tried_to_change = self._has_changed = self._has_succeeded = False

    def note(self, step: int, record: ToolCallRecord, tool: Tool, summary: str | None) -> None:
        """Count a call that changes or runs something."""
        is_change = not tool.runs and tool.group in DOCUMENTS
        self._tried_to_change |= is_change
        if record.status == "denied":
            self._denied = record.call_id
        if record.status not in ("ok", "error") or not isinstance(record.output, dict):
            return
        output, error = record.output.get("output"), record.output.get("error") or {}
        changes = record.output.get("changes") or []
        runs = list(runs_of(output))
        if record.status == "ok" or changes:
            self._mend(step, is_change)
            is_unchanged = isinstance(output, dict) and output.get("unchanged") is True
            self._has_changed |= is_change and not is_unchanged
            self._has_succeeded |= bool(runs) or not is_unchanged
            self._idle = record.call_id if is_unchanged else self._idle
        self._follow_changes(changes)
        if tool.group == "lexical" and isinstance(output, dict):
            self._follow_blocks(output)
        for run in runs:
            if run["status"] == "ok" or record.status == "ok":
                self._cells.pop(str(run["cellId"]), None)
        if record.status == "ok":
            return
        kind = _kind(tool, str(error.get("code")), is_change)
        said = error.get("message") if kind == "run_failed" else summary or error.get("message")
        failure = _Failure(kind, step, record.call_id, tool.name, _line(str(said or "")))
        bad = [str(run["cellId"]) for run in runs if run["status"] not in WELL]
        waiting = output.get("notRun") if isinstance(output, dict) else None
        for cell_id in bad or waiting or []:
            self._cells[cell_id] = failure
        if not bad and not waiting:
            self._calls.append(failure)

    def _mend(self, step: int, is_change: bool) -> None:
        """A success in a later answer of the model fixes a failed call, but only a change fixes a
        change. Calls of the same answer do not count, since they were made without knowing."""
        self._calls = [
            replace(each, is_last=False)
            for each in self._calls
            if each.step == step or (each.kind == "change_failed" and not is_change)
        ]
        self._cells = {key: replace(each, is_last=False) for key, each in self._cells.items()}

    def _follow_changes(self, changes: Sequence[Mapping[str, Any]]) -> None:
        """A cell that is gone, empty or no longer code has no failure."""
        for change in changes:
            is_code = change.get("cellType") in (None, "code")
            is_empty = change["op"] == "update" and not (change.get("after") or "").strip()
            if change["op"] == "delete" or is_empty or not is_code:
                self._cells.pop(str(change.get("cellId")), None)

    def _follow_blocks(self, output: Mapping[str, Any]) -> None:
        """Do the same for blocks, which are in the output."""
        for block_id in output.get("deleted", ()):
            self._cells.pop(str(block_id), None)
        if output.get("type") not in (None, RUNS):
            self._cells.pop(str(output.get("id")), None)

    def result(self) -> NotDone | None:
        """The failures that remain."""
        failed = sorted([*self._cells.values(), *self._calls], key=lambda each: each.step)
        nothing = self._tried_to_change and not self._has_changed
        if not failed:
            call_id = self._denied or self._idle
            if call_id is None or self._has_succeeded:
                return None
            done = "changed" if self._tried_to_change else "run"
            why = "it was not approved" if self._denied else "everything was already in place"
            message = f"Nothing was {done} in this turn: {why}."
            return NotDone(kind="nothing_done", message=message, call_id=call_id)
        last = failed[-1]
        if nothing:
            message = f"Nothing was changed in this turn. {last.summary()}"
            return NotDone(kind="nothing_done", message=message, call_id=last.call_id)
        return NotDone(kind=last.kind, message=last.summary(), call_id=last.call_id)


def _kind(tool: Tool, code: str, is_change: bool) -> Kind:
    if tool.runs or (is_change and code in (*RUN_FAILURES, "held_back")):
        return "run_failed"
    return "change_failed" if is_change else "call_failed"


def _line(message: str) -> str:
    """The message as one short line."""
    line = " ".join(message.removeprefix("Not done: ").split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


# A turn that waited for the user when its server ended.
#
# A call that ran and whose result waited for approval is not repeated: the approval request has its
# result as text.


SUMMARY = "Done before the server restarted"


@dataclass(frozen=True)
class Restored:
    """A turn that waited for the user when its server ended: its record, and the items it had sent;
    ``wait`` is the event that asks."""

    turn: Turn
    sent: TurnHistory
    wait: dict[str, Any]


async def answered_before(
    wait: Mapping[str, Any],
    calls: Sequence[Item],
    approvals: ApprovalBroker,
    records: Mapping[str, ToolCallRecord],
) -> FinishedCall | None:
    """The output of the call that ``wait`` is about, once the user has decided whether it may be
    sent; None if it is not about a result."""
    call = next((each for each in calls if each["call_id"] == wait.get("callId")), None)
    if wait.get("share") is None or call is None:
        return None
    share = ShareRequest.model_validate(wait["share"])
    call_ref = CallRef(wait["callId"], wait["name"], wait["arguments"], "")
    decision = await approvals.approve(share_request(call_ref, share, wait["reason"]))
    result = _result(wait["name"], share, share.text)
    done = Dispatched(result, SUMMARY)
    if not decision.approved:
        result.withheld = share.kinds
        done.redacted = _result(wait["name"], share, share.withheld)
    answered = finished(call, done)
    item = output_item(call["call_id"], share.text if decision.approved else share.withheld)
    if decision.approved:
        item = note_of(item, share.kinds, share.withheld.replace(BY_USER, BY_SETTING))
    known = records.get(call["call_id"])
    record = answered.record
    if known is not None:
        record = record.model_copy(update={"arguments": known.arguments})
    return FinishedCall(item, answered.event, record, done)


def _result(name: str, share: ShareRequest, text: str) -> ToolResult:
    """The result from its rendered text; a cut text is kept as it is."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if share.ok:
        return ToolResult(ok=True, name=name, output=value)
    error = value.get("error") if isinstance(value, dict) else None
    if not isinstance(error, dict):
        error = {"code": "internal", "message": text}
    output = value.get("output") if isinstance(value, dict) else None
    return ToolResult(ok=False, name=name, output=output, error=ToolError.model_validate(error))


TurnStatus = Literal["completed", "failed", "aborted"]
STEPS = {"items", "tool_calls"}
"""What a step of the turn stores and a piece of streamed text does not."""
DURATION_STEP_SECONDS = 1
"""How much of a turn's duration may be lost if its server dies."""


class TurnRecord:
    """The calls, changes and reply of a turn; stores its start and its end.

    ``calls`` and ``summaries`` are by call id. ``index`` is None until the turn is in the database.
    ``ending``: its end was emitted, or is about to be. ``call_as_text`` is about a call in the last
    answer that was not carried out.
    """

    def __init__(
        self,
        session: SessionState,
        turn_id: str,
        request: TurnRequest,
        op_id: str | None,
        restored: Restored | None,
    ) -> None:
        self.calls: dict[str, ToolCallRecord] = {}
        self.summaries: dict[str, str] = {}
        self.changes: list[Change] = []
        self.reply = ""
        self.offers: list[WorkflowOffer] = []
        self.warnings: list[str] = []
        self.not_done: NotDone | None = None
        self.call_as_text: NotDone | None = None
        self.facts: TurnFacts | None = None
        self.incomplete: Incomplete | None = None
        self.index: int | None = None
        self.ending = False
        self._session = session
        self._id = turn_id
        self._request = request
        self._op_id = op_id
        self._began = time.monotonic()
        self._stored_seconds = 0.0
        if restored is not None:
            turn = restored.turn
            self.index = turn.index
            self.calls = {record.call_id: record for record in turn.tool_calls}
            self.changes = list(turn.changes)
            self._began -= (turn.duration_ms or 0) / 1000

    @property
    def number(self) -> int:
        """The turn's number in its session, from 1."""
        assert self.index is not None
        return self.index + 1

    @property
    def seconds(self) -> float:
        """The turn's duration so far."""
        return time.monotonic() - self._began

    def note_answer(self, answer: ModelAnswer) -> None:
        """Record the model's answer; its last text is the reply."""
        self.reply = answer.text or self.reply
        self.call_as_text = answer.notice
        self.incomplete = None if answer.calls else answer.incomplete

    def add_call(self, done: FinishedCall) -> None:
        """Record a call that has ended."""
        self.calls[done.record.call_id] = done.record
        self.summaries[done.record.call_id] = done.done.summary

    def renamed(self, rename: Rename) -> None:
        """Use the new path of a renamed document in the changes."""
        self.changes[:] = [
            each.model_copy(update={"path": rename.path(each.path)}) for each in self.changes
        ]

    def find_not_done(self, items: Sequence[Item]) -> NotDone | None:
        """The notice above the reply; if nothing may be changed, only about a call as text."""
        if not self._request.gate.may_change:
            return self.call_as_text
        tools = self._request.tools
        found = not_done(items, self.calls, self.summaries, tools)
        has_failed = found is not None and found.kind != "nothing_done"
        return found if has_failed else self.call_as_text or found

    def find_facts(self) -> TurnFacts | None:
        """What the calls did; None if nothing may be changed."""
        if not self._request.gate.may_change:
            return None
        return facts_of(self.calls.values(), self._request.tools)

    def started(self, model: str) -> events.TurnStarted:
        """The event that begins the turn."""
        request, gate = self._request, self._request.gate
        return events.TurnStarted(
            mode=request.mode,
            notebook_mode=gate.notebook_mode,
            tools=[
                tool.name for tool in gate.allowed(request.tools) if not tool.is_found_by_search
            ],
            message=request.chat.message,
            model=model or None,
            target=gate.target,
            op_id=self._op_id,
            workflow=request.chat.workflow,
            compare=request.chat.compare,
        )

    async def append(self, **belongings: Any) -> None:
        """Store events and what belongs to them and, from time to time, the turn's duration so far,
        which counts if the server dies."""
        if (
            self.seconds - self._stored_seconds >= DURATION_STEP_SECONDS
            or belongings.keys() & STEPS
        ):
            self._stored_seconds = self.seconds
            belongings["duration_ms"] = self._stored_seconds * 1000
        await self._session.runtime.store.events.append(self._session.id, self._id, **belongings)

    async def write_start(
        self, started: events.TurnStarted, model: Callable[[], str], items: Sequence[Item]
    ) -> None:
        """Store the start of the turn, with its message; ``model`` returns the current one."""
        self.index = await self._session.runtime.store.turns.start(
            session_id=self._session.id,
            turn_id=self._id,
            mode=self._request.mode,
            notebook_mode=self._request.gate.notebook_mode,
            location=self._request.location,
            model=model() or None,
            request=self._request.as_decided(),
            op_id=self._op_id,
            events=[started],
            items=items,
        )

    async def write_end(
        self,
        status: TurnStatus,
        reason: AbortReason | None,
        error: ErrorBody | None,
        usage: Usage,
        first_text_at: float | None,
    ) -> None:
        """Store the end of the turn; ``reason`` is None if it was completed."""
        self.ending = True
        duration = self.seconds * 1000
        first = None if first_text_at is None else (first_text_at - self._began) * 1000
        ended: events.BaseEvent = (
            events.TurnCompleted(duration_ms=duration, time_to_first_token_ms=first, usage=usage)
            if reason is None
            else events.TurnAborted(reason=reason, duration_ms=duration)
        )
        await self._session.runtime.store.turns.finish(
            self._id,
            status=status,
            reply=self.reply,
            error=error,
            not_done=self.not_done,
            facts=self.facts,
            usage=usage,
            ttft_ms=first,
            duration_ms=duration,
            events=[ended],
        )

    def as_reply(self, status: TurnStatus, error: ErrorBody | None, usage: Usage) -> ChatReply:
        """The turn as one reply, for callers without events."""
        return ChatReply(
            session_id=self._session.id,
            turn_id=self._id,
            status=status,
            mode=self._request.mode,
            notebook_mode=self._request.gate.notebook_mode,
            reply=self.reply,
            tool_calls=list(self.calls.values()),
            changes=self.changes,
            usage=usage,
            error=error,
            offers=self.offers,
            not_done=self.not_done,
            facts=self.facts,
            incomplete=self.incomplete,
            warnings=self.warnings,
        )
