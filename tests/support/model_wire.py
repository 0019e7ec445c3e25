"""The two wire formats of the scripted model server, made from the same answers.

Both follow OpenAI's API reference: ``/v1/responses`` (typed events, ``sequence_number``,
``response.completed`` at the end) and ``/v1/chat/completions`` (``chat.completion.chunk`` deltas, a
usage chunk when asked for, ``[DONE]``).
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.support.model_request import RecordedRequest, ScriptError
from tests.support.model_script import (
    Answer,
    Call,
    Deltas,
    Part,
    Plan,
    Reasoning,
    Refuse,
    Say,
    TokenCounts,
)

_numbers = itertools.count(1)


def new_id(prefix: str) -> str:
    """An id that no other answer of this process has, in the provider's style."""
    return f"{prefix}_{next(_numbers):024d}"


@dataclass(frozen=True)
class Frame:
    """One server-sent event. ``content`` marks the pieces that gates and cuts count."""

    data: dict[str, Any] | str
    event: str | None = None
    content: bool = False
    delay_ms: float = 0

    def encode(self) -> bytes:
        data = self.data if isinstance(self.data, str) else json.dumps(self.data)
        event = f"event: {self.event}\n" if self.event else ""
        return f"{event}data: {data}\n\n".encode()


def frames(plan: Plan, request: RecordedRequest) -> Iterator[Frame]:
    """The whole stream for ``plan``; its cuts, gates and errors are the server's to apply."""
    if request.api == "chat":
        return ChatWire(request, plan.answer).stream(plan.finish, plan.done)
    if request.api == "anthropic":
        return _anthropic(request, plan).stream(plan.finish)
    return ResponsesWire(request, plan.answer).stream(plan.finish)


def whole(plan: Plan, request: RecordedRequest) -> dict[str, Any]:
    """The body of an answer that is not streamed."""
    if request.api == "chat":
        return ChatWire(request, plan.answer).body(plan.finish)
    if request.api == "anthropic":
        body: dict[str, Any] = _anthropic(request, plan).body()
        return body
    return ResponsesWire(request, plan.answer).body()


def _anthropic(request: RecordedRequest, plan: Plan) -> Any:
    # It builds on this module.
    from tests.support.anthropic_wire import AnthropicWire

    return AnthropicWire(request, plan.answer)


def error_frame(message: str, code: str, request: RecordedRequest) -> Frame:
    """An error in mid-stream, as either API sends it."""
    if request.api == "chat":
        return Frame({"error": {"message": message, "type": code, "code": code, "param": None}})
    data = {"type": "error", "code": code, "message": message, "param": None, "sequence_number": 0}
    return Frame(data, event="error")


def pieces_of(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


def usage_of(request: RecordedRequest, answer: Answer) -> TokenCounts:
    """The counts that the script gives, or about four characters a token."""
    if answer.usage:
        return answer.usage
    sent = sum(
        len(str(getattr(part, "text", getattr(part, "arguments", "")))) for part in answer.parts
    )
    return TokenCounts(len(json.dumps(request.body)) // 4, max(1, sent // 4))


class ChatWire:
    """Chat completions."""

    def __init__(self, request: RecordedRequest, answer: Answer) -> None:
        self.request, self.answer = request, answer
        self.head = {"id": new_id("chatcmpl"), "created": int(time.time()), "model": request.model}
        self.usage = usage_of(request, answer)

    def _finish_reason(self) -> str:
        calls = any(isinstance(part, Call) for part in self.answer.parts)
        return "tool_calls" if calls and self.answer.finish == "stop" else self.answer.finish

    def _usage_json(self) -> dict[str, Any]:
        return {
            "prompt_tokens": self.usage.input,
            "completion_tokens": self.usage.output,
            "total_tokens": self.usage.input + self.usage.output,
            "prompt_tokens_details": {"cached_tokens": self.usage.cached, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        }

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, **frame: Any) -> Frame:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return Frame({**self.head, "object": "chat.completion.chunk", "choices": [choice]}, **frame)

    def stream(self, finish: bool, done: bool) -> Iterator[Frame]:
        yield self._chunk({"role": "assistant", "content": ""})
        call_index = 0
        for part in self.answer.parts:
            if isinstance(part, Call):
                yield from self._call(part, call_index)
                call_index += 1
            elif isinstance(part, Deltas):
                for delta in part.deltas:
                    yield self._chunk(dict(delta), content=True)
            elif isinstance(part, Refuse):
                yield self._chunk({"refusal": part.text}, content=True)
            else:
                key = "content" if isinstance(part, Say) else "reasoning_content"
                delay = part.delay_ms if isinstance(part, Say) else 0
                for piece in pieces_of(str(part.text), part.chunk):
                    yield self._chunk({key: piece}, content=True, delay_ms=delay)
        if finish:
            yield self._chunk({}, self._finish_reason())
            options = self.request.body.get("stream_options") or {}
            if options.get("include_usage") and self.answer.counted:
                head = {**self.head, "object": "chat.completion.chunk"}
                yield Frame({**head, "choices": [], "usage": self._usage_json()})
        if done:
            yield Frame("[DONE]")

    def _call(self, part: Call, index: int) -> Iterator[Frame]:
        call_id = part.call_id or new_id("call")
        function = {"name": part.name, "arguments": ""}
        start = {"index": index, "id": call_id, "type": "function", "function": function}
        yield self._chunk({"tool_calls": [start]}, content=True, delay_ms=part.delay_ms)
        for piece in pieces_of(str(part.arguments), part.chunk):
            delta = {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            yield self._chunk(delta, content=True, delay_ms=part.delay_ms)

    def body(self, finish: bool) -> dict[str, Any]:
        text = "".join(str(part.text) for part in self.answer.parts if isinstance(part, Say))
        thought = "".join(
            str(part.text) for part in self.answer.parts if isinstance(part, Reasoning)
        )
        refusal = "".join(part.text for part in self.answer.parts if isinstance(part, Refuse))
        message: dict[str, Any] = {
            "role": "assistant", "content": text or None, "refusal": refusal or None
        }  # fmt: skip
        if thought:
            message["reasoning_content"] = thought
        calls = [
            {
                "id": part.call_id or new_id("call"),
                "type": "function",
                "function": {"name": part.name, "arguments": part.arguments},
            }
            for part in self.answer.parts
            if isinstance(part, Call)
        ]
        if calls:
            message["tool_calls"] = calls
        reason = self._finish_reason() if finish else None
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
        return {
            **self.head,
            "object": "chat.completion",
            "choices": [choice],
            **({"usage": self._usage_json()} if self.answer.counted else {}),
            "system_fingerprint": "fp_scripted",
        }


class ResponsesWire:
    """The Responses API."""

    def __init__(self, request: RecordedRequest, answer: Answer) -> None:
        self.request, self.answer = request, answer
        self.id, self.created = new_id("resp"), int(time.time())
        self.usage = usage_of(request, answer)
        self.sequence = itertools.count()

    def _response(self, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
        """The response object; ``usage`` is there once it has ended."""
        asked = self.request.body
        incomplete = {"length": "max_output_tokens", "content_filter": "content_filter"}
        ended = status in ("completed", "incomplete")
        usage = {
            "input_tokens": self.usage.input,
            "input_tokens_details": {"cached_tokens": self.usage.cached},
            "output_tokens": self.usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": self.usage.input + self.usage.output,
        }
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": {"reason": incomplete[self.answer.finish]}
            if status == "incomplete"
            else None,
            "instructions": asked.get("instructions"),
            "max_output_tokens": asked.get("max_output_tokens"),
            "model": self.request.model,
            "output": output,
            "parallel_tool_calls": asked.get("parallel_tool_calls", True),
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None},
            "store": asked.get("store", True),
            "temperature": asked.get("temperature", 1.0),
            "text": {"format": {"type": "text"}},
            "tool_choice": asked.get("tool_choice", "auto"),
            "tools": asked.get("tools", []),
            "top_p": asked.get("top_p", 1.0),
            "truncation": "disabled",
            "usage": usage if ended and self.answer.counted else None,
            "user": None,
            "metadata": {},
        }

    def _event(
        self, kind: str, *, content: bool = False, delay_ms: float = 0, **fields: Any
    ) -> Frame:
        data = {"type": kind, "sequence_number": next(self.sequence), **fields}
        return Frame(data, event=kind, content=content, delay_ms=delay_ms)

    @property
    def _final_status(self) -> str:
        return "completed" if self.answer.finish == "stop" else "incomplete"

    def stream(self, finish: bool) -> Iterator[Frame]:
        yield self._event("response.created", response=self._response("in_progress", []))
        yield self._event("response.in_progress", response=self._response("in_progress", []))
        output = []
        for index, part in enumerate(self.answer.parts):
            item = self._item(part)
            output.append(item)
            started = self._started(item)
            yield self._event("response.output_item.added", output_index=index, item=started)
            yield from self._deltas(part, item, index)
            yield self._event("response.output_item.done", output_index=index, item=item)
        if finish:
            status = self._final_status
            yield self._event(f"response.{status}", response=self._response(status, output))

    def body(self) -> dict[str, Any]:
        return self._response(self._final_status, [self._item(part) for part in self.answer.parts])

    def _item(self, part: Part) -> dict[str, Any]:
        """The item of a part; the last one of an answer that was cut off is incomplete."""
        item = self._made(part)
        if "status" in item and part is self.answer.parts[-1]:
            item["status"] = self._final_status
        return item

    def _made(self, part: Part) -> dict[str, Any]:
        if isinstance(part, Say):
            content: dict[str, Any] = {
                "type": "output_text",
                "text": part.text,
                "annotations": [],
                "logprobs": [],
            }
            return {
                "id": new_id("msg"),
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [content],
            }
        if isinstance(part, Call):
            return {
                "id": new_id("fc"),
                "type": "function_call",
                "status": "completed",
                "name": part.name,
                "arguments": part.arguments,
                "call_id": part.call_id or new_id("call"),
            }
        if isinstance(part, Refuse):
            return {
                "id": new_id("msg"),
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "refusal", "refusal": part.text}],
            }
        if isinstance(part, Deltas):
            raise ScriptError("Deltas are for chat completions")
        item: dict[str, Any] = {
            "id": new_id("rs"),
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": part.text}],
        }
        if part.encrypted and "reasoning.encrypted_content" in (
            self.request.body.get("include") or []
        ):
            item["encrypted_content"] = part.encrypted
        return item

    def _started(self, item: dict[str, Any]) -> dict[str, Any]:
        """The item as ``output_item.added`` shows it: nothing in it yet."""
        if item["type"] == "message":
            return {**item, "status": "in_progress", "content": []}
        if item["type"] == "function_call":
            return {**item, "status": "in_progress", "arguments": ""}
        return {**item, "summary": []}

    def _deltas(self, part: Part, item: dict[str, Any], index: int) -> Iterator[Frame]:
        at: dict[str, Any] = {"item_id": item["id"], "output_index": index}
        if isinstance(part, Call):
            for piece in pieces_of(str(part.arguments), part.chunk):
                yield self._event(
                    "response.function_call_arguments.delta",
                    **at,
                    delta=piece,
                    content=True,
                    delay_ms=part.delay_ms,
                )
            yield self._event(
                "response.function_call_arguments.done",
                **at,
                name=part.name,
                arguments=part.arguments,
            )
        elif isinstance(part, Refuse):
            kind, content = "response.refusal.delta", {**at, "content_index": 0}
            yield self._event(kind, **content, delta=part.text, content=True)
        elif isinstance(part, Say):
            yield from self._text(part, {**at, "content_index": 0})
        else:
            yield from self._summary(part, {**at, "summary_index": 0})

    def _text(self, part: Say, at: dict[str, Any]) -> Iterator[Frame]:
        empty = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        yield self._event("response.content_part.added", **at, part=empty)
        for piece in pieces_of(str(part.text), part.chunk):
            yield self._event(
                "response.output_text.delta",
                **at,
                delta=piece,
                logprobs=[],
                content=True,
                delay_ms=part.delay_ms,
            )
        yield self._event("response.output_text.done", **at, text=part.text, logprobs=[])
        yield self._event("response.content_part.done", **at, part={**empty, "text": part.text})

    def _summary(self, part: Reasoning, at: dict[str, Any]) -> Iterator[Frame]:
        yield self._event(
            "response.reasoning_summary_part.added", **at, part={"type": "summary_text", "text": ""}
        )
        for piece in pieces_of(str(part.text), part.chunk):
            yield self._event(
                "response.reasoning_summary_text.delta", **at, delta=piece, content=True
            )
        yield self._event("response.reasoning_summary_text.done", **at, text=part.text)
        done = {"type": "summary_text", "text": part.text}
        yield self._event("response.reasoning_summary_part.done", **at, part=done)
