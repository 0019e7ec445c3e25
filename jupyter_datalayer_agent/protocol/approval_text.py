"""What an approval is about, as text: for programs whose users see no card of ours.

Nothing is left out, and nothing can hide: what is long stays long, and characters that would move
or cover others are named.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_AROUND = 3


@dataclass(frozen=True)
class ShownPart:
    """A text that the user has to see before the decision, under its ``heading`` (may be empty)."""

    heading: str
    text: str

    def __str__(self) -> str:
        return f"{self.heading}:\n{self.text}" if self.heading else self.text


def approval_parts(event: Mapping[str, Any]) -> list[ShownPart]:
    """The parts of an ``approval_requested`` event beside its reason: what would be sent, changed
    or run, or else the arguments. None of an act of code that runs: the reason says all."""
    if event.get("act") is not None:
        return []
    if (share := event.get("share")) is not None:
        return [ShownPart("Would be sent", visible(share["text"]))]
    changes = event.get("changes") or ()
    parts = [ShownPart(_heading(each), visible(_diff(each))) for each in changes]
    code = [ShownPart(visible(e["subject"]), visible(e["source"])) for e in event.get("code") or ()]
    return [*parts, *code] or list(_arguments(event.get("arguments")))


def visible(text: str) -> str:
    """The text with its control characters, and those that show nothing or change the direction,
    as escapes: a terminal or a font would let them hide what is beside them."""
    return text if text.isascii() and text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf"):
        return character
    return character.encode("unicode_escape").decode("ascii")


_DONE = {"insert": "new", "create": "new", "delete": "deleted", "move": "moved"}


def _heading(change: Mapping[str, Any]) -> str:
    path, index = visible(change["path"]), change.get("index")
    what = path if index is None else f"Cell {index + 1} of {path}"
    return f"{what} ({_DONE.get(change['op'], 'changed')})"


def _diff(change: Mapping[str, Any]) -> str:
    """The lines that go and come, with some around them."""
    before = (change.get("before") or "").split("\n")
    after = (change.get("after") or "").split("\n")
    if change.get("before") is None or change.get("after") is None:
        before, after = (_lines(change.get(each)) for each in ("before", "after"))
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    above = before[max(0, start - _AROUND) : start]
    below = before[len(before) - end :][:_AROUND]
    marked = [(" ", above), ("-", gone), ("+", come), (" ", below)]
    return "\n".join(f"{sign} {line}" for sign, lines in marked for line in lines)


def _lines(text: str | None) -> list[str]:
    return [] if text is None else text.split("\n")


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _arguments(arguments: Any) -> Iterator[ShownPart]:
    if isinstance(arguments, Mapping) and isinstance(code := arguments.get("code"), str):
        yield ShownPart("", visible(code))
        arguments = {key: each for key, each in arguments.items() if key != "code"}
    if arguments:
        yield ShownPart("", visible(json.dumps(arguments, ensure_ascii=False, indent=2)))
