"""From litellm's stream events, whichever API they come from, to ours: one answer being put
together.

The Responses API delivers each item whole. The bridge from chat completions makes its items up,
sends their ends only when the stream has ended, and does so for a stream that was cut, too; so its
items are held back until the end is known to be one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from jupyter_datalayer_agent.protocol.requests import Usage

from .tokens import usage_of
from .types import (
    BrokenStream,
    FunctionCallStarted,
    Item,
    ItemDone,
    ReasoningDelta,
    ResponseDone,
    StreamEvent,
    StreamStarted,
    TextDelta,
)

_TEXT = ("response.output_text.delta", "response.refusal.delta")
_REASONING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_ARGUMENTS = "response.function_call_arguments.delta"
_ENDS = ("response.completed", "response.incomplete")


@dataclass
class _Draft:
    """An item of which something has arrived."""

    kind: str
    text: str = ""
    name: str = ""
    call_id: str = ""
    item: Item | None = None
    """The whole item, once it has ended."""


@dataclass
class Assembler:
    """Feed it litellm's events; it yields ours, and knows what was whole if the stream breaks.

    ``bridged``: the events come from litellm's bridge to chat completions."""

    bridged: bool
    _drafts: dict[str, _Draft] = field(default_factory=dict)
    _started: bool = False
    _usage: Usage = field(default_factory=Usage)
    _response_id: str | None = None
    _finish_reason: str = "stop"
    ended: bool = False
    """The event that ends a complete answer has arrived."""

    def feed(self, event: Any) -> Iterator[StreamEvent]:
        """The events that follow from one of litellm's."""
        kind = str(getattr(event.type, "value", event.type))
        if not self._started:
            self._started = True
            self._response_id = getattr(getattr(event, "response", None), "id", None)
            yield StreamStarted(self._response_id)
        if kind in _TEXT:
            yield from self._delta(event, "message")
        elif kind in _REASONING:
            yield from self._delta(event, "reasoning")
        elif kind == _ARGUMENTS:
            self._draft(event.item_id, "function_call").text += event.delta or ""
        elif kind == "response.output_item.added":
            yield from self._added(_as_dict(event.item))
        elif kind == "response.output_item.done":
            yield from self._ended(_as_dict(event.item))
        elif kind in _ENDS:
            self._end(event.response)

    def feed_whole(self, response: Any) -> Iterator[StreamEvent]:
        """The events of an answer that was not streamed."""
        self._response_id = getattr(response, "id", None)
        yield StreamStarted(self._response_id)
        for item in map(_as_dict, response.output):
            if item.get("type") == "message":
                yield from self._shown(item)
            yield from self._ended(item)
        self._end(response)

    def finish(self) -> Iterator[StreamEvent]:
        """What remains to be said once the end of the stream is known to be sound."""
        items = [draft.item for draft in self._drafts.values() if draft.item is not None]
        if self.bridged:
            for item_id, draft in self._drafts.items():
                if draft.item is not None:
                    yield ItemDone(item_id, draft.item)
        yield ResponseDone(tuple(items), self._usage, self._response_id, self._finish_reason)

    def recover(self) -> Iterator[ItemDone]:
        """The items that were whole when the stream broke and have not been announced yet.

        Over the bridge nothing says that an item has ended; but text has once something follows it,
        and a call has once its arguments are a JSON object."""
        if not self.bridged:
            return
        last = len(self._drafts) - 1
        for position, (item_id, draft) in enumerate(self._drafts.items()):
            draft.item = self._recovered(draft, followed=position < last)
            if draft.item is not None:
                yield ItemDone(item_id, draft.item)

    def broken(self) -> BrokenStream:
        """What was whole, and what was not, after ``recover``."""
        whole = [draft.item for draft in self._drafts.values() if draft.item is not None]
        partial = [item_id for item_id, draft in self._drafts.items() if draft.item is None]
        return BrokenStream(tuple(whole), tuple(partial))

    def _recovered(self, draft: _Draft, *, followed: bool) -> Item | None:
        if draft.kind == "function_call" and draft.name and is_json_object(draft.text):
            return {
                "type": "function_call",
                "call_id": draft.call_id,
                "name": draft.name,
                "arguments": draft.text,
            }
        if draft.kind == "message" and followed:
            content = [{"type": "output_text", "text": draft.text, "annotations": []}]
            return {"type": "message", "role": "assistant", "content": content}
        return None

    def _draft(self, item_id: str, kind: str) -> _Draft:
        return self._drafts.setdefault(item_id, _Draft(kind))

    def _delta(self, event: Any, kind: str) -> Iterator[StreamEvent]:
        delta = event.delta or ""
        if not delta:
            return
        item_id = event.item_id or f"{kind}_0"
        self._draft(item_id, kind).text += delta
        yield TextDelta(item_id, delta) if kind == "message" else ReasoningDelta(item_id, delta)

    def _added(self, item: Item) -> Iterator[StreamEvent]:
        if item.get("type") != "function_call":
            return
        draft = self._draft(item["id"], "function_call")
        draft.name, draft.call_id = item.get("name") or "", item.get("call_id") or ""
        yield FunctionCallStarted(item["id"], draft.call_id, draft.name)

    def _shown(self, item: Item) -> Iterator[StreamEvent]:
        text = text_of(item)
        if text:
            self._draft(_id_of(item), "message").text = text
            yield TextDelta(_id_of(item), text)

    def _ended(self, item: Item) -> Iterator[StreamEvent]:
        kind = str(item.get("type"))
        item_id = self._shown_id(kind, item)
        if kind == "reasoning":
            item = _sound_reasoning(item)
        if kind == "message" and not text_of(item):
            self._drafts.pop(item_id, None)
            return
        draft = self._draft(item_id, kind)
        already = draft.item is not None
        draft.item = item
        draft.call_id = item.get("call_id") or ""
        if not already and not self.bridged:
            yield ItemDone(item_id, item)

    def _shown_id(self, kind: str, item: Item) -> str:
        """The id under which an item was begun: the bridge may end it under another."""
        item_id = _id_of(item)
        if item_id in self._drafts:
            return item_id
        for shown, draft in self._drafts.items():
            same_call = kind == "function_call" and draft.call_id == item.get("call_id")
            open_reasoning = kind == "reasoning" and draft.item is None
            if draft.kind == kind and (same_call or (self.bridged and open_reasoning)):
                return shown
        return item_id

    def _end(self, response: Any) -> None:
        """Take the answer's own list of items for what the stream did not deliver (the bridge of
        litellm before 1.106 ends no reasoning items), its usage, and why it ended."""
        for item in map(_as_dict, response.output or []):
            if not self._delivered(item):
                list(self._ended(item))
        self._usage = usage_of(getattr(response, "usage", None))
        reason = getattr(getattr(response, "incomplete_details", None), "reason", None)
        cut = str(getattr(response, "status", None)) == "incomplete"
        self._finish_reason = str(reason or ("max_output_tokens" if cut else "stop"))
        self.ended = True

    def _delivered(self, item: Item) -> bool:
        """Whether ``item`` of the final list, or one that must be it, has already ended."""
        kind = item.get("type")
        drafts = [draft for draft in self._drafts.values() if draft.kind == kind]
        if kind == "function_call":
            drafts = [draft for draft in drafts if draft.call_id == item.get("call_id")]
        return bool(drafts) and all(draft.item is not None for draft in drafts)


def is_json_object(text: str) -> bool:
    """Whether ``text`` is a whole JSON object, as a call's arguments are."""
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def text_of(item: Item) -> str:
    """The text of a message item, a refusal included."""
    parts = item.get("content") or []
    return "".join(part.get("text") or part.get("refusal") or "" for part in parts)


def _id_of(item: Item) -> str:
    return str(item.get("id") or item.get("call_id") or item.get("type"))


def _as_dict(item: Any) -> Item:
    """An item as plain JSON, without what is ``None``; it may be of litellm's or openai's
    classes."""
    if isinstance(item, dict):
        return {name: value for name, value in item.items() if value is not None}
    dumped: Item = item.model_dump(mode="json", exclude_none=True, warnings=False)
    return dumped


def _sound_reasoning(item: Item) -> Item:
    """A reasoning item in its own form: the bridge writes some as messages, with ``content``."""
    if "role" not in item and "summary" in item:
        return item
    summary = [
        {"type": "summary_text", "text": part["text"]}
        for part in item.get("content") or []
        if part.get("text")
    ]
    kept = {name: value for name, value in item.items() if name not in ("role", "content")}
    return {**kept, "summary": kept.get("summary") or summary}
