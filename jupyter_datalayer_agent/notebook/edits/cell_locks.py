"""Cells that are locked: by nbformat's ``editable`` and ``deletable``, or by nbgrader.

As in JupyterLab a lock is about a cell's text and about the cell itself: a locked cell can be run
and moved, and its outputs can be cleared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ..document import DocumentError

Lock = Literal["editable", "deletable"]
_WORDS: dict[Lock, tuple[str, str]] = {
    "editable": ("changed", "not editable"),
    "deletable": ("deleted", "not deletable"),
}


def lock_of(cell: Mapping[str, Any], lock: Lock) -> str | None:
    """The metadata that locks the cell, as it is written; None if it is not locked."""
    metadata = cell.get("metadata", {})
    if metadata.get(lock) is False:
        return f'"{lock}": false'
    nbgrader = metadata.get("nbgrader")
    if isinstance(nbgrader, Mapping) and nbgrader.get("locked") is True:
        return '"nbgrader": {"locked": true}'
    return None


def check_unlocked(cell: Mapping[str, Any], index: int, lock: Lock) -> None:
    """Raise ``DocumentError`` for a cell that may not be edited, or deleted."""
    found = lock_of(cell, lock)
    if found is None:
        return
    verb, meaning = _WORDS[lock]
    raise DocumentError(
        "not_allowed",
        f"Cell {index + 1} ({cell['id']}) is locked and cannot be {verb}: its metadata has "
        f"{found}, {meaning}. Nothing was changed.",
        "Leave the cell as it is, and put new code in a cell of its own. If the change is needed, "
        "ask the user to remove that lock first (in JupyterLab: Property Inspector, Advanced "
        "Tools, Cell Metadata).",
    )
