"""A conversation for people: messages in full, tool calls folded, changes as diffs."""

from __future__ import annotations

import difflib
import html
import json
import re
from collections.abc import Iterator
from typing import Any

from ....protocol.requests import Session, ToolCallRecord, Turn
from ....protocol.tools import Change
from ....protocol.turn_view import Call, Text
from .transcript import (
    GOES_ON,
    day_and_time,
    heading_of,
    how_it_ended,
    note_text,
    sources_of,
    view_of,
)

OUTPUT_CHARACTERS = 20_000
WITHDRAWN = "The user went back to before this message; the rest is no longer in use."


def as_markdown(session: Session, turns: list[Turn]) -> str:
    """The whole conversation; withdrawn turns are folded."""
    blocks = [f"# {_one_line(session.title)}", _about(session, turns)]
    for turn in turns:
        written = list(_turn(turn))
        if turn.withdrawn_at is not None:
            head, *rest = written
            blocks += [head, _folded("Withdrawn", "\n\n".join([f"*{WITHDRAWN}*", *rest]))]
        else:
            blocks += written
    return "\n\n".join(blocks) + "\n"


def _about(session: Session, turns: list[Turn]) -> str:
    known = [("Begun", day_and_time(session.created_at)), ("Messages", str(len(turns)))]
    settings = session.settings
    known += [
        (name, value)
        for name, value in (("Model", settings.model), ("Notebook", settings.notebook))
        if value
    ]
    if session.forked_from is not None:
        known.append(("Forked from", _one_line(session.forked_from.title)))
    return "\n".join(f"- {name}: {value}" for name, value in known)


def _turn(turn: Turn) -> Iterator[str]:
    model = f", {turn.model}" if turn.model else ""
    yield f"## {turn.index + 1}. You"
    yield f"<sub>{day_and_time(turn.started_at)}, {turn.mode.title()} mode{model}</sub>"
    yield _quoted(turn.message)
    if not turn.compare:
        yield "### Agent"
    calls = {call.call_id: call for call in turn.tool_calls}
    for part in view_of(turn).shown():
        if isinstance(part, Call):
            yield _call(calls[part.call_id])
        elif isinstance(part, Text):
            yield part.text.strip()
        else:
            yield note_text(part)
    for answer in turn.answers:
        yield f"### Agent, {_one_line(heading_of(turn, answer))}"
        for call in answer.tool_calls:
            yield _call(call)
        yield answer.text.strip()
        if (sources := sources_of(answer)) is not None:
            yield sources
        if answer.answer_id == turn.chosen_answer:
            yield f"*{GOES_ON}*"
    for path in dict.fromkeys(change.path for change in turn.changes):
        yield _changes(path, [change for change in turn.changes if change.path == path])
    ending = how_it_ended(turn)
    if ending is not None:
        yield f"*{ending}*"


def _call(call: ToolCallRecord) -> str:
    parts = []
    if call.arguments not in (None, {}, ""):
        parts.append(f"Arguments:\n\n{_fenced(_pretty(call.arguments), 'json')}")
    if call.output is not None:
        output = _pretty(call.output)
        cut = len(output) - OUTPUT_CHARACTERS
        if cut > 0:
            output = f"{output[:OUTPUT_CHARACTERS]}\n… {cut} more characters"
        parts.append(f"Output:\n\n{_fenced(output)}")
    return _folded(f"{call.name}: {call.status}", "\n\n".join(parts) or "No arguments, no output.")


def _changes(path: str, changes: list[Change]) -> str:
    diffs = [_diff(change) for change in changes]
    cells = len({change.cell_id for change in changes if change.cell_id})
    count = f" ({cells} {'cell' if cells == 1 else 'cells'})" if cells else ""
    return _folded(f"Changes to {path}{count}", _fenced("\n".join(diffs), "diff"))


def _diff(change: Change) -> str:
    name = f"{change.path}#{change.cell_id}" if change.cell_id else change.path
    lines = difflib.unified_diff(
        (change.before or "").splitlines(),
        (change.after or "").splitlines(),
        name if change.before is not None else "/dev/null",
        name if change.after is not None else "/dev/null",
        lineterm="",
    )
    return "\n".join(lines) or f"# {change.op} {name}"


def _folded(summary: str, body: str) -> str:
    # The empty lines make the content between the tags Markdown.
    return f"<details><summary>{html.escape(summary)}</summary>\n\n{body}\n\n</details>"


def _fenced(text: str, language: str = "") -> str:
    """A code block with a fence that its content cannot close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines()) or "> "


def _pretty(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _one_line(text: str) -> str:
    return " ".join(text.split())
