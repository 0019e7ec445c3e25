"""What the bytes of a streamed answer show, and litellm's clients do not report."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from ..protocol.json_text import parse_json
from ..protocol.limits import MAX_ANSWER_BYTES, MAX_ANSWER_EVENT_BYTES
from .types import CONNECTION_LOST

# How the streams of chat completions end, learnt from what servers do.
#
# A server says why an answer ended, or sends ``[DONE]``. Some do neither: the body just ends. So it
# does as well where something before the server, such as a gateway with a time limit, ended it in
# the middle. One such end does not tell which of the two it is. A second one does, if the server
# has never said that an answer ended.


Server = tuple[str | None, str]
"""The address, None for the provider's own, and the model."""


class StreamEnds:
    """How the streams of each model of each server ended, while this process lives: a server may be
    updated."""

    def __init__(self) -> None:
        self._speaking: set[Server] = set()
        # Ends without a word since the last one with.
        self._silent: Counter[Server] = Counter()

    def said(self, server: Server) -> None:
        """The server said that an answer ended."""
        self._speaking.add(server)
        del self._silent[server]

    def unsaid(self, server: Server) -> str | None:
        """The finish reason of an answer whose body ended without a word; None if it is to be asked
        for again, which is so once."""
        self._silent[server] += 1
        if self._silent[server] == 1:
            return None
        return CONNECTION_LOST if server in self._speaking else "stop"


_END = re.compile(rb"^data: ?\[DONE\]", re.MULTILINE)
_TAIL = 256
"""Bytes of a stream that are remembered: its end, and what may follow that in one piece."""
_LINE_END = re.compile(rb"[\r\n]")
_ERRORS = ("error", "response.failed")
_MAY_BE_ERROR = re.compile(rb'"type"\s*:\s*"(?:error|response\.failed)"')
_MAY_BE_ITEM = re.compile(rb'"type"\s*:\s*"response\.output_item\.done"')
_MAY_BE_END = re.compile(rb'"type"\s*:\s*"response\.(?:completed|incomplete)"')
_LONG_END = 64 * 1024
"""Bytes. A shorter last event of the Responses API is passed on as it is."""
EXTENSION = "datalayer_agent_stream"
_FEW_EVENTS = 8
"""Fewer that arrive together stay as they are: those of a model are read one by one."""


class ReportedError(Exception):
    """An error that a server reports in an answer of the Responses API. ``body`` is what it says of
    it: ``code``, ``message``, ``type``."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(str(body.get("message") or body.get("code") or ""))
        self.body = body
        self.code = body.get("code")


class StreamBytes:
    """What the bytes of an answer show. ``on_bytes`` is called when some have arrived;
    ``is_complete``: the body has ended as HTTP has it, and was not cut off; ``error`` is the last
    one that an event reported; ``is_over``: it is longer than what is read of an answer, or has an
    event that is."""

    def __init__(self) -> None:
        self.on_bytes: Callable[[], None] | None = None
        self.is_complete = False
        self.error: ReportedError | None = None
        self.is_over = False
        self._size = 0
        self._items = 0
        self._tail = b""
        self._line = bytearray()

    @property
    def has_ended(self) -> bool:
        """Whether the server has sent ``[DONE]``."""
        return _END.search(self._tail.replace(b"\r", b"\n")) is not None

    def note(self, data: bytes) -> bytes:
        """These bytes have arrived. Returns what is whole now: as far as the last line end. Clients
        read only whole lines, and copy a long one again for each piece of it.

        The last event of the Responses API repeats all items. litellm checks and copies them at
        once, for most of a second where there are thousands, so a long one leaves them out."""
        self._size += len(data)
        self._tail = data[-_TAIL:] if len(data) >= _TAIL else (self._tail + data)[-_TAIL:]
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        whole = bytes(self._line + data[:end]) if end else b""
        if end:
            self._line = bytearray(data[end:])
        else:
            self._line += data
        for line in _LINE_END.split(whole):
            self._read(line)
        if len(whole) > _LONG_END and _MAY_BE_END.search(whole) is not None:
            whole = b"".join(map(self._without_known_items, whole.splitlines(keepends=True)))
        if len(self._line) > MAX_ANSWER_EVENT_BYTES or self._size > MAX_ANSWER_BYTES:
            self.is_over = True
            self._line.clear()
        if self.on_bytes is not None:
            self.on_bytes()
        return whole

    def complete(self) -> bytes:
        """The body has ended. Returns its last line, if that had no end."""
        rest = bytes(self._line)
        self._read(rest)
        self.is_complete = True
        return rest

    def _read(self, line: bytes) -> None:
        if _MAY_BE_ERROR.search(line) is not None:
            self.error = _reported(line) or self.error
        if _MAY_BE_ITEM.search(line) is not None:
            self._items += 1

    def _without_known_items(self, line: bytes) -> bytes:
        """The line as it is; a long last event without its items, if as many were sent before."""
        if len(line) <= _LONG_END or _MAY_BE_END.search(line) is None:
            return line
        try:
            begin = line.index(b"{")
            event = parse_json(line[begin:])
            items = event["response"]["output"]
        except (ValueError, LookupError, TypeError):
            return line
        if not isinstance(items, list) or len(items) > self._items:
            return line
        event["response"]["output"] = []
        end = line[len(line.rstrip(b"\r\n")) :]
        return line[:begin] + json.dumps(event).encode() + end


def _reported(line: bytes) -> ReportedError | None:
    """The error that an event's line reports, None if it is another event."""
    try:
        event = parse_json(line[line.index(b"{") :])
    except ValueError:
        return None
    if not isinstance(event, dict) or event.get("type") not in _ERRORS:
        return None
    holder = event.get("response") if event["type"] == "response.failed" else event
    error = holder.get("error") if isinstance(holder, dict) else None
    if not isinstance(error, dict):
        # As OpenAI documents it: in the event itself, whose type is that of the event.
        error = {name: event.get(name) for name in ("code", "message")}
    return ReportedError(error)


def with_joined_text(data: bytes) -> bytes:
    """The same events, with the texts (reasoning, arguments) of neighbours in one.

    A model that streams faster than its events are read fills the system's buffers: litellm takes
    a fifth to half of a millisecond for each event, and would read for minutes after the model has
    ended. Events are joined if nothing but their text differs; all other bytes stay as they are."""
    blocks = data.split(b"\n\n")
    if len(blocks) <= _FEW_EVENTS:
        return data
    joined: list[bytes] = []
    for frame, group in groupby(map(_TextEvent, blocks), key=lambda event: event.frame):
        events = list(group)
        if frame is None or len(events) == 1:
            joined += [event.block for event in events]
        else:
            joined.append(events[0].with_text("".join(event.text for event in events)))
    return b"\n\n".join(joined)


_OWN = ("sequence_number", "obfuscation")
"""What each event of a stream has its own of: its number, and characters that hide its length."""


_NAMED = (b"event: response.", b"event: content_block_delta")
"""The first lines of events with text begin like this: the Responses API's and Anthropic's."""


class _TextEvent:
    """An event that has one text; ``frame`` is the rest of it, None: ``block`` is another."""

    def __init__(self, block: bytes) -> None:
        self.block = block
        self.frame: tuple[bytes, str, dict[str, Any]] | None = None
        self._head, begin, data = block.rpartition(b"data: {")
        if not begin or b"\n" in data or self._head.count(b"\n") > 1:
            return
        if self._head and not self._head.startswith(_NAMED):
            return
        try:
            event = json.loads(b"{" + data)
            texts = [
                (holder, name)
                for holder, name in _texts_of(event)
                if isinstance(holder.get(name), str) and holder[name]
            ]
            ((self._holder, self._name),) = texts
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return
        self.text = self._holder[self._name]
        self._holder[self._name] = ""
        self._event = event
        rest = {name: value for name, value in event.items() if name not in _OWN}
        self.frame = (self._head, self._name, rest)

    def with_text(self, text: str) -> bytes:
        """The event with another text."""
        self._holder[self._name] = text
        return self._head + b"data: " + json.dumps(self._event).encode()


def _texts_of(event: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Where an event of any API may have text: the objects, and the names in them."""
    kind = str(event.get("type"))
    if kind.endswith(".delta"):
        yield event, "delta"
        return
    if kind == "content_block_delta":
        for name in ("text", "thinking", "partial_json"):
            yield event["delta"], name
        return
    (choice,) = event["choices"]
    delta = choice["delta"]
    for name in ("content", "reasoning_content", "reasoning"):
        yield delta, name
    if delta.get("tool_calls"):
        (call,) = delta["tool_calls"]
        # One with a name may begin another call.
        if not call["function"].get("name"):
            yield call["function"], "arguments"


def bytes_of(source: Any) -> StreamBytes | None:
    """What is known of the bytes of litellm's stream; None where it is not from here."""
    for holder in (getattr(source, "completion_stream", None), source):
        extensions = getattr(getattr(holder, "response", None), "extensions", {})
        if isinstance(found := extensions.get(EXTENSION), StreamBytes):
            return found
    return None
