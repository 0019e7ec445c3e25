"""Tool calls that a model wrote as text instead of making them: their forms, found in an answer.

Small models do so, in the form that their template taught them: bare JSON, a list, or several in a
row, in a fence or between tags. An object ``{"name", "arguments"}`` is a call, also with
``parameters`` (Llama), inside ``{"type": "function", "function": …}`` (OpenAI), with arguments
that are JSON in a string, and with its outer braces doubled (as Qwen2.5's template shows it).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ...protocol.json_text import parse_json

_TAGS = ("tool_call", "tool_calls", "tools", "function_call", "function_calls")
_FENCES = ("json", "xml", "tool_call", "tool_calls")
_MARKS = ("[TOOL_CALLS]", "<|python_tag|>")
_WRAPPERS = (
    *(f"<{tag}>" for tag in _TAGS),
    *(f"</{tag}>" for tag in _TAGS),
    *(f"```{language}\n" for language in _FENCES),
    "```\n",
    *_MARKS,
)
_WRAPPER = re.compile(
    rf"</?(?:{'|'.join(_TAGS)})>|```(?:{'|'.join(_FENCES)})?(?=\s|$)|"
    + "|".join(map(re.escape, _MARKS))
)
_SPACE = re.compile(r"\s*")
_HEAD = re.compile(r"[\[\s]*\{\{?\s*")
_FIRST_KEYS = ("name", "arguments", "parameters", "function", "type")
_KINDS = ("function", "function_call", "tool_call")
_ANYWHERE = re.compile(r'\{\s*"(?:name|arguments|parameters|function|type|id)"\s*:')
_NAME = re.compile(r'"(?:name|function)"\s*:\s*"(\w+)"')
_XML = re.compile(r"<(?:function|tool|invoke|tool_call)\b[^>]{0,40}?\bname\s*=\s*[\"'](\w+)[\"']")
_LINK = re.compile(r"\[[^\]]*\]\([^)]*\)")
# Letters beside calls: of "More:" or "Here it is:".
_SAYS_NOTHING = 10
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class WrittenCall:
    """A call as text: ``arguments`` is None where its JSON cannot be read."""

    name: str
    arguments: dict[str, Any] | None


class Beginning(Enum):
    """What the beginning of an answer may become."""

    TEXT = "text"
    OPEN = "open"
    CALL = "call"


def whole_answer(text: str) -> list[WrittenCall]:
    """The calls that ``text`` consists of; none if there is anything else in it."""
    calls: list[WrittenCall] = []
    at = _skip(text, 0)
    while at < len(text):
        wrapper = _WRAPPER.match(text, at)
        if wrapper is not None:
            at = _skip(text, wrapper.end())
            continue
        decoded = _decode_doubled(text, at) if text.startswith("{{", at) else _decode(text, at)
        if decoded is None:
            return []
        value, end = decoded
        found = [_as_call(each) for each in (value if isinstance(value, list) else [value])]
        calls.extend(each for each in found if each is not None)
        if None in found:
            return []
        at = _skip(text, end)
    return calls


def calls_within(text: str, is_tool: Callable[[str], bool]) -> Iterator[WrittenCall]:
    """The calls of tools anywhere in a text, also those whose JSON is broken, or that are XML."""
    for tag in _XML.finditer(text):
        if is_tool(tag[1]):
            yield WrittenCall(tag[1], None)
    at = 0
    while (head := _ANYWHERE.search(text, at)) is not None:
        at = head.end()
        decoded = _decode(text, head.start())
        if decoded is None:
            named = _NAME.search(text, head.start(), head.start() + 200)
            if named is not None and is_tool(named[1]):
                yield WrittenCall(named[1], None)
            continue
        call = _as_call(decoded[0])
        if call is not None and is_tool(call.name):
            yield call
            at = decoded[1]


def says_more_than_calls(text: str, letters: int = _SAYS_NOTHING) -> bool:
    """Whether a text says anything beside the calls in it: more than links and a word or two, of
    ``letters`` at most."""
    parts: list[str] = []
    at, has_calls = 0, False
    while (head := _ANYWHERE.search(text, at)) is not None:
        parts.append(text[at : head.start()])
        decoded = _decode(text, head.start())
        if decoded is not None and _as_call(decoded[0]) is not None:
            has_calls = True
            at = decoded[1]
        else:
            parts.append(head[0])
            at = head.end()
    rest = "".join([*parts, text[at:]])
    rest = _LINK.sub("", _WRAPPER.sub("", rest))
    return len(re.findall(r"\w", rest)) > (letters if has_calls else 0)


def beginning(text: str, names: Collection[str]) -> Beginning:
    """Whether an answer that begins like this may be calls of ``names``."""
    at = _skip(text, 0)
    while at < len(text):
        wrapper = _WRAPPER.match(text, at)
        if wrapper is not None and (wrapper.end() < len(text) or text[-1] in ">]"):
            at = _skip(text, wrapper.end())
        elif any(each.startswith(text[at:]) for each in _WRAPPERS):
            return Beginning.OPEN
        else:
            return _beginning_of_value(text, at, names)
    return Beginning.OPEN


def _beginning_of_value(text: str, at: int, names: Collection[str]) -> Beginning:
    head = _HEAD.match(text, at)
    if head is None:
        return Beginning.OPEN if re.fullmatch(r"[\[\s]+", text[at:]) else Beginning.TEXT
    key, is_whole, at = _string(text, head.end())
    if key is None or not is_whole:
        return _may_be(key, _FIRST_KEYS)
    if key not in _FIRST_KEYS:
        return Beginning.TEXT
    wanted = {"name": names, "type": _KINDS}.get(key)
    colon = re.compile(r"\s*:\s*").match(text, at)
    if wanted is None:
        return Beginning.CALL
    if colon is None or colon.end() == len(text):
        return Beginning.OPEN if not text[at:].strip(" \n\t:") else Beginning.TEXT
    value, is_whole, _ = _string(text, colon.end())
    if value is None or not is_whole:
        return _may_be(value, wanted)
    return Beginning.CALL if value in wanted else Beginning.TEXT


def _may_be(written: str | None, wanted: Collection[str]) -> Beginning:
    """For a string of which only the beginning is there; None: something else is there."""
    fits = written is not None and any(each.startswith(written) for each in wanted)
    return Beginning.OPEN if fits else Beginning.TEXT


def _string(text: str, at: int) -> tuple[str | None, bool, int]:
    """A JSON string at a place, whether it is whole, and its end."""
    if at == len(text):
        return "", False, at
    if text[at] != '"':
        return None, False, at
    end = text.find('"', at + 1)
    return (text[at + 1 :], False, len(text)) if end < 0 else (text[at + 1 : end], True, end + 1)


def _skip(text: str, at: int) -> int:
    """The end of the white space at a place."""
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def _decode(text: str, at: int) -> tuple[Any, int] | None:
    """The JSON value at a place and its end; None where there is none, or a broken one."""
    try:
        _, end = _DECODER.raw_decode(text, at)
        return parse_json(text[at:end], strict=False), end
    except (ValueError, RecursionError):
        return None


def _decode_doubled(text: str, at: int) -> tuple[Any, int] | None:
    """The JSON object between doubled braces at a place and the end of those; None where there is
    none, or only the opening one is doubled."""
    decoded = _decode(text, at + 1)
    if decoded is None or not text.startswith("}", decoded[1]):
        return None
    return decoded[0], decoded[1] + 1


def _as_call(value: Any) -> WrittenCall | None:
    """The call that a JSON value is; None where it is none, or has more in it than a call."""
    if not isinstance(value, dict):
        return None
    rest = dict(value)
    if rest.pop("type", "function") not in _KINDS or not isinstance(rest.pop("id", ""), str):
        return None
    inner = rest.get("function")
    if isinstance(inner, dict) and len(rest) == 1:
        rest = dict(inner)
    elif isinstance(inner, str) and "name" not in rest:
        rest["name"] = rest.pop("function")
    name = rest.pop("name", None)
    given = [rest.pop(key) for key in ("arguments", "parameters") if key in rest]
    if rest or not isinstance(name, str) or len(given) != 1:
        return None
    return _with_arguments(name, given[0])


def _with_arguments(name: str, arguments: Any) -> WrittenCall | None:
    if isinstance(arguments, str):
        try:
            arguments = parse_json(arguments, strict=False)
        except ValueError:
            return WrittenCall(name, None)
    return WrittenCall(name, arguments) if isinstance(arguments, dict) else None
