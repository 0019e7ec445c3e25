"""JSON that comes from outside, and text that may hold half a character."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

MAX_DEPTH = 200
"""How deep values may be nested. pydantic writes none that is nested more than 255 deep, and what
comes in is put into other things before it goes out."""

_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str | bytes, *, strict: bool = True, repeats: bool = True) -> Any:
    """The value of a JSON text. Raises ``ValueError``, which says what is wrong with it.

    Of a key that comes twice the last value counts, as in a browser. Halves of a character that
    stand alone are replaced, as a browser does where text leaves it: no file, database or request
    could hold them. Without ``strict`` strings may hold line breaks; without ``repeats`` a key that
    comes twice is an error.
    """
    if isinstance(text, bytes):
        text = text.decode()
    try:
        value = json.loads(
            text,
            strict=strict,
            parse_constant=_refuse_constant,
            object_pairs_hook=None if repeats else _without_repeats,
        )
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except json.JSONDecodeError:
        raise
    except _RepeatedKey:
        raise
    except ValueError as error:
        raise ValueError(_message(error)) from None
    # To count is much cheaper than to look, and most texts hold few brackets.
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deeper(value, MAX_DEPTH):
        raise ValueError(_TOO_DEEP)
    if _ESCAPED_HALF.search(text) or plain_text(text) is not text:
        return without_halves(value)
    return value


_TOO_DEEP = f"it is nested more than {MAX_DEPTH} deep"


class _NoNumber(ValueError):
    """``NaN`` or ``Infinity``, which Python reads and JSON does not have."""


class _RepeatedKey(ValueError):
    """A key that comes twice in an object."""


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _RepeatedKey("a key comes twice")
    return found


def _refuse_constant(name: str) -> Any:
    raise _NoNumber(f"{name} is no JSON")


def _message(error: ValueError) -> str:
    # Python says how to lift its limit on digits, which is not the sender's to do.
    return str(error) if isinstance(error, _NoNumber) else "it holds a number with too many digits"


def _is_deeper(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [
            child
            for each in level
            for child in (each.values() if type(each) is dict else each)
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return False
    return True


def without_halves(value: Any) -> Any:
    """A JSON value whose texts can all be encoded as UTF-8."""
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, list):
        return [without_halves(each) for each in value]
    if isinstance(value, dict):
        return {plain_text(key): without_halves(each) for key, each in value.items()}
    return value


def to_json(value: Any) -> str:
    """Compact JSON that can be encoded as UTF-8.

    A model's stream may cut an emoji in two, and half of one is no valid UTF-8. Such text is
    written as ``\\ud83d`` escapes, so that the halves are whole again once they stand side by side.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def plain_text(text: str) -> str:
    """The text with halves of a character joined, and lone halves replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


# JSON objects as models write them by mistake: with other quotes, Python's words, bare keys.
#
# Only what has one meaning is read. Nothing is completed, left out or guessed, as lenient parsers
# do: arguments that were cut off would be carried out as if they were whole.


_WORDS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false"}
_WORDS["null"] = "null"
_MOST = 20_000
"""Brackets, commas, strings and words of an object at most."""
LONGEST = 200_000
"""Characters of a text that is read as an object."""
_CLOSES = {"{": "}", "[": "]"}
_COLON = re.compile(r"\s*:")
# A quote that the delimiters of JSON would end, and an escape that JSON does not know.
_UNSOUND = re.compile(r"\\.|\"", re.DOTALL)


@lru_cache
def _lexeme(quote: str | None) -> re.Pattern[str]:
    own = "" if quote is None else rf"|{re.escape(quote)}(?P<own>.*?){re.escape(quote)}"
    return re.compile(
        r"(?P<space>\s+)|(?P<colon>:)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)"
        rf'{own}|"""(?P<long>[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*)"""'
        r'|"(?P<double>[^"\\]*(?:\\.[^"\\]*)*)"'
        r"|'(?P<single>[^'\\]*(?:\\.[^'\\]*)*)'"
        r"|(?P<number>-?\d[\w.+-]*)|(?P<word>[A-Za-z_]\w*)",
        re.DOTALL,
    )


def relaxed_object(text: str, at: int = 0, quote: str | None = None) -> tuple[dict[str, Any], int]:
    """The object that begins at a place, and its end.

    Read are JSON, strings in single or three quotes, line breaks in strings, ``True``, ``False``
    and ``None``, keys without quotes, and a comma before a closing bracket. ``quote`` is another
    mark around strings, within which there are no escapes. Raises ``ValueError``.
    """
    parts: list[str] = []
    brackets: list[str] = []
    lexeme = _lexeme(quote)
    if not text.startswith("{", at):
        raise ValueError("it is no object")
    if len(text) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST:,} characters")
    while True:
        found = lexeme.match(text, at)
        if found is None or len(parts) > _MOST:
            raise ValueError(f"it is broken at character {at}")
        at = found.end()
        kind, part = str(found.lastgroup), found[0]
        if kind == "open":
            brackets.append(_CLOSES[part])
        elif kind == "close":
            if not brackets or brackets.pop() != part:
                raise ValueError(f"it is broken at character {at - 1}")
            if parts[-1] == "," and parts[-2] not in ("[", "{", ","):
                parts.pop()
        elif kind == "own":
            part = json.dumps(found["own"])
        elif kind in ("long", "double", "single"):
            part = found[kind]
            if kind != "double" or "\\'" in part:
                part = _UNSOUND.sub(_sound, part)
            part = f'"{part}"'
        elif kind == "word":
            part = json.dumps(part) if _COLON.match(text, at) else _WORDS.get(part, part)
        if kind != "space":
            parts.append(part)
        if not brackets:
            # Apart, so that no two of them become one: `1 2`.
            value: dict[str, Any] = parse_json(" ".join(parts), strict=False, repeats=False)
            return value, at


def _sound(found: re.Match[str]) -> str:
    if found[0] == "\\/":
        raise ValueError("\\/ is one character in JSON and two in Python")
    return {'"': '\\"', "\\'": "'"}.get(found[0], found[0])
