"""Suggests the next cell, with one model call outside any session.

The model reads the sources of nearby cells and the names and types of variables, but no outputs,
values or column names.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from ...models.types import ModelError, ModelRequest
from ...protocol import events
from ...protocol.base import new_id
from ...protocol.cells import NextCellReply, NextCellRequest, PageCell
from ...protocol.context import Variable
from ...protocol.errors import AgentError
from ...protocol.fences import fences, plain_code
from ...protocol.requests import ChatRequest, SessionSettings, Usage
from ...settings.turn_settings import for_turn
from ..context.system_prompt import prompt_text
from ..history import user_item
from ..model_calls.call import ask_once
from ..runtime import Runtime

CELLS_BEFORE = 6
CELLS_AFTER = 2
MAX_CELL_CHARACTERS = 2_000
MAX_VARIABLES = 60
MAX_TOKENS = 1_000
SECONDS = 30.0
"""By then the user has moved on."""

_PRIVATE = re.compile(r"^_")


async def next_cell(runtime: Runtime, path: str, wanted: NextCellRequest) -> NextCellReply:
    """Ask for the cell after ``wanted.cell_id``. Cancelling it closes the model's connection.

    Raises ``AgentError``: ``no_model``, ``forbidden`` if another model is locked, ``not_found`` for
    a missing cell, ``model_error``.
    """
    asked = ChatRequest(message="", model=wanted.model)
    settings = for_turn(runtime.settings(), SessionSettings(), asked, "edit")
    model = runtime.resolve_model(settings)
    cells = (await runtime.notebooks.read(path, wanted.client_id)).cells
    place = next((i for i, cell in enumerate(cells) if cell.id == wanted.cell_id), None)
    if place is None:
        raise AgentError("not_found", f"The notebook has no cell {wanted.cell_id}.")
    found = await runtime.notebooks.variables(path)
    request = ModelRequest(
        model=model,
        instructions=prompt_text("next-cell.md"),
        input=[user_item(_text(cells, place, found.reply().variables))],
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_output_tokens=min(settings.max_output_tokens or MAX_TOKENS, MAX_TOKENS),
        stream=settings.streaming,
        api_base=settings.api_base,
        model_api=settings.model_api,
    )
    try:
        answer = await _answer(runtime, request)
    except asyncio.TimeoutError:
        return NextCellReply(source="")
    return NextCellReply(source=source_in(answer))


async def _answer(runtime: Runtime, request: ModelRequest) -> str:
    """The model's answer, counted and reported as a call without a session."""
    answer_id, spent = new_id("answer"), list[Usage]()
    runtime.telemetry("", events.AnswerStarted(answer_id=answer_id, model=request.model))
    finished = events.AnswerFinished(answer_id=answer_id, model=request.model, status="stopped")
    try:
        answer = await asyncio.wait_for(ask_once(runtime.model, request, spent), SECONDS)
        finished.status = "completed"
    except ModelError as error:
        finished.status, finished.code = "failed", "model_error"
        raise AgentError("model_error", error.message) from error
    finally:
        finished.usage = spent[0] if spent else None
        runtime.telemetry("", finished)
        if finished.usage is not None:
            await runtime.store.usage.add_apart(request.model, finished.usage)
    # A cut answer would be half a cell.
    return answer.text if answer.finish_reason == "stop" else ""


def source_in(answer: str) -> str:
    """The source of the first fenced block of an answer; empty without one."""
    block = next(fences(answer), None)
    return plain_code(block.code.strip("\n")) if block is not None and block.is_closed else ""


def _text(cells: Sequence[PageCell], place: int, variables: Sequence[Variable]) -> str:
    around = cells[max(0, place - CELLS_BEFORE) : place + CELLS_AFTER + 1]
    parts = []
    for cell in around:
        run = ", run last" if cell.id == cells[place].id else ""
        parts.append(f"## Cell {cell.index + 1} ({cell.type}{run})\n{_fenced(cell.source)}")
        if run:
            parts.append("## Here the new cell comes")
    names = [f"{each.name}: {each.type}" for each in variables if not _PRIVATE.match(each.name)][
        :MAX_VARIABLES
    ]
    parts.append("## Variables\n" + ("\n".join(names) or "None are known."))
    return "\n\n".join(parts)


def _fenced(source: str) -> str:
    """The source, cut if long, in a fence that it cannot close."""
    text = source[:MAX_CELL_CHARACTERS]
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
