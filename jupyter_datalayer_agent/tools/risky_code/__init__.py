"""Recognises code that acts beyond the kernel, by its text: for what no guard sees while it runs,
and as a preview (DESIGN 5).

It recognises what notebook users commonly write and is no sandbox: code that hides what it does is
not recognised. ``docs/approvals.md`` has the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .action import Reason, RiskyAction, reason
from .local_modules import local_modules
from .other_languages import actions_in_other
from .place import Place
from .python import OtherCells, actions_in_python, may_be_risky

__all__ = [
    "PYTHON",
    "Place",
    "Reason",
    "actions_in",
    "first_action_of",
    "local_modules",
    "may_be_risky",
    "reason",
    "reason_of",
]

PYTHON = frozenset({"", "python", "ipython", "python3"})


def actions_in(code: str, place: Place, others: OtherCells | None = None) -> Iterator[RiskyAction]:
    """The actions of the code beyond the kernel, unordered; a line may have several."""
    if place.language in PYTHON:
        return actions_in_python(code, place, others)
    return actions_in_other(code, place.language, place)


def first_action_of(code: str) -> str | None:
    """The actions of Python code beyond the kernel, as text, wherever it runs, or None."""
    return next((action.description for action in actions_in(code, Place())), None)


_UNREAD = RiskyAction(
    "runs code that cannot be checked", "was not read, and may do anything", "", 1
)


def reason_of(codes: Iterable[tuple[str, str | None]], place: Place) -> Reason | None:
    """Why these (subject, code) need approval before they run in this place, or None. Code that is
    None could not be read."""
    others = OtherCells(place.cells)
    found = (
        (subject, action)
        for subject, code in codes
        for action in ([_UNREAD] if code is None else actions_in(code, place, others))
    )
    return reason(
        (each for each in found if not (place.is_watched and each[1].is_seen)), place.folder
    )
