"""A turn that waited for the user when its server ended.

A call that ran, and whose result waited for approval, is not repeated: its result is in the
approval request, as text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...protocol.requests import ToolCallRecord, Turn
from ...protocol.sharing import ShareRequest
from ...protocol.tools import ToolError, ToolResult
from ...store.records import TurnHistory
from ...tools.redaction import BY_SETTING, BY_USER, CallRef
from ...tools.result import Dispatched
from ..approvals.broker import ApprovalBroker
from ..approvals.data_sharing import note_of, share_request
from ..history.history import Item, output_item
from ..tool_calls.scheduler import FinishedCall, finished

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
