"""Time per tool call over the model's own: 20 calls in one turn, headless.

The model's own time is that of litellm alone with the very requests of the turn.
"""

from __future__ import annotations

import statistics

from benchmarks.chats import (
    CALLS,
    LOOK,
    MOVE,
    READ_ONE,
    request,
    running,
    turn_with_calls,
    write_notebook,
)
from benchmarks.direct import replay
from benchmarks.table import ms, show
from tests.support.model_script import Say

RUNS = 10


def main() -> None:
    """Print the table."""
    with running() as (server, model):
        path = write_notebook(server, 10)
        rows = []
        for name, call in (
            ("getActiveDocument", LOOK),
            ("getNotebookCells", READ_ONE),
            ("moveNotebookCell, saved", MOVE),
        ):
            turn_with_calls(server, model, call, request(path))
            steps = [*[call] * CALLS, Say("Done.")]
            plain, own, turns, over = [], [], [], []
            for _ in range(RUNS):
                model.reset()
                turn = turn_with_calls(server, model, call, request(path))
                bodies = [each.body for each in model.requests]
                direct = sum(each.whole for each in replay(model, bodies, steps))
                chat = sum(each.whole for each in replay(model, bodies, steps, plain=True))
                plain.append(chat / CALLS)
                own.append(direct / CALLS)
                turns.append(turn / CALLS)
                over.append((turn - direct) / CALLS)
            medians = (ms(statistics.median(each)) for each in (plain, own, turns, over))
            rows.append([name, *medians])
    show(
        f"One tool call of {CALLS} in a turn, headless (median of {RUNS} turns)",
        ["tool", "acompletion alone", "aresponses alone", "whole call", "over aresponses"],
        rows,
    )


if __name__ == "__main__":
    main()
