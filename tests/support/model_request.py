"""A request as the scripted model server received it, and what a script can look up in it."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class ScriptError(Exception):
    """The script cannot answer this request: it ran out, or a look-up found nothing."""


def hash_of(header: str) -> str:
    """What is kept of a key."""
    return hashlib.sha256(header.encode()).hexdigest()


@dataclass
class RecordedRequest:
    """One request as the server received it. ``outcome`` is ``None`` while it is being answered,
    then one of ``completed``, ``disconnected`` (the client went away), ``cut`` (the script broke it
    off), ``status``."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    authorization: str | None = None
    """``present`` or ``None``; the value is never kept."""
    key_hash: str | None = field(default=None, repr=False)
    key_header: str | None = None
    """The name of the header that the key came in."""
    query: str = ""
    arrived_at: float = field(default_factory=time.monotonic)
    first_sent_at: float | None = None
    """When the first piece of the answer had been sent; all three by ``time.monotonic``."""
    ended_at: float | None = None
    outcome: str | None = None
    chunks_sent: int = 0

    def has_key(self, key: str) -> bool:
        """Whether it came with this key."""
        sent = f"Bearer {key}" if self.key_header == "authorization" else key
        return self.key_hash == hash_of(sent)

    @property
    def api(self) -> str:
        """``responses``, ``chat`` or ``anthropic`` (its Messages API)."""
        if self.path.endswith("/messages"):
            return "anthropic"
        return "chat" if self.path.endswith("/chat/completions") else "responses"

    @property
    def stream(self) -> bool:
        return self.body.get("stream") is True

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def items(self) -> list[dict[str, Any]]:
        """Input items (Responses) or messages (chat), as sent."""
        key = "input" if self.api == "responses" else "messages"
        value = self.body.get(key, [])
        return [{"role": "user", "content": value}] if isinstance(value, str) else list(value)

    @property
    def text(self) -> str:
        """All that the model would read, in order, as plain text."""
        found = [str(self.body.get("instructions") or "")]
        for item in self.items:
            found.extend(_strings(item))
        return "\n".join(part for part in found if part)

    @property
    def tool_names(self) -> list[str]:
        tools = self.body.get("tools") or []
        return [tool.get("name") or tool.get("function", {}).get("name", "") for tool in tools]

    @property
    def tool_outputs(self) -> dict[str, str]:
        """Call id to output, of all calls that the request reports as answered, in order."""
        outputs: dict[str, str] = {}
        for item in self.items:
            if item.get("type") == "function_call_output":
                outputs[item["call_id"]] = "\n".join(_strings(item.get("output")))
            elif item.get("role") == "tool":
                outputs[item["tool_call_id"]] = "\n".join(_strings(item.get("content")))
        return outputs

    @property
    def last_output(self) -> str:
        """The output of the last answered call, or an empty string."""
        outputs = list(self.tool_outputs.values())
        return outputs[-1] if outputs else ""

    @property
    def texts(self) -> list[str]:
        """The texts of messages, in order."""
        found = []
        for item in self.items:
            content = item.get("content")
            if isinstance(content, list):
                content = "".join(part.get("text", "") for part in content)
            found.append(content or "")
        return found

    @property
    def messages_text(self) -> str:
        """The texts of all messages: over chat completions a context and the message behind it are
        one message, over the Responses API two."""
        return "\n\n".join(["", *self.texts, ""])

    def context_before(self, message: str) -> str:
        """The context right before the last message of this text; empty where there is none."""
        whole = self.messages_text
        before = whole[: whole.rindex(f"\n\n{message}\n\n")]
        if not before.endswith("\n</context>"):
            return ""
        return before[before.rindex("\n\n<context>\n") + 2 :]

    def find(self, regex: str, group: int = 1, which: str = "last") -> str:
        """A group of a match of ``regex`` in ``text``. A regex without groups gives the whole
        match."""
        matches = list(re.finditer(regex, self.text, re.DOTALL | re.MULTILINE))
        if not matches:
            raise ScriptError(f"the regex {regex!r} matches nothing in the request")
        match = matches[0] if which == "first" else matches[-1]
        return match.group(group if match.re.groups else 0)

    def cell(self, text: str) -> str:
        """The id of the last cell, in the tool outputs' JSON, whose source contains ``text``."""
        found = None
        for output in self.tool_outputs.values():
            for candidate in _json_objects(output):
                source = candidate.get("content", candidate.get("source"))
                source = "".join(source) if isinstance(source, list) else source
                cell_id = candidate.get("id", candidate.get("cellId"))
                if isinstance(source, str) and text in source and isinstance(cell_id, str):
                    found = cell_id
        if found is None:
            raise ScriptError(f"no tool output has a cell whose source contains {text!r}")
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "headers": self.headers,
            "authorization": self.authorization,
            "body": self.body,
            "stream": self.stream,
            "text": self.text,
            "toolNames": self.tool_names,
            "lastOutput": self.last_output,
            "arrivedAt": self.arrived_at,
            "outcome": self.outcome,
            "chunksSent": self.chunks_sent,
        }


def _strings(value: Any) -> Iterator[str]:
    """The strings of a message or item that a model reads: contents, arguments and outputs, not
    roles or ids."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key in (
            "content",
            "text",
            "name",
            "arguments",
            "output",
            "function",
            "tool_calls",
            "summary",
        ):
            if key in value:
                yield from _strings(value[key])
    elif isinstance(value, Sequence):
        for part in value:
            yield from _strings(part)


def _json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Every object in the JSON that ``text`` is, or holds; outer ones before inner ones."""
    decoder = json.JSONDecoder()
    position = 0
    while (position := text.find("{", position)) >= 0:
        try:
            value, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError:
            position += 1
            continue
        yield from _objects_in(value)


def _objects_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _objects_in(part)


def look_up(value: Any, request: RecordedRequest) -> Any:
    """``value`` with every look-up in it replaced by what the request holds."""
    if isinstance(value, Mapping):
        if set(value) <= {"regex", "group", "which"} and "regex" in value:
            return request.find(value["regex"], value.get("group", 1), value.get("which", "last"))
        if set(value) == {"cell"}:
            return request.cell(value["cell"])
        if set(value) == {"format", "values"}:
            return value["format"].format(*(look_up(part, request) for part in value["values"]))
        return {key: look_up(part, request) for key, part in value.items()}
    if isinstance(value, list):
        return [look_up(part, request) for part in value]
    return value
