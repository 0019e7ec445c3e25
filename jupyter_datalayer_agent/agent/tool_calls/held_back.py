"""What a failure holds back of the calls that follow it in the same answer of the model.

The model wrote them before it knew of the failure. Reads go on, and so do changes; what would run
code is not run, but a change that asks to be run is made. A failure in one notebook holds back runs
in that notebook only; any other failure (of a file, a kernel, a tool that there is not) all runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...notebook.document import DocumentError
from ...notebook.paths import resolve_path
from ...protocol.tools import ToolError, ToolResult
from ...tools.context import ToolFailure
from ...tools.dispatcher import Dispatcher
from ...tools.gate import Gate
from ...tools.registry import Tool, ToolRegistry
from ...tools.result import Dispatched, ResultBuilder
from ..history.history import Item
from .scheduler import FinishedCall, finished, readable_arguments
from .written_call_policy import is_maybe_example

_CREATES_DOCUMENT = "document"
_TEXT_CELLS = ("markdown", "raw")
_HINT = "Repair that first; then call this again if it still fits."
_HINT_RUN = "Repair that first; then run it with runNotebookCells if it still fits."


@dataclass(frozen=True)
class _Failed:
    """A call that failed: its line, and the document that it was about (None: not only one)."""

    summary: str
    path: str | None
    creates: bool


class HeldBack:
    """The failures among the calls of one answer so far, and what they hold back."""

    def __init__(self, registry: ToolRegistry, gate: Gate, root_dir: str | None) -> None:
        self._registry = registry
        self._gate = gate
        self._root_dir = root_dir
        self._failed: list[_Failed] = []

    @property
    def why(self) -> str | None:
        """The line of the first call that failed; None if none has."""
        return self._failed[0].summary if self._failed else None

    def note(self, done: FinishedCall) -> None:
        """A call has its answer."""
        tool = self._registry.behind(done.record.name)
        if done.done.result.ok or (tool is not None and not tool.changes):
            return
        path = self._path(tool, done.record.arguments)
        # The model's own copy: the line may quote an error that is kept from it.
        summary = done.done.summary_for_model
        creates = tool is not None and tool.group == _CREATES_DOCUMENT
        self._failed.append(_Failed(summary, path, creates))

    def whole(self, call: Item) -> ToolFailure | None:
        """Why a call is not made at all, None if it is made."""
        tool = self._registry.behind(call["name"])
        if tool is None or not tool.changes:
            return None
        arguments = readable_arguments(call.get("arguments", ""))
        cause = self._cause(tool, arguments)
        if cause is not None and tool.runs:
            return _failure(f"{tool.name} was held back: {_failed(cause)}.", arguments)
        orphan = next((each for each in self._failed if each.creates), None)
        if orphan is not None and _named(arguments) is None and _works_on_document(tool):
            # It was meant for the document that could not be created, not for the active one.
            return _failure(f"{tool.name} was held back: {_failed(orphan)}.", arguments)
        return None

    def run_of(self, call: Item) -> ToolFailure | None:
        """Why the run that a change asks for is held back, None if it is not, or asks for none."""
        tool = self._registry.behind(call["name"])
        arguments = readable_arguments(call.get("arguments", ""))
        if tool is None or tool.runs or not isinstance(arguments, dict):
            return None
        if "run" not in tool.arguments.model_fields or arguments.get("run") in (None, False):
            return None
        if arguments.get("type") in _TEXT_CELLS:
            return None
        cause = self._cause(tool, arguments)
        return None if cause is None else _failure(f"its run was held back: {_failed(cause)}.")

    def _cause(self, tool: Tool, arguments: Any) -> _Failed | None:
        path = self._path(tool, arguments)
        for each in self._failed:
            if each.path is None or path is None or each.path == path:
                return each
        return None

    def _path(self, tool: Tool | None, arguments: Any) -> str | None:
        """The document that a call is about; None where it is another thing, or not known."""
        if tool is None or tool.group not in ("notebook", "lexical", "kernel", "dataset"):
            return None
        if _given(arguments, "kernelId", "kernel_id") is not None:
            return None
        given = _named(arguments)
        if given is None:
            lexical = next(iter(self._gate.lexical_targets), None)
            if tool.group == "lexical":
                return lexical
            return self._gate.target or (lexical if tool.group == "kernel" else None)
        try:
            return resolve_path(given, self._root_dir)
        except DocumentError:
            return None


async def change_only(dispatcher: Dispatcher, call: Item, why: ToolFailure) -> FinishedCall:
    """Make the change of a call that also asks to be run, and say that it was not run."""
    arguments = readable_arguments(call.get("arguments", ""))
    done = await dispatcher.call(
        call["name"],
        {**arguments, "run": False},
        call["call_id"],
        may_be_example=is_maybe_example(call),
    )
    return finished(call, _not_run(done, why))


def _not_run(done: Dispatched, why: ToolFailure) -> Dispatched:
    if not done.result.ok:
        return done
    summary = f"{done.summary}; {why.message}"
    error = ToolError(code="held_back", message=summary, hint=_HINT_RUN)

    def reported(result: ToolResult | None) -> ToolResult | None:
        if result is None:
            return None
        output = dict(result.output)
        written = output.get("cellId") or output.get("id")
        output["notRun"] = [written] if written else []
        return result.model_copy(update={"ok": False, "error": error, "output": output})

    result = reported(done.result)
    assert result is not None
    return replace(
        done,
        result=result,
        summary=summary,
        redacted=reported(done.redacted),
        stripped=reported(done.stripped),
    )


def answer_of(call: Item, failure: ToolFailure) -> FinishedCall:
    """The answer to a call that is not made."""
    return finished(call, ResultBuilder.of_failure(call["name"], failure).whole())


def _failure(message: str, arguments: Any = None) -> ToolFailure:
    ids = _given(arguments, "cellIds", "cell_ids")
    output = {"notRun": ids} if isinstance(ids, list) and ids else None
    return ToolFailure("held_back", message, _HINT, output=output)


def _failed(cause: _Failed) -> str:
    return f"a call before it in this answer failed ({cause.summary.rstrip('.')})"


def _named(arguments: Any) -> str | None:
    given = _given(arguments, "path", "uri")
    return given if isinstance(given, str) else None


def _given(arguments: Any, *names: str) -> Any:
    """The first of these arguments that has a value; None where the arguments are not readable."""
    values = [arguments.get(name) for name in names] if isinstance(arguments, dict) else []
    return next((each for each in values if each), None)


def _works_on_document(tool: Tool) -> bool:
    return tool.needs_notebook or tool.needs_lexical or tool.group in ("kernel", "dataset")
