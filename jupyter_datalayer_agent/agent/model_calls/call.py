"""One answer of the model: streamed, retried if that helps, and stored item by item."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ...models.chat_messages import is_json_object
from ...models.drafts import text_of
from ...models.provider_arguments import may_write_calls
from ...models.retry import MAX_RETRIES, delay_before
from ...models.tokens import BYTES_PER_TOKEN, estimate_item, estimate_tokens
from ...models.types import (
    SIZE_LIMIT,
    FunctionCallStarted,
    ItemDone,
    ItemTakenBack,
    Model,
    ModelError,
    ModelLoading,
    ModelRequest,
    ReasoningChunk,
    ResponseDone,
    StreamEvent,
    StreamStarted,
    TextChunk,
)
from ...protocol import events
from ...protocol.json_text import plain_text
from ...protocol.limits import MAX_ANSWER_CHARACTERS, MAX_ANSWER_EVENT_BYTES, megabytes
from ...protocol.requests import Incomplete, ToolCallRecord, Usage
from ...protocol.tools import NotDone
from ...tools.arguments import mended
from ...tools.context import ToolFailure
from ...tools.registry import ToolRegistry
from ..event_buffer import EventBuffer
from ..history import Item, assistant_item
from ..state import estimated_usage
from ..tool_calls.scheduler import readable_arguments
from ..tool_calls.written_call_policy import WrittenCallPolicy
from .answer_reader import AnswerReader, Repetition

ANOTHER_WAY = "Change the message, or choose another model."

REPETITION = "repetition"
"""The finish reason of an answer that was stopped because it repeated itself."""


@dataclass
class ModelAnswer:
    """What the model answered: its complete items, and what they cost. ``notice`` is about a call
    written as text that is not carried out. Calls in ``failures`` (by id) get these as answers
    instead of being carried out. ``limit`` is the number of output tokens allowed, if one was set;
    ``has_reasoned``: reasoning was shown."""

    items: list[Item] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = "stop"
    notice: NotDone | None = None
    failures: dict[str, ToolFailure] = field(default_factory=dict)
    limit: int | None = None
    has_reasoned: bool = False

    @property
    def calls(self) -> list[Item]:
        """The function calls among the items, in order."""
        return [item for item in self.items if item.get("type") == "function_call"]

    @property
    def text(self) -> str:
        """The text of the messages among the items."""
        return "".join(map(text_of, self._messages))

    @property
    def _messages(self) -> list[Item]:
        return [item for item in self.items if item.get("type") == "message"]

    @property
    def incomplete(self) -> Incomplete | None:
        """Why the answer is not complete; None if it is."""
        refused = any(
            part.get("type") == "refusal" for it in self._messages for part in it["content"]
        )
        match self.finish_reason:
            case "max_output_tokens":
                message = (
                    f"The answer was cut off {self.cut_at}. Send “continue” for the rest, or raise "
                    "max_output_tokens (Settings → Agent)."
                )
                return Incomplete(reason="max_output_tokens", message=message)
            case "content_filter":
                message = f"The provider's content filter ended the answer. {ANOTHER_WAY}"
                return Incomplete(reason="content_filter", message=message)
            case "connection_lost":
                message = (
                    "The connection ended before the answer was complete. Send “continue” if "
                    "something is missing."
                )
                return Incomplete(reason="connection_lost", message=message)
            case "size_limit":
                message = (
                    f"The answer was cut off {self.cut_at}. The part before that is kept; ask for "
                    "less, or for parts."
                )
                return Incomplete(reason="size_limit", message=message)
            case "repetition":
                message = "The model repeated itself, so its answer was stopped."
                return Incomplete(reason="repetition", message=message)
        if refused:
            message = f"The model refused to answer. {ANOTHER_WAY}"
            return Incomplete(reason="refusal", message=message)
        return None

    @property
    def cut_at(self) -> str:
        """The limit at which the answer was cut off, as part of a sentence."""
        if self.finish_reason == "content_filter":
            return "by the provider's content filter"
        if self.finish_reason == SIZE_LIMIT:
            return (
                f"at the limit of {MAX_ANSWER_CHARACTERS:,} characters, or "
                f"{megabytes(MAX_ANSWER_EVENT_BYTES)} in one piece"
            )
        if self.limit is not None:
            return f"at the limit of {self.limit:,} output tokens"
        if self.usage.output_tokens and not self.usage.estimated:
            return f"after {self.usage.output_tokens:,} output tokens, the server's limit"
        return "at the server's limit of output tokens"

    def note_cut_calls(self) -> None:
        """Answer a call whose arguments were cut off with that failure."""
        if self.finish_reason not in ("max_output_tokens", "content_filter", SIZE_LIMIT):
            return
        for call in self.calls[-1:]:
            if not is_json_object(call.get("arguments") or ""):
                self.failures[call["call_id"]] = ToolFailure(
                    "cut_off",
                    f"{call['name']} was not called: your answer was cut off {self.cut_at}, within "
                    "the arguments of this call.",
                    "Send less, or in parts: smaller calls, one answer after another.",
                    summary=f"{call['name']}: not called, the answer was cut off {self.cut_at}",
                )


class ModelCall:
    """Asks the model, and retries if the connection fails.

    ``keep`` takes each item as it completes, and ``make_request`` builds the request with those
    that were kept: after a broken stream, the next one continues from the last of them. ``on_text``
    is called when text arrives, ``on_unfinished`` with the estimated tokens of an answer that broke
    off or was stopped. The text of a ``quiet`` call is not shown to the user. ``policy`` decides
    which calls written as text are carried out, None: none.

    Text of a broken stream stays visible until the next stream shows something, or for good if none
    does: ``broken_item_id`` and ``partial_text`` are what was cut off.

    Events go to the ``buffer``, so that the database writes while the model works; the caller
    flushes it before acting on the answer.
    flushes it before acting on the answer.
    """

    def __init__(
        self,
        model: Model,
        registry: ToolRegistry,
        make_request: Callable[[], ModelRequest],
        keep: Callable[[Sequence[Item]], None],
        buffer: EventBuffer,
        on_text: Callable[[], None],
        on_unfinished: Callable[[int], None],
        *,
        quiet: bool = False,
        policy: WrittenCallPolicy | None = None,
    ) -> None:
        self._quiet = quiet
        self._policy = policy
        self._model = model
        self._registry = registry
        self._make_request = make_request
        self._keep = keep
        self._buffer = buffer
        self._on_text = on_text
        self._on_unfinished = on_unfinished
        # Bytes of an answer whose usage is not reported yet.
        self._unpaid: int | None = None
        self._answer = ModelAnswer()
        # What was shown of incomplete items: text, and calls by item id.
        self._words: dict[str, None] = {}
        self._begun_calls: dict[str, str] = {}
        self._reasoning: list[Item] = []
        self._text: dict[str, list[str]] = {}
        self._is_broken = False

    @property
    def partial_text(self) -> str:
        """The visible text of incomplete messages."""
        return plain_text("".join(chain.from_iterable(self._text.values())))

    @property
    def broken_item_id(self) -> str | None:
        """The message whose visible text was cut off."""
        return next(reversed(self._text), None)

    async def run(self) -> ModelAnswer:
        """The whole answer. Raises ``ModelError``."""
        retries = 0
        self._say("Thinking")
        while True:
            request = self._make_request()
            self._buffer.add(events.ModelStarted(model=request.model, attempt=retries + 1))
            try:
                await self._stream(request)
                return self._answer
            except ModelError as error:
                self._break_off()
                if self._answer.calls:
                    # The calls are complete, so they are carried out, and the next request
                    # continues from their results.
                    self._take_back()
                    self._buffer.add(events.Warning_(code="broken_stream", message=error.message))
                    return self._answer
                retries += 1
                delay = delay_before(retries, error)
                if delay is None:
                    raise
                if error.is_not_ready:
                    self._say(f"The model server is not ready (503). Next try in {delay:.0f} s")
                else:
                    self._say(f"Reconnecting {retries} of {MAX_RETRIES}")
                await self._buffer.flush()
                await asyncio.sleep(delay)

    def _say(self, message: str) -> None:
        self._buffer.add(events.Status(message=message))

    async def _stream(self, request: ModelRequest) -> None:
        reader = AnswerReader(request, self._policy if may_write_calls(request) else None)
        self._answer.failures = reader.failures
        self._answer.limit = request.max_output_tokens
        repetition, reasoning = Repetition(), Repetition()
        try:
            async with aclosing(self._model.stream(request)) as stream:
                async for event in stream:
                    self._weigh(event)
                    if isinstance(event, ItemTakenBack):
                        repetition = Repetition()
                    for each in reader.feed(event):
                        await self._take(each)
                    if isinstance(event, ReasoningChunk) and reasoning.has_begun(event.delta):
                        self._end_reasoning(event.item_id, reasoning.text())
                        break
                    if isinstance(event, TextChunk) and repetition.has_begun(event.delta):
                        for each in reader.release():
                            await self._take(each)
                        await self._end_early(event.item_id, repetition.text())
                        break
            self._answer.notice = reader.notice
            self._answer.note_cut_calls()
        except ModelError:
            for each in reader.release():
                await self._take(each)
            raise
        finally:
            if self._unpaid is not None:
                self._on_unfinished(self._unpaid // BYTES_PER_TOKEN)
                self._unpaid = None

    def _weigh(self, event: StreamEvent) -> None:
        """Add up the bytes of an answer until the provider reports its cost."""
        if isinstance(event, StreamStarted):
            self._unpaid = 0
        elif isinstance(event, ResponseDone):
            self._unpaid = None
        elif isinstance(event, TextChunk | ReasoningChunk) and self._unpaid is not None:
            self._unpaid += len(event.delta.encode(errors="replace"))

    async def _take(self, event: StreamEvent) -> None:
        if isinstance(event, ModelLoading):
            self._say(event.message)
            await self._buffer.flush()
            return
        if self._is_broken and not isinstance(event, StreamStarted):
            # This stream replaces what the broken one showed.
            self._take_back()
        if isinstance(event, TextChunk):
            self._on_text()
            if self._quiet:
                return
            first = not self._text
            self._words[event.item_id] = None
            self._text.setdefault(event.item_id, []).append(event.delta)
            self._buffer.add(events.TextDelta(item_id=event.item_id, delta=event.delta))
            if first:
                # Before yielding to what has already arrived.
                await self._buffer.flush()
            return
        if isinstance(event, ReasoningChunk):
            self._answer.has_reasoned = True
            self._words[event.item_id] = None
            self._buffer.add(events.ReasoningDelta(item_id=event.item_id, delta=event.delta))
            return
        if isinstance(event, ItemTakenBack):
            self._words.pop(event.item_id, None)
            self._text.pop(event.item_id, None)
            self._buffer.add(events.ItemDiscarded(item_id=event.item_id, reason="reasoning"))
        elif isinstance(event, FunctionCallStarted):
            self._begun_calls[event.item_id] = event.call_id
            name = self._registry.own_name(event.name)
            self._buffer.add(self._registry.call_started(event.call_id, name))
        elif isinstance(event, ItemDone):
            self._words.pop(event.item_id, None)
            self._begun_calls.pop(event.item_id, None)
            self._text.pop(event.item_id, None)
            self._complete(self._sound(event.item))
        elif isinstance(event, ResponseDone):
            self._answer.usage = event.usage
            self._answer.finish_reason = event.finish_reason
        else:
            assert isinstance(event, StreamStarted)

    async def _end_early(self, item_id: str, text: str) -> None:
        """Keep this text of a message that repeats itself, and show it instead of the rest."""
        if not self._quiet:
            self._discard([item_id])
            self._buffer.add(events.TextDelta(item_id=item_id, delta=text))
        await self._take(ItemDone(item_id, {**assistant_item(text), "id": item_id}))
        self._answer.finish_reason = REPETITION
        # The cost is estimated, as for any stream that is stopped.
        self._answer.usage = Usage(estimated=True)

    def _sound(self, item: Item) -> Item:
        """The call with its tool's own name and, if possible, valid JSON arguments: servers refuse
        a history with other calls."""
        if item.get("type") != "function_call":
            return item
        name = str(item.get("name") or "")
        tool, written = self._registry.find(name), item.get("arguments")
        item = {**item, "name": self._registry.own_name(name)}
        if tool is None or item.get("status") == "incomplete" or not isinstance(written, str):
            return item
        arguments = mended(tool, written)
        if arguments is None:
            return item
        return {**item, "arguments": json.dumps(arguments, ensure_ascii=False)}

    def _end_reasoning(self, item_id: str, text: str) -> None:
        """Show this text instead of reasoning that repeats itself and leads to no answer."""
        self._discard([item_id])
        self._buffer.add(events.ReasoningDelta(item_id=item_id, delta=text))
        self._answer.finish_reason = REPETITION
        self._answer.usage = Usage(estimated=True)

    def _complete(self, item: Item) -> None:
        if item.get("type") == "reasoning":
            # It must be followed by what it led to, so it waits for that.
            self._reasoning.append(item)
            return
        kept = [*self._reasoning, item]
        self._reasoning.clear()
        self._answer.items.extend(kept)
        self._keep(kept)
        if item.get("type") != "function_call":
            self._buffer.add(None, items=kept)
            return
        arguments: Any = readable_arguments(item.get("arguments", ""))
        self._buffer.add(
            events.ToolCallArguments(call_id=item["call_id"], arguments=arguments),
            items=kept,
            tool_calls=[
                ToolCallRecord(
                    call_id=item["call_id"],
                    name=item["name"],
                    arguments=arguments,
                    status="running",
                )
            ],
        )

    def _break_off(self) -> None:
        """Visible text stays for now; a call that was cut off is dropped."""
        self._is_broken = True
        self._reasoning.clear()
        self._discard(self._begun_calls.values())
        self._begun_calls.clear()

    def _take_back(self) -> None:
        self._is_broken = False
        self._discard(self._words)
        self._words.clear()
        self._text.clear()

    def _discard(self, shown: Iterable[str]) -> None:
        for item_id in shown:
            self._buffer.add(events.ItemDiscarded(item_id=item_id))


# One call of a model outside of turns: its answer, and its cost, however it ended.


async def ask_once(model: Model, request: ModelRequest, spent: list[Usage]) -> ModelAnswer:
    """One complete answer. ``spent`` gets its cost, estimated if it broke off or was stopped.
    Raises ``ModelError``; cancelling closes the connection."""
    unpaid: list[str] | None = None
    answer = ModelAnswer(finish_reason="")
    try:
        async with aclosing(model.stream(request)) as stream:
            async for event in stream:
                if isinstance(event, ResponseDone):
                    unpaid = None
                    spent.append(event.usage)
                    answer = ModelAnswer(list(event.items), event.usage, event.finish_reason)
                elif isinstance(event, StreamStarted):
                    unpaid = []
                elif isinstance(event, TextChunk | ReasoningChunk) and unpaid is not None:
                    unpaid.append(event.delta)
    finally:
        if unpaid is not None:
            answered = estimate_tokens("".join(unpaid))
            spent.append(estimated_usage(request.model, size_of(request), answered))
    return answer


def size_of(request: ModelRequest) -> int:
    """Tokens of a request, estimated."""
    fixed = estimate_tokens(request.instructions) + estimate_tokens(list(request.tools))
    return fixed + sum(map(estimate_item, request.input))
