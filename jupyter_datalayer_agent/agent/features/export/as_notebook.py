"""A conversation as a notebook: prompts and answers as Markdown, code that was written as code.

Cells carry in their metadata which turn they come from. Withdrawn turns are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ....notebook.agent_mark import KEY, MADE_BY_AGENT
from ....protocol.requests import Session, Turn
from ....protocol.tools import Change
from ....protocol.turn_view import Note, Text
from .transcript import (
    GOES_ON,
    day_and_time,
    heading_of,
    how_it_ended,
    note_text,
    sources_of,
    view_of,
)

Cell = dict[str, Any]
PYTHON = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}


def as_notebook(session: Session, turns: list[Turn]) -> str:
    """A notebook of format 4.5."""
    intro = f"# {' '.join(session.title.split())}\n\n{day_and_time(session.created_at)}"
    cells = [_markdown(intro, {})]
    for turn in turns:
        if turn.withdrawn_at is None:
            cells += _turn(turn)
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


def _turn(turn: Turn) -> Iterator[Cell]:
    mark = {"turnId": turn.id}
    quoted = "\n".join(f"> {line}".rstrip() for line in turn.message.strip().splitlines())
    yield _markdown(f"## {turn.index + 1}. You\n\n{quoted}", {**mark, "role": "user"})
    # Only the final text: interim remarks are left out.
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
        goes_on = [f"*{GOES_ON}*"] if answer.answer_id == turn.chosen_answer else []
        heading = heading_of(turn, answer)
        sources = sources_of(answer)
        cited = [] if sources is None else [sources]
        text = [f"*{heading[0].upper()}{heading[1:]}*", answer.text.strip(), *cited, *goes_on]
        provenance = answer.provenance.to_wire()
        about = {**mark, **MADE_BY_AGENT, "role": "assistant", "provenance": provenance}
        yield _markdown("\n\n".join(text), about)


def _written(change: Change) -> str | None:
    """The source of a cell as this call left it."""
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
