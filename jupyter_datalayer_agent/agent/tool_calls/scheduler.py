"""The tool calls of one model answer: run, cut for the model, and emitted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ...protocol.events import ToolCallOutput
from ...protocol.json_text import parse_json, to_json
from ...protocol.pictures import names_of_pictures
from ...protocol.requests import ToolCallRecord
from ...protocol.tools import ToolCallStatus
from ...tools.context import ToolFailure
from ...tools.dispatcher import Dispatcher
from ...tools.limits import cut
from ...tools.outputs import named
from ...tools.pictures import fitted
from ...tools.registry import ToolRegistry
from ...tools.result import Dispatched, ResultBuilder
from ..approvals.data_sharing import noted, noted_pictures
from ..history.history import Item, output_item
from ..history.tool_output import ReportedResults, for_model
from .written_call_policy import is_maybe_example


@dataclass(frozen=True)
class FinishedCall:
    """A call that has its answer: the item for the model, the event and the record."""

    item: Item
    event: ToolCallOutput
    record: ToolCallRecord
    done: Dispatched

    async def pictures(self, sent: Iterable[Item]) -> Item:
        """The pictures of the output, for a model that sees; those that are among the items that
        it is ``sent`` anyway are only named."""
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
                # Some APIs join texts without anything between them.
                parts[-1]["text"] += f"\n{said}"
            else:
                parts.append({"type": "input_text", "text": said})
            if is_new:
                parts.append({"type": "input_image", "image_url": address})
        return noted_pictures({"type": "message", "role": "user", "content": parts})


def is_parallel(registry: ToolRegistry, name: str) -> bool:
    """Whether a call of that name may run beside its neighbours."""
    tool = registry.behind(name)
    return tool is not None and tool.parallel


def schedule(registry: ToolRegistry, calls: Sequence[Item]) -> list[list[Item]]:
    """The calls in order, in groups: neighbouring reads together, all others one by one."""
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
    """Run a group's calls together; the results keep their order. Those in ``failures`` (by id)
    are not run: they have failed before. ``reported`` is what the model knows from results."""
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
    """A call with its answer as item, event and record."""
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
    """The arguments as JSON, or the model's text where they are not."""
    try:
        return parse_json(arguments or "{}", strict=False)
    except ValueError:
        return arguments


def aborted_call(call: Item, name: str) -> tuple[Item, ToolCallOutput, ToolCallRecord]:
    """The answer to a call that was not, or not wholly, carried out."""
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
    """Counts how often the same call failed in the same way, in one turn. Calls of a tool that were
    cut off are the same whatever was left of their arguments."""

    LIMIT = 3

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def note(self, done: FinishedCall) -> bool:
        """Count a call; True when it has failed identically ``LIMIT`` times."""
        name, error = done.record.name, done.done.result.error
        key, cut = to_json([name, done.record.arguments]), to_json([name])
        if error is None:
            self._counts.pop(key, None)
            self._counts.pop(cut, None)
            return False
        key = cut if error.code == "cut_off" else key
        if error.code == "held_back":
            return False  # It was another call that failed.
        self._counts[key] = self._counts.get(key, 0) + 1
        return self._counts[key] >= self.LIMIT
