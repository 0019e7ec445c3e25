"""Tool results as text for the model: nothing that says nothing, and nothing twice in a turn.

The stored result and the one that is sent to clients stay complete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..protocol.json_text import to_json
from ..protocol.tools import ToolResult

AS_BEFORE = "[the same as before]"
SHORT = 80
"""Characters up to which an output is repeated instead of marked as the same."""
ERROR_START = 500
"""Characters of an error that identify it in an output, where long ones are cut."""
_CELL_DEFAULTS = {
    "executionStatus": "idle",
    "executionOrder": None,
    "selectionStatus": "unselected",
}


class ReportedResults:
    """What the model knows from the results of one turn: the outputs of cells, and which cells are
    stale. ``target`` is the notebook of a call without a path."""

    def __init__(self, target: Callable[[], str | None]) -> None:
        self._target = target
        self._outputs: dict[tuple[str | None, str], str] = {}
        self._stale: dict[str | None, list[str] | None] = {}

    def forget(self) -> None:
        """Forget everything: results were cut or left out, so the model may not have seen all."""
        self._outputs.clear()
        self._stale = dict.fromkeys(self._stale)

    def news(self, output: Any, arguments: Any, *, has_pictures: bool) -> Any:
        """The output without what earlier ones contained. Outputs with pictures are always sent
        whole: their text does not depend on what a picture shows."""
        if not isinstance(output, Mapping):
            return output
        path = _path_in(output) or _path_in(arguments) or self._target()
        found = dict(output)
        for cell in _each(output.get("cells"), "selectionStatus"):
            self._note(path, cell["id"], cell.get("outputs"))
        if not has_pictures:
            if "cellId" in found and "status" in found:
                found = self._run(path, found)
            if runs := _each(found.get("runs"), "cellId"):
                found["runs"] = [self._run(path, run) for run in runs]
        if isinstance(stale := found.get("staleCells"), list):
            if stale == self._stale.get(path, []):
                found.pop("staleCells")
                found.pop("staleCellCount", None)
            elif not stale:
                found["staleCells"] = "none any more"
            self._stale[path] = stale
        return found

    def _run(self, path: str | None, run: Mapping[str, Any]) -> dict[str, Any]:
        shown = run.get("outputs")
        if not self._note(path, run["cellId"], shown) or len(str(shown)) <= SHORT:
            return dict(run)
        return {**run, "outputs": AS_BEFORE}

    def _note(self, path: str | None, cell_id: Any, shown: Any) -> bool:
        """Record the output of a cell; True if it is the same as before."""
        if not isinstance(cell_id, str) or not isinstance(shown, str):
            return False
        was = self._outputs.get((path, cell_id))
        self._outputs[path, cell_id] = shown
        return was == shown


def for_model(
    result: ToolResult,
    reported: ReportedResults | None = None,
    arguments: Any = None,
    *,
    has_pictures: bool = False,
) -> str:
    """A result as the model reads it: after success only the output, as compact JSON; with
    ``reported`` (see ``ReportedResults``) without what it knows."""
    output = result.output
    if reported is not None:
        output = reported.news(output, arguments, has_pictures=has_pictures)
    output = _brief(output)
    if result.ok:
        return to_json(output)
    shown: dict[str, Any] = {}
    if result.error is not None:
        shown["error"] = result.error.to_wire()
    if output is not None:
        shown["output"] = output
    return to_json(shown)


def _brief(output: Any) -> Any:
    if not isinstance(output, Mapping):
        return output
    found = dict(output)
    if "cellId" in found and "status" in found:
        found = _without_repeated_error(found)
    part = "cell" if _each(found.get("runs"), "cellId") else "block"
    if runs := _each(found.get("runs"), "cellId") or _each(found.get("runs"), "block"):
        runs = [_without_repeated_error(run) for run in runs]
        found["runs"] = runs
        skipped: dict[str, list[Any]] = {}
        for run in runs:
            if run.get("status") == "skipped":
                skipped.setdefault(run.get("note") or "", []).append(run.get(part))
        if skipped:
            found["runs"] = [run for run in runs if run.get("status") != "skipped"]
            found[f"skipped{part.capitalize()}s"] = skipped
    if cells := _each(found.get("cells"), "selectionStatus"):
        found["cells"] = [_brief_cell(cell) for cell in cells]
    if found.get("staleCells") == []:
        found.pop("staleCells")
    return found


def _without_repeated_error(run: Mapping[str, Any]) -> dict[str, Any]:
    """A run without its error, if its outputs begin with it."""
    error, shown = run.get("error"), run.get("outputs")
    if isinstance(error, str) and isinstance(shown, str) and shown.startswith(error[:ERROR_START]):
        return {key: value for key, value in run.items() if key != "error"}
    return dict(run)


def _brief_cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    """A cell without usual values, and without the time at which it ended: that is a number to
    compute with, and the context has it as a date."""
    return {
        key: value
        for key, value in cell.items()
        if key != "lastRunEndTime" and (key not in _CELL_DEFAULTS or value != _CELL_DEFAULTS[key])
    }


def _each(value: Any, key: str) -> list[dict[str, Any]]:
    """The objects of a list that all have this key, as those of our tools do; nothing for other
    values, so that results of other programs' tools are not touched."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        return []
    return value if all(key in each for each in value) else []


def _path_in(value: Any) -> str | None:
    path = value.get("path") if isinstance(value, Mapping) else None
    return path if isinstance(path, str) and path else None
