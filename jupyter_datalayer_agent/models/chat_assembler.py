"""Assembles one answer from the chunks of a chat completion.

Chunks mark the end of the answer, but not of an item, so items are completed at the end. In a
broken stream, text is complete if something follows it, and a call if its arguments are a JSON
object.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jupyter_datalayer_agent.protocol.json_text import without_halves
from jupyter_datalayer_agent.protocol.requests import Usage

from .chat_messages import is_json_object
from .drafts import AnswerDraft, AnswerSize, broken_stream
from .stream_bytes import bytes_of
from .tokens import cache_written_of, usage_of
from .types import (
    CONNECTION_LOST,
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

_FINISH_REASONS = {
    "length": "max_output_tokens",
    "content_filter": "content_filter",
    CONNECTION_LOST: CONNECTION_LOST,
    SIZE_LIMIT: SIZE_LIMIT,
}


@dataclass
class ChatAssembler:
    """See ``drafts.Assembler``. ``taken`` are the ids of earlier calls, which some servers reuse in
    each answer."""

    taken: set[str] = field(default_factory=set)
    _drafts: dict[str, AnswerDraft] = field(default_factory=dict)
    _size: AnswerSize = field(default_factory=AnswerSize)
    _refused: set[str] = field(default_factory=set)
    _has_refused: bool = False
    _calls: dict[int, tuple[str, str | None]] = field(default_factory=dict)
    """The item id and the provider's id of each call, by its index."""
    _thinking: list[dict[str, Any]] = field(default_factory=list)
    _started: bool = False
    _usage: Usage = field(default_factory=Usage)
    _cache_written: int = 0
    _finish_reason: str | None = None
    ended: bool = False

    @property
    def is_over(self) -> bool:
        """See ``drafts.Assembler``."""
        return self._size.is_over

    def keep_refusals(self, source: Any) -> None:
        """Make litellm's stream ``source`` pass on the chunks of a refusal, which it would drop, as
        text."""
        stream = getattr(source, "completion_stream", None)
        chunks = getattr(stream, "_iterator", None)
        if stream is not None and chunks is not None:
            stream._iterator = self._with_refusals(chunks)

    async def _with_refusals(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for chunk in chunks:
            for choice in getattr(chunk, "choices", None) or []:
                refusal = getattr(choice.delta, "refusal", None)
                if isinstance(refusal, str) and refusal and not choice.delta.content:
                    choice.delta.content, choice.delta.refusal = refusal, None
                    self._has_refused = True
            yield chunk

    def feed(self, event: Any) -> Iterator[StreamEvent]:
        """The events of a chunk."""
        if not self._started:
            self._started = True
            yield StreamStarted()
        for choice in event.choices[:1]:
            yield from self._part(choice.delta)
            self._finish_reason = choice.finish_reason or self._finish_reason
        self._count(event)

    def feed_whole(self, response: Any) -> Iterator[StreamEvent]:
        """The events of an answer that was not streamed."""
        self._started = True
        yield StreamStarted()
        for choice in response.choices[:1]:
            message = choice.message
            if getattr(message, "reasoning_content", None) and message.content:
                # litellm leaves the space that stood between them.
                message.content = message.content.lstrip()
            for event in self._part(message):
                if not isinstance(event, FunctionCallStarted):
                    yield event
            self._finish_reason = choice.finish_reason
        self._count(response)

    def is_whole(self, source: Any) -> bool:
        """Whether the server said that the answer ended, with a reason or only with ``[DONE]``;
        then a call may still be cut off. litellm invents missing reasons and usage."""
        if not any(getattr(chunk, "usage", None) for chunk in getattr(source, "chunks", ())):
            self._usage = Usage()
        if self._has_reason(source):
            return True
        seen = bytes_of(source)
        return seen is not None and seen.has_ended and all(map(_is_sound, self._drafts.values()))

    def has_reason(self, source: Any) -> bool:
        """See ``drafts.Assembler``."""
        return bool(self._drafts) and self._has_reason(source)

    def _has_reason(self, source: Any) -> bool:
        reasons = ("received_finish_reason", "intermittent_finish_reason")
        known = [getattr(source, name) for name in reasons if hasattr(source, name)]
        said = next(filter(None, known), None)
        if known and said is None:
            return False
        # Where the connection is lost after it, litellm has not passed it on.
        self._finish_reason = self._finish_reason or said
        return self._finish_reason is not None

    def may_be_whole(self) -> bool:
        """Whether there is an answer, with complete arguments in its calls."""
        calls = [draft for draft in self._drafts.values() if draft.kind == "function_call"]
        return bool(self._drafts) and all(is_json_object(call.text) for call in calls)

    def was_shown(self) -> bool:
        """False: chunks do not say that a message is complete."""
        return False

    def end_as(self, reason: str) -> None:
        """See ``drafts.Assembler``."""
        self._finish_reason = reason

    def finish(self) -> Iterator[StreamEvent]:
        """The items, and the end."""
        reason = _FINISH_REASONS.get(self._finish_reason or "", "stop")
        last = next(reversed(self._drafts), None)
        for item_id, draft in self._drafts.items():
            draft.item = without_halves(self._made(item_id, draft))
            if item_id == last and reason != "stop":
                draft.item["status"] = "incomplete"
            yield ItemDone(item_id, draft.item)
        items = tuple(draft.item for draft in self._drafts.values() if draft.item is not None)
        yield ResponseDone(items, self._usage, reason, self._cache_written)

    def recover(self) -> Iterator[ItemDone]:
        """The items that were complete when the stream broke."""
        last = len(self._drafts) - 1
        for position, (item_id, draft) in enumerate(self._drafts.items()):
            followed = draft.kind == "message" and position < last
            called = draft.kind == "function_call" and draft.name and is_json_object(draft.text)
            if followed or called:
                draft.item = without_halves(self._made(item_id, draft))
                yield ItemDone(item_id, draft.item)

    def broken(self) -> BrokenStream:
        """The complete and the incomplete items, after ``recover``."""
        return broken_stream(self._drafts)

    def _count(self, event: Any) -> None:
        """Usage comes with the very last chunk, after the finish reason."""
        usage = getattr(event, "usage", None)
        if usage is not None:
            self._usage = usage_of(usage)
            self._cache_written = cache_written_of(usage)
            self.ended = self._finish_reason is not None

    def _part(self, delta: Any) -> Iterator[StreamEvent]:
        """A chunk of the message, or all of it."""
        for block in getattr(delta, "thinking_blocks", None) or []:
            self._think(block)
        reasoning = getattr(delta, "reasoning_content", None)
        if reasoning and (reasoning := self._size.take(reasoning)):
            item_id = self._begun("reasoning", "rs")
            self._drafts[item_id].add(reasoning)
            yield ReasoningChunk(item_id, reasoning)
        refusal = _refusal(delta)
        for text in filter(None, (getattr(delta, "content", None), refusal)):
            if not (kept := self._size.take(text)):
                break
            item_id = self._begun("message", "msg")
            self._drafts[item_id].add(kept)
            if text is refusal:
                self._refused.add(item_id)
            yield TextChunk(item_id, kept)
        for position, call in enumerate(getattr(delta, "tool_calls", None) or []):
            yield from self._call(call, position)

    def _begun(self, kind: str, prefix: str) -> str:
        """The id of the answer's one item of this kind."""
        for item_id, draft in self._drafts.items():
            if draft.kind == kind:
                return item_id
        return self._new(kind, prefix)

    def _new(self, kind: str, prefix: str) -> str:
        # It is sent with each chunk of the text.
        item_id = f"{prefix}_{uuid.uuid4().hex[:16]}"
        self._drafts[item_id] = AnswerDraft(kind)
        return item_id

    def _call(self, call: Any, position: int) -> Iterator[StreamEvent]:
        index = getattr(call, "index", None)
        index = position if index is None else index
        given = call.id or None
        name, written = call.function.name or "", call.function.arguments or ""
        if not isinstance(written, str):
            written = json.dumps(written, ensure_ascii=False)
        known = self._calls.get(index)
        if known is None or self._is_another(known, given, name, written):
            known = (self._new("function_call", "fc"), given)
            self._calls[index] = known
            self._drafts[known[0]].call_id = self._call_id(given)
        item_id, draft = known[0], self._drafts[known[0]]
        draft.add(self._size.take(written))
        # Some providers repeat the name in every chunk.
        if name and not draft.name:
            draft.name = name
            yield FunctionCallStarted(item_id, draft.call_id, name)

    def _is_another(
        self, known: tuple[str, str | None], given: str | None, name: str, written: str
    ) -> bool:
        """Whether a chunk begins another call under a used index: some servers do not count calls,
        and some give each chunk its own id.

        Nothing can follow the JSON object of a call's arguments, and no call has two names.
        """
        item_id, id_before = known
        draft = self._drafts[item_id]
        if name and draft.name and name != draft.name:
            return True
        has_new_id = given is not None and id_before is not None and given != id_before
        begins = has_new_id or bool(name and draft.name and written.strip())
        return begins and draft.last_piece.rstrip().endswith("}") and is_json_object(draft.text)

    def _call_id(self, given: str | None) -> str:
        """The provider's id, or a new one if it is missing or used by another call."""
        call_id = given if given and given not in self.taken else f"call_{uuid.uuid4().hex[:24]}"
        self.taken.add(call_id)
        return call_id

    def _think(self, block: Mapping[str, Any]) -> None:
        """Collect chunks of thinking, which belong together until one of them is signed."""
        self._begun("reasoning", "rs")
        if block.get("type") != "thinking":
            self._thinking.append(dict(block))
            return
        open_block = self._thinking[-1] if self._thinking else {}
        if open_block.get("type") != "thinking" or open_block.get("signature"):
            open_block = {"type": "thinking", "thinking": ""}
            self._thinking.append(open_block)
        open_block["thinking"] += block.get("thinking") or ""
        if block.get("signature"):
            open_block["signature"] = block["signature"]

    def _made(self, item_id: str, draft: AnswerDraft) -> Item:
        """The item as the Responses API would have delivered it."""
        if draft.kind == "function_call":
            return {
                "id": item_id,
                "type": "function_call",
                "status": "completed",
                "name": draft.name,
                "arguments": draft.text,
                "call_id": draft.call_id,
            }
        if draft.kind == "reasoning":
            summary = [{"type": "summary_text", "text": draft.text}] if draft.text else []
            item: Item = {"id": item_id, "type": "reasoning", "summary": summary}
            signed = [
                block for block in self._thinking if block.get("signature") or "data" in block
            ]
            if signed:
                item["encrypted_content"] = json.dumps(signed, separators=(",", ":"))
            return item
        part: dict[str, Any] = {"type": "output_text", "text": draft.text, "annotations": []}
        if self._has_refused or item_id in self._refused:
            part = {"type": "refusal", "refusal": draft.text}
        return {
            "id": item_id,
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }


def _is_sound(draft: AnswerDraft) -> bool:
    return draft.kind != "function_call" or is_json_object(draft.text or "{}")


def _refusal(delta: Any) -> str | None:
    """Why the model does not answer, which litellm keeps among the provider's own fields."""
    own = getattr(delta, "provider_specific_fields", None) or {}
    refusal = getattr(delta, "refusal", None) or own.get("refusal")
    return refusal if isinstance(refusal, str) else None
