"""Time per tool call over the model's own: 20 calls in one turn, headless.

The model's own time is that of litellm alone with the very requests of the turn.
"""

from __future__ import annotations

import statistics

from benchmarks.chats import (
    CALLS,
    LOOK,
    READ_ONE,
    request,
    running,
    turn_with_calls,
    write_notebook,
)
from benchmarks.direct import replay
from benchmarks.table import ms, show
from tests.support.model_script import Say

RUNS = 15


def main() -> None:
    """Print the table."""
    with running() as (server, model):
        path = write_notebook(server, 10)
        rows = []
        for name, call in (("getActiveDocument", LOOK), ("getNotebookCells", READ_ONE)):
            turn_with_calls(server, model, call, request(path))
            over, turns, own = [], [], []
            for _ in range(RUNS):
                model.reset()
                turn = turn_with_calls(server, model, call, request(path))
                bodies = [each.body for each in model.requests]
                times = replay(model, bodies, [*[call] * CALLS, Say("Done.")])
                direct = sum(each.whole for each in times)
                turns.append(turn / CALLS)
                own.append(direct / CALLS)
                over.append((turn - direct) / CALLS)
            rows.append([name, *(ms(statistics.median(each)) for each in (own, turns, over))])
    show(
        f"One tool call of {CALLS} in a turn, headless (median of {RUNS} turns)",
        ["tool", "litellm alone", "whole call", "over the model's own"],
        rows,
    )


if __name__ == "__main__":
    main()
