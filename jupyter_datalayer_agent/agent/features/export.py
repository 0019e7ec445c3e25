"""Exports a conversation: as Markdown for people, as a notebook, or as JSON for programs."""

from __future__ import annotations

import asyncio
import difflib
import html
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ...notebook.agent_mark import KEY, MADE_BY_AGENT
from ...protocol.answers import FurtherAnswer
from ...protocol.requests import Session, ToolCallRecord, Turn
from ...protocol.sessions import ExportFormat
from ...protocol.tools import Change
from ...protocol.turn_view import BOLD, Call, Note, Text, TurnView
from ...secrets_in_text import redact

if TYPE_CHECKING:
    from ...store.store import Store


# The messages and calls of a turn, in order, for exports.


ENDED = {
    "failed": "This turn failed.",
    "aborted": "This turn was stopped before it finished.",
    "running": "This turn was still running.",
}


def heading_of(turn: Turn, answer: FurtherAnswer) -> str:
    """A heading that says how a further answer of the turn was made."""
    if answer.sources is not None:
        return f"synthesis: {answer.model}"
    return f"compared: {answer.model}" if turn.compare else f"asked again: {answer.model}"


def sources_of(answer: FurtherAnswer) -> str | None:
    """The numbered sources that a synthesis cites; None for any other answer."""
    if answer.sources is None:
        return None
    return ", ".join(f"[{source.number}] {source.model}" for source in answer.sources)


CONTINUED = "The session continued from this answer."


def view_of(turn: Turn) -> TurnView:
    """A stored turn as it was shown, with texts and tool calls in the order in which they came."""
    view = TurnView(turn_id=turn.id)
    calls = {call.call_id: call for call in turn.tool_calls}
    for item in turn.items:
        if item.get("role") == "assistant" and (text := text_of(item)):
            view.parts.append(Text(str(item.get("id")), [text]))
        elif item.get("type") == "function_call" and item.get("call_id") in calls:
            view.parts.append(_call(calls.pop(item["call_id"])))
    view.parts += map(_call, calls.values())
    view.take(
        {
            "type": "final_reply",
            "text": turn.reply,
            "notDone": turn.not_done and turn.not_done.to_wire(),
            "facts": turn.facts and turn.facts.to_wire(),
        }
    )
    return view


def _call(record: ToolCallRecord) -> Call:
    return Call(record.call_id, record.name, record.status)


def note_text(note: Note) -> str:
    """A note as one line of Markdown."""
    emphasis = "**" if note.kind in BOLD else "*"
    return f"{emphasis}{' '.join(note.text.split())}{emphasis}"


def text_of(item: dict[str, Any]) -> str:
    """The text of a message item."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part.get("text") or "" for part in parts if isinstance(part, dict))


def how_it_ended(turn: Turn) -> str | None:
    """A sentence about a turn that failed or has not finished; None for any other."""
    if turn.status == "completed":
        return None
    ending = ENDED[turn.status]
    return f"{ending} {turn.error.message}" if turn.error is not None else ending


def day_and_time(ms: int) -> str:
    """A time in ms since 1970 as text for people, in UTC on every machine."""
    return f"{datetime.fromtimestamp(ms / 1000, timezone.utc):%Y-%m-%d %H:%M} UTC"


# A conversation for programs: everything that is stored.


VERSION = 1


def as_json(session: Session, turns: list[Turn]) -> str:
    """``{version, session, turns}`` with the wire's names, including withdrawn turns."""
    data = {
        "version": VERSION,
        "session": session.to_wire(),
        "turns": [turn.to_wire() for turn in turns],
    }
    return json.dumps(data, ensure_ascii=False, indent=1)


# A conversation for people: messages in full, tool calls folded, changes as diffs.


OUTPUT_CHARACTERS = 20_000
WITHDRAWN = "The user went back to before this message, so the rest no longer counts."


def as_markdown(session: Session, turns: list[Turn]) -> str:
    """The whole conversation; withdrawn turns are folded."""
    blocks = [f"# {_one_line(session.title)}", _about(session, turns)]
    for turn in turns:
        written = list(_turn_as_markdown(turn))
        if turn.withdrawn_at is not None:
            head, *rest = written
            blocks += [head, _folded("Withdrawn", "\n\n".join([f"*{WITHDRAWN}*", *rest]))]
        else:
            blocks += written
    return "\n\n".join(blocks) + "\n"


def _about(session: Session, turns: list[Turn]) -> str:
    facts = [("Started", day_and_time(session.created_at)), ("Messages", str(len(turns)))]
    settings = session.settings
    facts += [
        (name, value)
        for name, value in (("Model", settings.model), ("Notebook", settings.notebook))
        if value
    ]
    if session.forked_from is not None:
        facts.append(("Forked from", _one_line(session.forked_from.title)))
    return "\n".join(f"- {name}: {value}" for name, value in facts)


def _turn_as_markdown(turn: Turn) -> Iterator[str]:
    model = f", {turn.model}" if turn.model else ""
    yield f"## {turn.index + 1}. You"
    yield f"<sub>{day_and_time(turn.started_at)}, {turn.mode.title()} mode{model}</sub>"
    yield _quoted(turn.message)
    if not turn.compare:
        yield "### Agent"
    calls = {call.call_id: call for call in turn.tool_calls}
    for part in view_of(turn).shown():
        if isinstance(part, Call):
            yield _call_as_markdown(calls[part.call_id])
        elif isinstance(part, Text):
            yield part.text.strip()
        else:
            yield note_text(part)
    for answer in turn.answers:
        yield f"### Agent, {_one_line(heading_of(turn, answer))}"
        for call in answer.tool_calls:
            yield _call_as_markdown(call)
        yield answer.text.strip()
        if (sources := sources_of(answer)) is not None:
            yield sources
        if answer.answer_id == turn.chosen_answer:
            yield f"*{CONTINUED}*"
    for path in dict.fromkeys(change.path for change in turn.changes):
        yield _changes(path, [change for change in turn.changes if change.path == path])
    ending = how_it_ended(turn)
    if ending is not None:
        yield f"*{ending}*"


def _call_as_markdown(call: ToolCallRecord) -> str:
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
    # Between the tags, the empty lines are needed for the content to be read as Markdown.
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


# A conversation as a notebook: prompts and answers as Markdown cells, written code as code cells.
#
# The cells' metadata names their turn. Withdrawn turns are left out.


Cell = dict[str, Any]
PYTHON = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}


def as_notebook(session: Session, turns: list[Turn]) -> str:
    """A notebook of format 4.5."""
    intro = f"# {' '.join(session.title.split())}\n\n{day_and_time(session.created_at)}"
    cells = [_markdown(intro, {})]
    for turn in turns:
        if turn.withdrawn_at is None:
            cells += _turn_as_notebook(turn)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": PYTHON,
            "language_info": {"name": "python"},
            KEY: {"sessionId": session.id},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _turn_as_notebook(turn: Turn) -> Iterator[Cell]:
    mark = {"turnId": turn.id}
    quoted = "\n".join(f"> {line}".rstrip() for line in turn.message.strip().splitlines())
    yield _markdown(f"## {turn.index + 1}. You\n\n{quoted}", {**mark, "role": "user"})
    # Below, only the final text is written, without interim remarks.
    for change in turn.changes:
        if written := _written(change):
            yield _cell(
                change.cell_type or "code",
                written,
                {
                    **mark,
                    **MADE_BY_AGENT,
                    "path": change.path,
                    "cellId": change.cell_id,
                    "op": change.op,
                },
            )
    view = view_of(turn)
    last = view.texts[-1] if view.texts else None
    ending = how_it_ended(turn)
    said = [
        part.text.strip() if isinstance(part, Text) else note_text(part)
        for part in view.shown()
        if part is last or isinstance(part, Note)
    ] + ([f"*{ending}*"] if ending else [])
    if said:
        yield _markdown("\n\n".join(said), {**mark, **MADE_BY_AGENT, "role": "assistant"})
    for answer in turn.answers:
        continued = [f"*{CONTINUED}*"] if answer.answer_id == turn.chosen_answer else []
        heading = heading_of(turn, answer)
        sources = sources_of(answer)
        cited = [] if sources is None else [sources]
        text = [f"*{heading[0].upper()}{heading[1:]}*", answer.text.strip(), *cited, *continued]
        provenance = answer.provenance.to_wire()
        about = {**mark, **MADE_BY_AGENT, "role": "assistant", "provenance": provenance}
        yield _markdown("\n\n".join(text), about)


def _written(change: Change) -> str | None:
    """The source of a cell that a change wrote; None for any other change."""
    wrote = change.cell_id is not None and change.op in ("insert", "update")
    return change.after if wrote and change.after != change.before else None


def _markdown(source: str, mark: dict[str, Any]) -> Cell:
    return _cell("markdown", source, mark)


def _cell(kind: str, source: str, mark: dict[str, Any]) -> Cell:
    cell: Cell = {
        "cell_type": kind,
        "metadata": {KEY: mark} if mark else {},
        "source": source.splitlines(keepends=True),
    }
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell


WRITERS: dict[ExportFormat, Callable[[Session, list[Turn]], str]] = {
    "md": as_markdown,
    "ipynb": as_notebook,
    "json": as_json,
}
PAGE = 100


async def exported(store: Store, session_id: str, kind: ExportFormat) -> tuple[Session, str]:
    """The session and its conversation as text, without what looks like a key.

    Raises ``AgentError`` ``not_found``.
    """
    session = await store.sessions.get(session_id)
    turns: list[Turn] = []
    before = None
    while True:
        page = await store.turn_reader.list_page(session_id, PAGE, before)
        turns[:0] = page.turns
        before = page.before
        if before is None:
            # A thread: the diffs of many lines that are alike take seconds.
            text = await asyncio.to_thread(lambda: redact(WRITERS[kind](session, turns)))
            return session, text
