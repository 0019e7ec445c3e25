"""From litellm's events of the Responses API to ours: one answer being put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from jupyter_datalayer_agent.protocol.json_text import without_halves
from jupyter_datalayer_agent.protocol.requests import Usage

from .drafts import AnswerDraft, AnswerSize, broken_stream, text_of
from .tokens import usage_of
from .types import (
    SIZE_LIMIT,
    BrokenStream,
    FunctionCallStarted,
    Item,
    ItemDone,
    ReasoningChunk,
    ResponseDone,
    StreamEvent,
    StreamStarted,
    TextChunk,
)

_TEXT = ("response.output_text.delta", "response.refusal.delta")
_REASONING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_ARGUMENTS = "response.function_call_arguments.delta"
_ENDS = ("response.completed", "response.incomplete")


@dataclass
class ResponsesAssembler:
    """See ``drafts.Assembler``. Each item arrives whole, and is announced at once."""

    _drafts: dict[str, AnswerDraft] = field(default_factory=dict)
    _size: AnswerSize = field(default_factory=AnswerSize)
    _started: bool = False
    _usage: Usage = field(default_factory=Usage)
    _finish_reason: str = "stop"
    _announced: int = 0
    """Items that were begun and have not ended."""
    ended: bool = False

    @property
    def is_over(self) -> bool:
        """See ``drafts.Assembler``."""
        return self._size.is_over

    def feed(self, event: Any) -> Iterator[StreamEvent]:
        """The events that follow from one of litellm's."""
        kind = str(getattr(event.type, "value", event.type))
        if not self._started:
            self._started = True
            yield StreamStarted()
        if kind in _TEXT:
            yield from self._delta(event, "message")
        elif kind in _REASONING:
            yield from self._delta(event, "reasoning")
        elif kind == _ARGUMENTS:
            self._draft(event.item_id, "function_call").add(self._size.take(event.delta or ""))
        elif kind == "response.output_item.added":
            self._announced += 1
            yield from self._added(_as_dict(event.item))
        elif kind == "response.output_item.done":
            self._announced = max(0, self._announced - 1)
            yield from self._ended(_as_dict(event.item))
        elif kind in _ENDS:
            self._end(event.response)
            yield from self._rest(event.response.output or [])

    def feed_whole(self, response: Any) -> Iterator[StreamEvent]:
        """The events of an answer that was not streamed."""
        yield StreamStarted()
        for item in map(_as_dict, response.output):
            if item.get("type") == "message":
                yield from self._shown(item)
            yield from self._ended(item)
        self._end(response)

    def is_whole(self, source: Any) -> bool:
        """Whether the event that ends a complete answer has arrived."""
        return self.ended

    def has_reason(self, source: Any) -> bool:
        """The same: the event has the reason."""
        return self.ended

    def may_be_whole(self) -> bool:
        """False: every server of this API ends an answer by an event."""
        return False

    def was_shown(self) -> bool:
        """Whether the last item is a message, all items are whole, and no other was announced."""
        drafts = list(self._drafts.values())
        items = [draft.item for draft in drafts if draft.item is not None]
        is_open = len(items) < len(drafts) or self._announced > 0
        if is_open or not items:
            return False
        # Commentary is what a model says before it goes on.
        return items[-1].get("type") == "message" and items[-1].get("phase") != "commentary"

    def end_as(self, reason: str) -> None:
        """See ``drafts.Assembler``."""
        self._finish_reason = reason

    def finish(self) -> Iterator[StreamEvent]:
        """The end; all items have been announced, unless it was cut off at a limit."""
        if self._finish_reason == SIZE_LIMIT:
            yield from self._rest([])
        items = [draft.item for draft in self._drafts.values() if draft.item is not None]
        yield ResponseDone(tuple(items), self._usage, self._finish_reason)

    def recover(self) -> Iterator[ItemDone]:
        """Nothing: what was whole has been announced."""
        yield from ()

    def broken(self) -> BrokenStream:
        """What was whole, and what was not."""
        return broken_stream(self._drafts)

    def _draft(self, item_id: str, kind: str) -> AnswerDraft:
        return self._drafts.setdefault(item_id, AnswerDraft(kind))

    def _delta(self, event: Any, kind: str) -> Iterator[StreamEvent]:
        delta = self._size.take(event.delta or "")
        if not delta:
            return
        item_id = event.item_id or f"{kind}_0"
        self._draft(item_id, kind).add(delta)
        yield TextChunk(item_id, delta) if kind == "message" else ReasoningChunk(item_id, delta)

    def _added(self, item: Item) -> Iterator[StreamEvent]:
        if item.get("type") != "function_call":
            return
        draft = self._draft(item["id"], "function_call")
        draft.name, draft.call_id = item.get("name") or "", item.get("call_id") or ""
        yield FunctionCallStarted(item["id"], draft.call_id, draft.name)

    def _shown(self, item: Item) -> Iterator[StreamEvent]:
        text = self._size.take(text_of(item))
        if text:
            self._draft(_id_of(item), "message").add(text)
            yield TextChunk(_id_of(item), text)

    def _ended(self, item: Item) -> Iterator[StreamEvent]:
        kind = str(item.get("type"))
        item_id = self._shown_id(kind, item)
        if kind == "message" and not text_of(item):
            self._drafts.pop(item_id, None)
            return
        draft = self._draft(item_id, kind)
        if not draft.text:
            # The item came in one piece.
            draft.add(self._size.take(item.get("arguments") or text_of(item)))
            if self._size.is_over:
                draft.name, draft.call_id = item.get("name") or "", item.get("call_id") or ""
                return
        already = draft.item is not None
        draft.item = item = without_halves(item)
        draft.call_id = item.get("call_id") or ""
        if not already:
            yield ItemDone(item_id, item)

    def _rest(self, output: Iterable[Any]) -> Iterator[StreamEvent]:
        """Items that did not end before the answer did, which was cut off: as the end has them, or
        as far as they had come."""
        whole = {_id_of(item): item for item in map(_as_dict, output)}
        for item_id, draft in self._drafts.items():
            if draft.item is None and draft.kind in ("message", "function_call"):
                item = whole.get(item_id) or _cut(item_id, draft)
                draft.item = without_halves(item)
                draft.call_id = item.get("call_id") or ""
                yield ItemDone(item_id, draft.item)

    def _shown_id(self, kind: str, item: Item) -> str:
        """The id under which an item was begun; not all servers end it under the same."""
        item_id = _id_of(item)
        if item_id in self._drafts:
            return item_id
        for shown, draft in self._drafts.items():
            same_call = kind == "function_call" and draft.call_id == item.get("call_id")
            if draft.kind == kind and same_call:
                return shown
        return item_id

    def _end(self, response: Any) -> None:
        """Its usage, and why it ended."""
        self._usage = usage_of(getattr(response, "usage", None))
        reason = getattr(getattr(response, "incomplete_details", None), "reason", None)
        cut = str(getattr(response, "status", None)) == "incomplete"
        self._finish_reason = str(reason or ("max_output_tokens" if cut else "stop"))
        self.ended = True


def _cut(item_id: str, draft: AnswerDraft) -> Item:
    item: Item = {"id": item_id, "type": draft.kind, "status": "incomplete"}
    if draft.kind == "function_call":
        return {**item, "name": draft.name, "arguments": draft.text, "call_id": draft.call_id}
    part = {"type": "output_text", "text": draft.text, "annotations": []}
    return {**item, "role": "assistant", "content": [part]}


def _id_of(item: Item) -> str:
    return str(item.get("id") or item.get("call_id") or item.get("type"))


def _as_dict(item: Any) -> Item:
    """An item as plain JSON, without what is ``None``; it may be of litellm's or openai's
    classes."""
    if isinstance(item, dict):
        return {name: value for name, value in item.items() if value is not None}
    dumped: Item = item.model_dump(mode="json", exclude_none=True, warnings=False)
    return dumped
