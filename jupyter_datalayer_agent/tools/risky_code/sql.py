"""SQL that loses data: ``DROP``, ``TRUNCATE``, ``ALTER``, ``DELETE``, ``UPDATE`` without
``WHERE``."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NOISE = re.compile(r"--[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_STRING = re.compile(r"'(?:[^']|'')*'")
_NAME = r"(?P<name>[^\s;(,]+)"
_LOSSES = (
    (re.compile(rf"DROP\s+(?P<what>\w+)\s+(?:IF\s+EXISTS\s+)?{_NAME}"), "drops the {what}"),
    (re.compile(rf"TRUNCATE\s+(?:TABLE\s+)?{_NAME}"), "empties the table"),
    (re.compile(rf"ALTER\s+(?P<what>\w+)\s+(?:IF\s+EXISTS\s+)?{_NAME}"), "alters the {what}"),
    (re.compile(rf"DELETE\s+FROM\s+{_NAME}"), "deletes rows of"),
    (re.compile(rf"(?:CREATE\s+OR\s+REPLACE)\s+(?P<what>TABLE)\s+{_NAME}"), "replaces the {what}"),
)
_UPDATE = re.compile(rf"UPDATE\s+{_NAME}\s+SET\b(?!.*\bWHERE\b)", re.DOTALL)
_COPY = re.compile(r"COPY\b.*?\bTO\s+'(?P<path>(?:[^']|'')[^']*(?:''[^']*)*)'", re.DOTALL)


def losses(text: str) -> Iterator[tuple[str, str]]:
    """(action, target) of each statement that loses data: ("drops the table", "cars").

    A ``COPY … TO 'file'`` is (``""``, file): it depends on whether the file exists.
    """
    for statement in _NOISE.sub(" ", text).split(";"):
        shown = statement.strip()
        # Keywords match in any case, and not inside strings.
        bare = _STRING.sub(lambda string: "'" + " " * (len(string[0]) - 2) + "'", shown)
        upper = bare.upper()
        for pattern, verb in _LOSSES:
            if match := pattern.match(upper):
                what = match.groupdict().get("what") or ""
                yield verb.format(what=what.lower()), _name(shown, match)
                break
        else:
            if match := _UPDATE.match(upper):
                yield "changes all rows of", _name(shown, match)
            elif upper.startswith("COPY") and (copied := _COPY.match(_upper_words(shown))):
                yield "", shown[copied.start("path") : copied.end("path")]


def _upper_words(text: str) -> str:
    upper = text.upper()
    return upper if len(upper) == len(text) else text


def _name(shown: str, match: re.Match[str]) -> str:
    return shown[match.start("name") : match.end("name")].strip("\"`[]'")
