"""Larger notebooks and longer chats: linear in the cells, flat in the chat's length."""

from __future__ import annotations

import statistics

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
from tests.support.model_script import Say

CELLS = (10, 1_000, 5_000)
TURNS = (10, 2_000)
RUNS = 5


def main() -> None:
    """Print both tables."""
    with running() as (server, model):
        rows = []
        for cells in CELLS:
            path = write_notebook(server, cells)
            turn_with_calls(server, model, READ_ONE, request(path))
            turns = [turn_with_calls(server, model, READ_ONE, request(path)) for _ in range(RUNS)]
            first = median_first_text(server, model, request(path), RUNS)
            rows.append([f"{cells:,}", ms(statistics.median(turns) / CALLS), ms(first)])
        show("By cells of the notebook, headless", ["cells", "a tool call", "first token"], rows)

        rows = []
        session = server.post("sessions", {})["id"]
        path = write_notebook(server, 10)
        done = 0
        model.set_default(Say("Noted."))
        for count in TURNS:
            while done < count:
                server.post("chat", request(sessionId=session))
                done += 1
            body = request(path, sessionId=session)
            turns = [turn_with_calls(server, model, READ_ONE, body) for _ in range(RUNS)]
            first = median_first_text(server, model, body, RUNS)
            done += 2 * RUNS + 3
            rows.append([f"{count:,}", ms(statistics.median(turns) / CALLS), ms(first)])
        show("By turns of the chat", ["turns before", "a tool call", "first token"], rows)


if __name__ == "__main__":
    main()
