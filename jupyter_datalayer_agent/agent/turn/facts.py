"""What a turn did, counted from the results of its calls: no text of the model is read for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...protocol.requests import ToolCallRecord
from ...protocol.tools import TurnFacts
from ...tools.registry import ToolRegistry
from ..tool_calls.verification import RUN_FAILURES, WELL, runs_of

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
            # Code without a cell: its next run counts.
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
    """Whether a call that names no cell did something, or may have."""
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
