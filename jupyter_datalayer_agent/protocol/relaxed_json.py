"""JSON objects as models write them by mistake: with other quotes, Python's words, bare keys.

Only what has one meaning is read. Nothing is completed, left out or guessed, as lenient parsers do:
arguments that were cut off would be carried out as if they were whole.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from .json_text import parse_json

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
