"""The same through a page: JupyterLab in Chromium has the notebook open.

A read, and a change (which JupyterLab also saves), each 20 times in one turn, for notebooks of
several sizes, over the same calls headless in the same run.
"""

from __future__ import annotations

import contextlib
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.chats import (
    CALLS,
    MOVE,
    READ_ONE,
    request,
    running,
    turn_with_calls,
    write_notebook,
)
from benchmarks.chromium import find_chromium
from benchmarks.direct import replay
from benchmarks.table import ms, show
from tests.support.jupyter import TOKEN, RunningServer
from tests.support.lab import ARGUMENTS, labextension
from tests.support.model_script import Say, Step
from tests.support.model_server import ScriptedModelServer

CELLS = (10, 1_000)
RUNS = 5


@contextlib.contextmanager
def opened(server: RunningServer, path: str) -> Iterator[None]:
    """Chromium at the notebook."""
    script = Path(__file__).with_name("open_page.mjs")
    address = f"{server.url}lab/tree/{path}?token={TOKEN}&reset"
    command = ["node", str(script), address, find_chromium()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as page:
        assert page.stdin is not None
        assert page.stdout is not None
        try:
            assert page.stdout.readline().strip() == b"open", "the notebook did not open"
            yield
        finally:
            page.stdin.close()


def over(server: RunningServer, model: ScriptedModelServer, call: Step, path: str) -> float:
    """Median seconds of a call over litellm's own for the same requests."""
    body = request(path)
    turn_with_calls(server, model, call, body)
    times = []
    for _ in range(RUNS):
        model.reset()
        turn = turn_with_calls(server, model, call, body)
        bodies = [each.body for each in model.requests]
        direct = sum(each.whole for each in replay(model, bodies, [*[call] * CALLS, Say("Done.")]))
        times.append((turn - direct) / CALLS)
    return statistics.median(times)


def main() -> None:
    """Print the table."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        environment = labextension(Path(folder))
        with running(lab=True, arguments=ARGUMENTS, environment=environment) as (server, model):
            for cells in CELLS:
                path = write_notebook(server, cells)
                for name, call in (("a read", READ_ONE), ("a change, saved", MOVE)):
                    headless = over(server, model, call, path)
                    with opened(server, path):
                        page = over(server, model, call, path)
                    rows.append([f"{cells:,}", name, ms(headless), ms(page)])
    show(
        f"A tool call over litellm's own (median of {RUNS} turns of {CALLS} calls)",
        ["cells", "", "headless", "through the page"],
        rows,
    )


if __name__ == "__main__":
    main()
