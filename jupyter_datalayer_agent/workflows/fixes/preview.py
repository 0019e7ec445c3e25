"""A fix as a page shows it before it is carried out: what it writes, and what it runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ...protocol.workflows import CellFix, FixChange, FixInfo


def key_of(fix: FixInfo) -> str:
    """The same for fixes that make the same calls, whatever they are called."""
    calls = [[call.name, call.arguments] for call in fix.calls]
    return hashlib.sha256(json.dumps(calls, sort_keys=True).encode()).hexdigest()[:16]


def preview(fix: FixInfo, sources: Mapping[str, str]) -> CellFix | None:
    """What the fix makes of a notebook with these ``sources``, by cell id.

    None for a fix that does something else than changing and running cells, such as choosing a
    kernel, and for one that does not fit the sources.
    """
    added: list[FixChange] = []
    changed: dict[str, str] = {}
    runs: dict[str, None] = {}
    for call in fix.calls:
        given = call.arguments
        match call.name:
            case "addNotebookCell":
                change = _new_cell(given)
                if change is None:
                    return None
                added.append(change)
            case "updateNotebookCell":
                cell_id = str(given.get("cellId"))
                before = changed.get(cell_id, sources.get(cell_id))
                after = None if before is None else _edited(before, given)
                if after is None:
                    return None
                changed[cell_id] = after
                if given.get("run"):
                    runs[cell_id] = None
            case "runNotebookCells":
                runs.update(dict.fromkeys(given.get("cellIds", ())))
            case _:
                return None
    changes = [FixChange(kind="cell", cell_id=id_, source=text) for id_, text in changed.items()]
    return CellFix(key=key_of(fix), fix=fix, changes=[*added, *changes], runs=list(runs))


def _new_cell(given: Mapping[str, Any]) -> FixChange | None:
    position = given.get("position")
    source = str(given.get("content", ""))
    if not isinstance(position, Mapping):
        return None
    if "before" in position:
        return FixChange(kind="before", cell_id=position["before"], source=source)
    if "after" in position:
        return FixChange(kind="after", cell_id=position["after"], source=source)
    return None


def _edited(source: str, given: Mapping[str, Any]) -> str | None:
    """The source after a call; None where a text to be replaced is not there exactly once."""
    if "content" in given:
        return str(given["content"])
    for edit in given.get("edits", ()):
        old, new = edit.get("oldString"), edit.get("newString")
        if old is None or new is None or source.count(old) != 1:
            return None
        source = source.replace(old, new)
    return source
