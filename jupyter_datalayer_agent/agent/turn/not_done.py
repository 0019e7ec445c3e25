"""Which changes and runs of a turn failed: derived from results, not from the answer.

Reads count for nothing, and neither does a failure that was fixed later in the turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ...protocol.requests import ToolCallRecord
from ...protocol.tools import NotDone
from ...tools.registry import Tool, ToolRegistry
from ..history.history import Item
from ..tool_calls.verification import RUN_FAILURES, WELL, runs_of

DOCUMENTS = frozenset({"notebook", "document", "lexical", "file"})
"""The groups of tools that change documents, those apart that run code."""
RUNS = "jupyter-input"
"""The type of a block that runs."""
LONGEST = 300

Kind = Literal["change_failed", "run_failed", "call_failed"]


@dataclass(frozen=True)
class _Failure:
    """An act that failed and was not fixed so far; ``step`` is the model's answer that asked
    for it, ``is_last`` whether nothing has gone well since."""

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
    """What the user should know about a turn that seems to have succeeded; None if it has.

    ``records`` are the calls that have ended, by their ids, and ``summaries`` their lines for a
    user, where they are known.
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
    """Follows the acts of a turn: which calls and which cells failed and are not fixed."""

    def __init__(self) -> None:
        self._calls: list[_Failure] = []
        # By the cell's id: a call need not say which notebook it means.
        self._cells: dict[str, _Failure] = {}
        self._denied: str | None = None
        # A call that went well and changed nothing, since everything was already in place.
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
        """What goes well in a later answer of the model fixes a call that failed; only a change
        fixes a change. What was asked for beside it does not."""
        self._calls = [
            replace(each, is_last=False)
            for each in self._calls
            if each.step == step or (each.kind == "change_failed" and not is_change)
        ]
        self._cells = {key: replace(each, is_last=False) for key, each in self._cells.items()}

    def _follow_changes(self, changes: Sequence[Mapping[str, Any]]) -> None:
        """A cell that is gone, empty, or no code cell any more shows no failure."""
        for change in changes:
            is_code = change.get("cellType") in (None, "code")
            is_empty = change["op"] == "update" and not (change.get("after") or "").strip()
            if change["op"] == "delete" or is_empty or not is_code:
                self._cells.pop(str(change.get("cellId")), None)

    def _follow_blocks(self, output: Mapping[str, Any]) -> None:
        """The same of blocks, of which the output says it."""
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
