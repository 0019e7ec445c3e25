"""Checks the turns that an answer cites as ``[few words](turn:<turnId>)``.

A model may invent an id. A link to such a turn becomes marked text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...protocol.history import Citation

if TYPE_CHECKING:
    from ...store.queries.history import HistoryQueries

SCHEME = "turn:"
NO_SUCH_TURN = "no such turn"

LONGEST = 500_000
"""Characters of an answer whose links are checked."""
_SPACE = r"\s{0,20}"
_TARGET = (
    rf"(?:<{_SPACE})?turn:(?://)?([^\s)>\]\"]{{0,100}}){_SPACE}"
    rf"(?:>{_SPACE})?(?:\"[^\"]{{0,200}}\"{_SPACE})?"
)
_LINK = re.compile(rf"!?\[([^\]\[]*)\]\({_SPACE}{_TARGET}\)", re.IGNORECASE)
# What is left after the links: <turn:id>, a definition for a reference, HTML, the bare scheme.
_OTHER = re.compile(r"<?\bturn:(?://)?([\w-]+)>?", re.IGNORECASE)


@dataclass(frozen=True)
class Cited:
    """An answer whose links all lead somewhere; ``unknown`` are the ids that were made up."""

    text: str
    citations: list[Citation]
    unknown: list[str]


async def check_citations(text: str, past: HistoryQueries) -> Cited:
    """Look up every turn that the text names, and take out the links to those that are not."""
    if len(text) > LONGEST:
        return Cited(text, [], [])
    named = [*_ids(_LINK, text, 2), *_ids(_OTHER, _LINK.sub("", text), 1)]
    found = await past.citations(named) if named else []
    known = {citation.turn_id for citation in found}

    def link(match: re.Match[str]) -> str:
        label, turn_id = match.group(1).strip(), match.group(2)
        if turn_id in known:
            return f"[{label or 'turn'}]({SCHEME}{turn_id})"
        return f"{label} ({NO_SUCH_TURN})".strip()

    def bare(match: re.Match[str]) -> str:
        turn_id = match.group(1)
        return f"[turn]({SCHEME}{turn_id})" if turn_id in known else f"({NO_SUCH_TURN})"

    parts: list[str] = []
    end = 0
    for match in _LINK.finditer(text):
        parts += [_OTHER.sub(bare, text[end : match.start()]), link(match)]
        end = match.end()
    parts.append(_OTHER.sub(bare, text[end:]))
    unknown = [turn_id for turn_id in dict.fromkeys(named) if turn_id not in known]
    return Cited("".join(parts), found, unknown)


def _ids(pattern: re.Pattern[str], text: str, group: int) -> Iterable[str]:
    return (match.group(group) for match in pattern.finditer(text))
