"""What the context says of where an inline chat is: its cell or file, and the selection in it."""

from __future__ import annotations

from ..notebook.context import fenced
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
