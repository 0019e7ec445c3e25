"""What the context states about the place of an inline chat and about earlier proposals."""

from __future__ import annotations

from ...notebook.context.notebook_context import fenced
from ...protocol.requests import ProposalDecision
from ..request import TurnRequest


def asked_from(request: TurnRequest) -> str | None:
    """The place that the user asks from; None if it is not an inline chat."""
    chat = request.chat
    if chat.location != "inline":
        return None
    if chat.cell_id is not None and request.gate.target is not None:
        place = f"the cell id={chat.cell_id}"
    elif request.files:
        place = f"the file {request.files[0]}"
    else:
        return None
    said = f'The user asks from {place}; "this" and "here" mean it.'
    if chat.selection:
        said += f"\nSelected in it, and what is meant:\n{fenced(chat.selection)}"
    return said


def decided_on(request: TurnRequest) -> str | None:
    """What the user decided on earlier proposals; None if there were no decisions."""
    decided = [f"{_named(each)}: {each.outcome.replace('_', ' ')}" for each in request.chat.decided]
    if not decided:
        return None
    return f"What the user did with your proposals since: {'; '.join(decided)}."


def _named(decision: ProposalDecision) -> str:
    if decision.kind == "file":
        return f"file {decision.target}"
    place = "new cell after" if decision.kind == "after" else "cell"
    return f"{place} id={decision.target}"
