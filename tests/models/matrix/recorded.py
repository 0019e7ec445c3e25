"""The answers of providers and servers in the form that each documents, as bytes.

A file in ``recordings/`` holds one form: the events of an answer, of a call and, where the provider
documents it, of an answer with reasoning. These stand in place of what a test chooses:

- ``$text``, ``$thought``, ``$arguments``: a piece. The event is repeated for each of the pieces.
- ``$whole_text``, ``$whole_thought``, ``$whole_arguments``: all pieces as one string.
- ``$object``: the arguments as an object. ``$name``: the tool's name.
- ``$end``: why the answer ends, by the provider's name for it (``ends``). ``$incomplete``: the
  Responses API's details of an answer that ends at the limit, else null.

``also`` are providers that send the same at another path.
"""

from __future__ import annotations

import binascii
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "recordings"
PIECES = ("text", "thought", "arguments")
CONTENT_TYPES = {
    "events": "text/event-stream",
    "typed events": "text/event-stream",
    "lines": "application/x-ndjson",
    "aws event stream": "application/vnd.amazon.eventstream",
}


@dataclass(frozen=True)
class Recording:
    """One provider or server. ``key`` is the environment variable of its key, ``path`` where the
    request goes below the address, ``refuses`` a parameter that it does not take, ``fails`` why its
    answers cannot be read; not ``counted``, they have no usage."""

    title: str
    model: str
    path: str
    documented: str
    form: str
    ends: Mapping[str, str]
    streams: Mapping[str, Sequence[Any]]
    key: str | None = None
    api: str = "auto"
    refuses: str | None = None
    fails: str | None = None
    counted: bool = True

    @property
    def content_type(self) -> str:
        return CONTENT_TYPES[self.form]

    def answer(self, text: Sequence[str], end: str = "stop") -> list[bytes]:
        """An answer in these pieces."""
        return self._bytes("answer", end, text=text)

    def reasoning(self, thought: Sequence[str], text: Sequence[str]) -> list[bytes]:
        """An answer with reasoning before it."""
        return self._bytes("reasoning", "stop", thought=thought, text=text)

    def call(self, name: str, arguments: Mapping[str, Any]) -> list[bytes]:
        """A tool call, whose arguments come in three pieces where they do so at all."""
        written = json.dumps(arguments)
        third = len(written) // 3 + 1
        pieces = [written[start : start + third] for start in range(0, len(written), third)]
        return self._bytes("call", "call", arguments=pieces, name=name, object=arguments)

    def _bytes(self, stream: str, end: str, **values: Any) -> list[bytes]:
        values["end"] = self.ends[end]
        values["incomplete"] = {"reason": "max_output_tokens"} if end == "length" else None
        for name in PIECES:
            values[f"whole_{name}"] = "".join(values.get(name, ()))
        events = (each for event in self.streams[stream] for each in _filled(event, values))
        return [_encoded(event, self.form) for event in events]


def recordings() -> list[Recording]:
    """All of them, by their titles."""
    found = []
    for file in FOLDER.glob("*.yaml"):
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
        also = data.pop("also", [])
        streams = {name: data.pop(name) for name in ("answer", "call", "reasoning") if name in data}
        found += [Recording(**{**data, **each}, streams=streams) for each in [{}, *also]]
    return sorted(found, key=lambda each: each.title.lower())


def _filled(event: Any, values: Mapping[str, Any]) -> Iterator[Any]:
    """The event with the values in it, as often as there are pieces of what it has pieces of."""
    written = json.dumps(event)
    pieces = next((name for name in PIECES if f'"${name}"' in written), None)
    for piece in values[pieces] if pieces else [""]:
        yield _replaced(event, {**values, pieces: piece} if pieces else values)


def _replaced(part: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(part, dict):
        return {name: _replaced(value, values) for name, value in part.items()}
    if isinstance(part, list):
        return [_replaced(value, values) for value in part]
    if isinstance(part, str) and part.startswith("$"):
        return values[part[1:]]
    return part.replace("$end", values["end"]) if isinstance(part, str) else part


def _encoded(event: Any, form: str) -> bytes:
    if form == "aws event stream":
        ((kind, payload),) = event.items()
        return _aws_message(kind, json.dumps(payload).encode())
    if form == "lines":
        return json.dumps(event).encode() + b"\n"
    if isinstance(event, str) and event.startswith(":"):
        return f"{event}\n\n".encode()
    named = f"event: {event['type']}\n" if form == "typed events" else ""
    data = event if isinstance(event, str) else json.dumps(event)
    return f"{named}data: {data}\n\n".encode()


def _aws_message(kind: str, payload: bytes) -> bytes:
    """A message of Amazon's event stream encoding: two lengths, headers, payload, each with a
    checksum (https://smithy.io/2.0/aws/amazon-eventstream.html)."""
    headers = b""
    for name, value in (
        (":event-type", kind),
        (":content-type", "application/json"),
        (":message-type", "event"),
    ):
        headers += struct.pack("!B", len(name)) + name.encode()
        headers += struct.pack("!BH", 7, len(value)) + value.encode()
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack("!I", binascii.crc32(prelude)) + headers + payload
    return message + struct.pack("!I", binascii.crc32(message))
