"""What the context says of where an inline chat is, and of what became of proposals."""

from __future__ import annotations

from ..notebook.context import fenced
from ..protocol.requests import ProposalDecision
from .targets import Submission


def asked_from(about: Submission) -> str | None:
    """The place that the person asks from; None where it is not an inline chat."""
    request = about.request
    if about.location != "inline":
        return None
    if request.cell_id is not None and about.gate.target is not None:
        place = f"the cell id={request.cell_id}"
    elif about.files:
        place = f"the file {about.files[0]}"
    else:
        return None
    said = f'The person asks from {place}; "this" and "here" mean it.'
    if request.selection:
        said += f"\nSelected in it, and what is meant:\n{fenced(request.selection)}"
    return said


def decided_on(about: Submission) -> str | None:
    """What the person decided on earlier proposals; None where they decided on none."""
    decided = [
        f"{_named(each)}: {each.outcome.replace('_', ' ')}" for each in about.request.decided
    ]
    if not decided:
        return None
    return f"What the person did with your proposals since: {'; '.join(decided)}."


def _named(decision: ProposalDecision) -> str:
    if decision.kind == "file":
        return f"file {decision.target}"
    place = "new cell after" if decision.kind == "after" else "cell"
    return f"{place} id={decision.target}"
