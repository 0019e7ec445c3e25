"""Which code reaches past the kernel: what the policy ``destructive`` asks about (DESIGN 5).

This recognises what notebook users commonly write. It is no sandbox: code that hides what it does
is not recognised. ``docs/approvals.md`` says what is and what is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .action import Reason, RiskyAction, reason
from .other_cells import OtherCells
from .other_languages import actions_in_other
from .place import Place
from .python import actions_in_python, may_be_risky

__all__ = [
    "Act",
    "Place",
    "Reason",
    "actions_in",
    "first_action_of",
    "may_be_risky",
    "reason",
    "reason_of",
]

_PYTHON = frozenset({"", "python", "ipython", "python3"})


def actions_in(code: str, place: Place, others: OtherCells | None = None) -> Iterator[RiskyAction]:
    """What the code does beyond the kernel, in no order; a line may do several things."""
    if place.language in _PYTHON:
        return actions_in_python(code, place, others)
    return actions_in_other(code, place.language, place)


def first_action_of(code: str) -> str | None:
    """What code of Python does beyond the kernel, as text, wherever it would run, or None."""
    return next((action.description for action in actions_in(code, Place())), None)


def reason_of(codes: Iterable[tuple[str, str]], place: Place) -> Reason | None:
    """Why these (subject, code) wait for the user, run in this place; None where nothing does."""
    others = OtherCells(place.cells)
    return reason(
        (subject, action) for subject, code in codes for action in actions_in(code, place, others)
    )
