"""Tool results as text for the model: without what says nothing, and nothing twice in a turn.

The stored result and the one on the wire stay whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..protocol.json_text import to_json
from ..protocol.tools import ToolResult

AS_BEFORE = "[the same as before]"
SHORT = 80
"""Characters of an output that is repeated rather than said to be the same."""
ERROR_START = 500
"""Characters of an error by which it is recognised in an output, where a long one is cut."""
_CELL_DEFAULTS = {
    "executionStatus": "idle",
    "executionOrder": None,
    "selectionStatus": "unselected",
}


class ReportedResults:
    """What the model knows from the results of one turn: the outputs of cells, and which cells are
    stale. ``target`` is the notebook that a call without a path means."""

    def __init__(self, target: Callable[[], str | None]) -> None:
        self._target = target
        self._outputs: dict[tuple[str | None, str], str] = {}
        self._stale: dict[str | None, list[str] | None] = {}

    def forget(self) -> None:
        """Results were cut or left out: the model may not have seen all that they had."""
        self._outputs.clear()
        self._stale = dict.fromkeys(self._stale)

    def news(self, output: Any, arguments: Any, *, has_pictures: bool) -> Any:
        """The output without what earlier ones had. Outputs with pictures are always sent whole:
        their text is the same whatever a picture shows."""
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
        """Note the output of a cell; True where the same was noted before."""
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
    """A result as the model reads it: the output alone when all went well, compact JSON; with
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
    """A run whose outputs begin with its error, without the error."""
    error, shown = run.get("error"), run.get("outputs")
    if isinstance(error, str) and isinstance(shown, str) and shown.startswith(error[:ERROR_START]):
        return {key: value for key, value in run.items() if key != "error"}
    return dict(run)


def _brief_cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    """A cell without what is usual, and without the time at which it ended: that is a number to
    compute with, and the context has it as a date."""
    return {
        key: value
        for key, value in cell.items()
        if key != "lastRunEndTime" and (key not in _CELL_DEFAULTS or value != _CELL_DEFAULTS[key])
    }


def _each(value: Any, key: str) -> list[dict[str, Any]]:
    """The objects of a list that all have this key, as ours do; nothing of any other value: the
    result of a tool of another program is not touched."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        return []
    return value if all(key in each for each in value) else []


def _path_in(value: Any) -> str | None:
    path = value.get("path") if isinstance(value, Mapping) else None
    return path if isinstance(path, str) and path else None
