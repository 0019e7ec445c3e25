"""Reads an answer as it streams, and makes calls of those that the model wrote as text.

Text that may become a call is held back until that is decided; all other text goes on at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...models.types import (
    FunctionCallStarted,
    Item,
    ItemDone,
    ItemTakenBack,
    ModelRequest,
    ResponseDone,
    StreamEvent,
    TextChunk,
)
from ...protocol.tools import NotDone
from ...tools.context import ToolFailure
from ..tool_calls.written_call_policy import AcceptedCall, WrittenCallPolicy
from ..tool_calls.written_calls import Beginning, beginning


class AnswerReader:
    """For one stream of one request; without a ``policy`` all text is text.

    ``notice`` is there at the end of an answer with calls as text that were not carried out;
    ``failures`` are those, by call id, of calls that are given back to the model.
    """

    def __init__(self, request: ModelRequest, policy: WrittenCallPolicy | None) -> None:
        self._request = request
        self._policy = policy
        self._names = {str(tool.get("name")) for tool in request.tools}
        # The text while it may still become a call, and the rest.
        self._text = ""
        self._rest: list[str] = []
        self._is_open = policy is not None
        self._is_call = False
        self._held: list[StreamEvent] = []
        self._has_calls = False
        self.notice: NotDone | None = None
        self.failures: dict[str, ToolFailure] = {}

    def feed(self, event: StreamEvent) -> Iterator[StreamEvent]:
        """What is to be shown and kept of the answer so far."""
        if self._policy is None:
            yield event
        elif isinstance(event, TextChunk):
            yield from self._take_text(event)
        elif isinstance(event, ItemTakenBack):
            yield from self._take_back(event)
        elif _begins_call(event):
            self._has_calls = True
            yield from self.release()
            yield event
        elif isinstance(event, ResponseDone):
            yield from self._end(event, self._policy)
        elif self._held:
            self._held.append(event)
        else:
            yield event

    def release(self) -> Iterator[StreamEvent]:
        """What was held back, as the text that it is; the rest of the answer is text, too."""
        self._is_open = False
        held, self._held = self._held, []
        yield from held

    def _take_text(self, chunk: TextChunk) -> Iterator[StreamEvent]:
        if not self._is_open:
            self._rest.append(chunk.delta)
            yield chunk
            return
        self._held.append(chunk)
        if self._is_call:
            self._rest.append(chunk.delta)
            return
        self._text += chunk.delta
        state = beginning(self._text, self._names)
        self._is_call = state is Beginning.CALL
        if state is Beginning.TEXT:
            yield from self.release()

    def _take_back(self, event: ItemTakenBack) -> Iterator[StreamEvent]:
        """The text so far was none of the answer."""
        held = [
            each
            for each in self._held
            if not (isinstance(each, TextChunk) and each.item_id == event.item_id)
        ]
        self._text, self._held, self._is_call, self._is_open = "", [], False, not self._has_calls
        self._rest.clear()
        yield from held
        yield event

    def _end(self, done: ResponseDone, policy: WrittenCallPolicy) -> Iterator[StreamEvent]:
        is_cut = done.finish_reason != "stop"
        written = self._text + "".join(self._rest)
        calls = policy.accepted(written, self._request) if self._held and not is_cut else []
        if calls:
            yield from self._make_calls(calls, done)
            return
        yield from self.release()
        self.notice = policy.notice(
            written, self._request, has_calls=self._has_calls, is_cut=is_cut
        )
        yield done

    def _make_calls(self, calls: list[AcceptedCall], done: ResponseDone) -> Iterator[StreamEvent]:
        """The calls in place of the text."""
        rest = [
            each for each in self._held if isinstance(each, ItemDone) and not _is_text(each.item)
        ]
        self._held = []
        made = [call.item() for call in calls]
        for call, item in zip(calls, made, strict=True):
            if call.failure is not None:
                self.failures[item["call_id"]] = call.failure
        yield from rest
        for item in made:
            yield FunctionCallStarted(item["id"], item["call_id"], item["name"])
            yield ItemDone(item["id"], item)
        yield replace(done, items=(*(item for item in done.items if not _is_text(item)), *made))


def _begins_call(event: StreamEvent) -> bool:
    if isinstance(event, ItemDone):
        return event.item.get("type") == "function_call"
    return isinstance(event, FunctionCallStarted)


def _is_text(item: Item) -> bool:
    return item.get("type") == "message"
