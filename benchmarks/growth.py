"""Larger notebooks and longer chats: linear in the cells, flat in the chat's length."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial

from benchmarks.chats import (
    CALLS,
    READ_ONE,
    median_first_text,
    request,
    running,
    turn_with_calls,
    write_notebook,
)
from benchmarks.table import ms, show
from tests.support.jupyter import RunningServer
from tests.support.long_chats import is_summary
from tests.support.model_script import Say
from tests.support.model_server import ScriptedModelServer

CELLS = (10, 1_000, 5_000)
TURNS = (16, 2_000)
"""Both chats begin with as many turns that are sent whole, and are summed up at the same time."""
RUNS = 5


def main() -> None:
    """Print both tables. Times are whole ones, with litellm's and the model's."""
    with running() as (server, model):
        rows = []
        for cells in CELLS:
            path = write_notebook(server, cells)
            turn_with_calls(server, model, READ_ONE, request(path))
            turns = [turn_with_calls(server, model, READ_ONE, request(path)) for _ in range(RUNS)]
            first = median_first_text(server, model, request(path), RUNS)
            rows.append([f"{cells:,}", ms(statistics.median(turns) / CALLS), ms(first)])
        show("By cells of the notebook, headless", ["cells", "a tool call", "first token"], rows)

        show(
            "By turns of the chat, the two measured in turns",
            ["turns before", "a tool call", "first token"],
            by_turns(server, model),
        )


def by_turns(server: RunningServer, model: ScriptedModelServer) -> list[list[str]]:
    """A row for each length of a chat, for turns before which nothing had to be summed up.

    What is sent is as long in both: a summary, and the newest 8 to 15 turns."""
    path = write_notebook(server, 10)
    chats = {}
    model.set_default(Say("Noted."))
    for count in TURNS:
        chats[count] = server.post("sessions", {})["id"]
        for _ in range(count):
            server.post("chat", request(sessionId=chats[count]))
    turns: dict[int, list[float]] = {count: [] for count in TURNS}
    first: dict[int, list[float]] = {count: [] for count in TURNS}
    for _ in range(2 * RUNS):
        for count, session in chats.items():
            body = request(path, sessionId=session)
            turn = partial(turn_with_calls, server, model, READ_ONE, body)
            turns[count].append(without_summary(model, turn))
    for _ in range(2 * RUNS):
        for count, session in chats.items():
            body = request(path, sessionId=session)
            text = partial(median_first_text, server, model, body, 1)
            first[count].append(without_summary(model, text))
    return [
        [
            f"{count:,}",
            ms(statistics.median(turns[count]) / CALLS),
            ms(statistics.median(first[count])),
        ]
        for count in TURNS
    ]


def without_summary(model: ScriptedModelServer, measure: Callable[[], float]) -> float:
    """What was measured, once no summary was asked for meanwhile."""
    while True:
        model.reset()
        took = measure()
        if not any(map(is_summary, model.requests)):
            return took


if __name__ == "__main__":
    main()
