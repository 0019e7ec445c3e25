"""Reads an answer as it streams, and turns calls that the model wrote as text into real calls.

Text that may become a call is held back until that is decided; other text is passed on at once.
"""

from __future__ import annotations

import re
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

# Detects an answer that repeats itself: small models can do so until their context window is full.


LONGEST = 600
"""The longest repeated piece that is detected, in characters."""
TIMES = 8
"""The least number of consecutive repetitions of a piece."""
LEAST = 3000
"""The least number of characters in all repetitions, because tables may have equal rows."""

_EVERY = 500
_END = 80
_TAIL = LONGEST * TIMES + 2 * _EVERY
_LIST_NUMBER = re.compile(r"^[ \t]*\d+[.)]", re.MULTILINE)


class Repetition:
    """Detects repetition in the text of one answer; numbers of list items may differ."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._tail = ""
        self._since = 0

    def has_begun(self, delta: str) -> bool:
        """Whether the text repeats itself once ``delta`` is appended. Takes constant time."""
        self._parts.append(delta)
        self._tail = (self._tail + delta)[-_TAIL:]
        self._since += len(delta)
        if self._since < _EVERY:
            return False
        self._since = 0
        text = _LIST_NUMBER.sub("", self._tail)
        period = _period(text)
        return period is not None and _is_periodic(text, period, max(LEAST, TIMES * period))

    def text(self) -> str:
        """The text, cut off after the second of the repeated pieces."""
        lines = "".join(self._parts).splitlines(keepends=True)
        bare = [_LIST_NUMBER.sub("", line) for line in lines]
        text = "".join(bare)
        period = _period(text)
        if period is None:
            return "".join(lines)
        begin = len(text) - period
        while begin and text[begin - 1] == text[begin - 1 + period]:
            begin -= 1
        left = begin + 2 * period
        kept = []
        for line, without in zip(lines, bare, strict=True):
            kept.append(line[: left + len(line) - len(without)])
            left -= len(without)
            if left <= 0:
                break
        return "".join(kept)


def _period(text: str) -> int | None:
    """The distance, in characters, from the text's end to where that end last occurred before."""
    if len(text) <= _END:
        return None
    before = text.rfind(text[-_END:], 0, len(text) - 1)
    return None if before < 0 else len(text) - _END - before


def _is_periodic(text: str, period: int, size: int) -> bool:
    """Whether the last ``size`` characters are one piece of ``period`` characters, repeated."""
    if period > LONGEST or len(text) < size:
        return False
    return text[period - size :] == text[-size:-period]


class AnswerReader:
    """Reads one stream of one request. Without a ``policy``, no text becomes a call.

    ``notice`` is set at the end of an answer that has calls as text which were not made.
    ``failures`` maps the ids of the calls that are returned to the model to their failures.
    """

    def __init__(self, request: ModelRequest, policy: WrittenCallPolicy | None) -> None:
        self._request = request
        self._policy = policy
        self._names = {str(tool.get("name")) for tool in request.tools}
        # The text that may become a call, and the text after that was decided.
        self._text = ""
        self._rest: list[str] = []
        self._is_open = policy is not None
        self._is_call = False
        self._held: list[StreamEvent] = []
        self._has_calls = False
        self.notice: NotDone | None = None
        self.failures: dict[str, ToolFailure] = {}

    def feed(self, event: StreamEvent) -> Iterator[StreamEvent]:
        """Yield the events to show and keep, as far as that is decided."""
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
        """Yield what was held back, as text; the rest of the answer is text, too."""
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
        """Drop the text so far, because it is not part of the answer."""
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
        """Yield the calls in place of the text."""
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
