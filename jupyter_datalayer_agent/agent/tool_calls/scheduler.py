"""Runs the tool calls of one model answer, cuts their results for the model, and emits them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from ...notebook.document import DocumentError
from ...notebook.paths import resolve_path
from ...protocol.events import ToolCallOutput
from ...protocol.json_text import parse_json, to_json
from ...protocol.pictures import names_of_pictures
from ...protocol.requests import ToolCallRecord
from ...protocol.tools import ToolCallStatus, ToolError, ToolResult
from ...tools.context import ToolFailure
from ...tools.dispatcher import Dispatcher
from ...tools.gate import Gate
from ...tools.limits import cut
from ...tools.outputs import named
from ...tools.pictures import fitted
from ...tools.registry import Tool, ToolRegistry
from ...tools.result import Dispatched, ResultBuilder
from ..data_sharing import noted, noted_pictures
from ..history import Item, output_item
from ..tool_output import ReportedResults, for_model
from .written_call_policy import is_maybe_example


@dataclass(frozen=True)
class FinishedCall:
    """A call with its answer: the item for the model, the event and the record."""

    item: Item
    event: ToolCallOutput
    record: ToolCallRecord
    done: Dispatched

    async def pictures(self, sent: Iterable[Item]) -> Item:
        """The pictures of the output, for a model with vision; those that the ``sent`` items
        already contain are only named."""
        images = self.done.images
        if not any(image.name for image in images):
            images = named(images, f"the output of {self.event.name}")
        known = names_of_pictures(sent)
        parts: list[dict[str, Any]] = []
        for image in await fitted(images, known):
            address = image.address
            is_new = bool(image.data) and address not in known
            if is_new:
                count = 1 + sum(each.startswith(image.name) for each in known.values())
                marks = [f"({count})"] if count > 1 else []
                marks += [f"({image.note})"] if image.note else []
                known[address] = " ".join([image.name, *marks])
                said = f"{known[address]}:"
            elif image.data:
                before = known[address]
                same = "is unchanged" if before.startswith(image.name) else "is the same picture"
                said = f"{image.name} {same}: it is the one above, “{before}”."
            else:
                said = f"{image.name} {image.note}"
            if parts and "text" in parts[-1]:
                # Some APIs join texts without a separator.
                parts[-1]["text"] += f"\n{said}"
            else:
                parts.append({"type": "input_text", "text": said})
            if is_new:
                parts.append({"type": "input_image", "image_url": address})
        return noted_pictures({"type": "message", "role": "user", "content": parts})


def is_parallel(registry: ToolRegistry, name: str) -> bool:
    """Whether a call of that name may run in parallel with its neighbours."""
    tool = registry.behind(name)
    return tool is not None and tool.parallel


def schedule(registry: ToolRegistry, calls: Sequence[Item]) -> list[list[Item]]:
    """The calls in order, in groups: neighbouring reads together, all others one at a time."""
    groups: list[list[Item]] = []
    for parallel, run in groupby(calls, key=lambda call: is_parallel(registry, call["name"])):
        members = list(run)
        groups.extend([members] if parallel else [[each] for each in members])
    return groups


async def run_group(
    dispatcher: Dispatcher,
    calls: Sequence[Item],
    failures: Mapping[str, ToolFailure] = {},
    reported: ReportedResults | None = None,
) -> list[FinishedCall]:
    """Run a group's calls together; the results keep their order. Calls in ``failures`` (by id)
    already failed and are not run. ``reported`` is what the model knows from results."""
    if len(calls) == 1:
        return [await _run_one(dispatcher, calls[0], failures, reported)]
    runs = (_run_one(dispatcher, call, failures, reported) for call in calls)
    return list(await asyncio.gather(*runs))


async def _run_one(
    dispatcher: Dispatcher,
    call: Item,
    failures: Mapping[str, ToolFailure],
    reported: ReportedResults | None,
) -> FinishedCall:
    if (failure := failures.get(call["call_id"])) is not None:
        return finished(call, ResultBuilder.of_failure(call["name"], failure).whole())
    done = await dispatcher.call(
        call["name"],
        call.get("arguments", ""),
        call["call_id"],
        may_be_example=is_maybe_example(call),
    )
    return finished(call, done, reported)


def finished(call: Item, done: Dispatched, reported: ReportedResults | None = None) -> FinishedCall:
    """A call and its answer as item, event and record."""
    arguments = readable_arguments(call.get("arguments", ""))
    text, truncated = cut(for_model(done.result), done.more)
    news = for_model(done.for_model, reported, arguments, has_pictures=bool(done.images))
    sent, is_cut = cut(news, done.more)
    if is_cut and reported is not None:
        reported.forget()
    status: ToolCallStatus = "ok" if done.result.ok else "denied" if done.denied else "error"
    event = ToolCallOutput(
        call_id=call["call_id"],
        name=done.result.name,
        status=status,
        output=text,
        truncated=truncated,
        duration_ms=done.result.duration_ms,
        summary=done.summary,
        withheld=done.result.withheld,
        needs=done.needs,
        mime_bundle=done.mime_bundle,
    )
    record = ToolCallRecord(
        call_id=call["call_id"],
        name=done.result.name,
        arguments=arguments,
        status=status,
        output=done.result.to_wire(),
        duration_ms=done.result.duration_ms,
    )
    item = noted(output_item(call["call_id"], sent), done)
    return FinishedCall(item, event, record, done)


def readable_arguments(arguments: str) -> Any:
    """The arguments as JSON, or the model's text if they are not valid."""
    try:
        return parse_json(arguments or "{}", strict=False)
    except ValueError:
        return arguments


def aborted_call(call: Item, name: str) -> tuple[Item, ToolCallOutput, ToolCallRecord]:
    """The answer to a call that was not carried out, or not completely."""
    event = ToolCallOutput(
        call_id=call["call_id"], name=name, status="aborted", output="aborted", summary="Stopped"
    )
    record = ToolCallRecord(
        call_id=call["call_id"],
        name=name,
        arguments=readable_arguments(call.get("arguments", "")),
        status="aborted",
        output="aborted",
    )
    return output_item(call["call_id"], "aborted"), event, record


class RepeatedFailures:
    """Counts how often the same call failed in the same way in one turn. Calls of a tool that were
    cut off count as the same, whatever arguments were left."""

    LIMIT = 3

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def note(self, done: FinishedCall) -> bool:
        """Count a call; True once it has failed identically ``LIMIT`` times."""
        name, error = done.record.name, done.done.result.error
        key, cut = to_json([name, done.record.arguments]), to_json([name])
        if error is None:
            self._counts.pop(key, None)
            self._counts.pop(cut, None)
            return False
        key = cut if error.code == "cut_off" else key
        if error.code == "held_back":
            return False  # Another call failed.
        self._counts[key] = self._counts.get(key, 0) + 1
        return self._counts[key] >= self.LIMIT


# What a failure holds back among the calls that follow it in the same answer of the model.
#
# The model wrote them before it knew of the failure. Reads and changes continue, but no code is
# run: of a change that asks for a run, only the change is made. A failure in one notebook holds
# back runs in that notebook; any other failure (of a file, a kernel, an unknown tool) holds back
# all runs.


_CREATES_DOCUMENT = "document"
_TEXT_CELLS = ("markdown", "raw")
_HINT = "Repair that first; then call this again if it still fits."
_HINT_RUN = "Repair that first; then run it with runNotebookCells if it still fits."


@dataclass(frozen=True)
class _Failed:
    """A call that failed: its line, and the document that it was about (None: not just one)."""

    summary: str
    path: str | None
    creates: bool


class HeldBack:
    """The failures so far among the calls of one answer, and what they hold back."""

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
        """Take a call with its answer."""
        tool = self._registry.behind(done.record.name)
        if done.done.result.ok or (tool is not None and not tool.changes):
            return
        path = self._path(tool, done.record.arguments)
        # The model's copy, since the line may quote an error that is withheld from it.
        summary = done.done.summary_for_model
        creates = tool is not None and tool.group == _CREATES_DOCUMENT
        self._failed.append(_Failed(summary, path, creates))

    def whole(self, call: Item) -> ToolFailure | None:
        """Why a call is not made at all; None if it is made."""
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
        """Why the run that a change asks for is held back; None if it is not, or asks for none."""
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
        """The document that a call is about; None if it is about something else, or unknown."""
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
    """Make only the change of a call that also asks for a run, and say that it was not run."""
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
    """The first of these arguments that has a value; None if the arguments cannot be read."""
    values = [arguments.get(name) for name in names] if isinstance(arguments, dict) else []
    return next((each for each in values if each), None)


def _works_on_document(tool: Tool) -> bool:
    return tool.needs_notebook or tool.needs_lexical or tool.group in ("kernel", "dataset")
