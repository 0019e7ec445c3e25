"""Answers of the scripted model in the form of Anthropic's Messages API.

https://docs.claude.com/en/api/messages-streaming
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support.model_request import RecordedRequest, ScriptError
from tests.support.model_script import Answer, Call, Part, Say
from tests.support.model_wire import Frame, new_id, pieces_of, usage_of


class AnthropicWire:
    """Text and tool calls; the input tokens are without those that the cache read or wrote."""

    def __init__(self, request: RecordedRequest, answer: Answer) -> None:
        self.request, self.answer = request, answer
        self.id = new_id("msg")
        counts = usage_of(request, answer)
        self.output = counts.output
        self.usage = {
            "input_tokens": counts.input - counts.cached - counts.written,
            "cache_read_input_tokens": counts.cached,
            "cache_creation_input_tokens": counts.written,
        }

    @property
    def _stop_reason(self) -> str:
        calls = any(isinstance(part, Call) for part in self.answer.parts)
        return (
            "max_tokens" if self.answer.finish == "length" else "tool_use" if calls else "end_turn"
        )

    def _message(self, content: list[dict[str, Any]], output: int) -> dict[str, Any]:
        return {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.request.model,
            "content": content,
            "stop_reason": self._stop_reason if output else None,
            "stop_sequence": None,
            "usage": {**self.usage, "output_tokens": output},
        }

    def stream(self, finish: bool) -> Iterator[Frame]:
        yield _event("message_start", message=self._message([], 0))
        for index, part in enumerate(self.answer.parts):
            block, deltas = _block(part)
            yield _event("content_block_start", index=index, content_block=block)
            for delta in deltas:
                yield _event("content_block_delta", content=True, index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        if finish:
            delta = {"stop_reason": self._stop_reason, "stop_sequence": None}
            yield _event("message_delta", delta=delta, usage={"output_tokens": self.output})
            yield _event("message_stop")

    def body(self) -> dict[str, Any]:
        content = []
        for part in self.answer.parts:
            block, _ = _block(part)
            if isinstance(part, Call):
                block["input"] = json.loads(str(part.arguments))
            else:
                assert isinstance(part, Say)
                block["text"] = part.text
            content.append(block)
        return self._message(content, self.output)


def _block(part: Part) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The block as it begins, and what is added to it."""
    if isinstance(part, Call):
        call_id = part.call_id or new_id("toolu")
        block = {"type": "tool_use", "id": call_id, "name": part.name, "input": {}}
        pieces = pieces_of(str(part.arguments), part.chunk)
        return block, [{"type": "input_json_delta", "partial_json": each} for each in pieces]
    if isinstance(part, Say):
        pieces = pieces_of(str(part.text), part.chunk)
        return {"type": "text", "text": ""}, [
            {"type": "text_delta", "text": each} for each in pieces
        ]
    raise ScriptError(f"{part!r} cannot be said over Anthropic's API")


def _event(kind: str, *, content: bool = False, **fields: Any) -> Frame:
    return Frame({"type": kind, **fields}, event=kind, content=content)
