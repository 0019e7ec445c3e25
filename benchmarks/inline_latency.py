"""Inline chat: from Enter to the first changed line on the page, over litellm's own time."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from benchmarks.chats import running, write_notebook
from benchmarks.chromium import find_chromium
from benchmarks.direct import replay
from benchmarks.table import ms, show
from tests.support.jupyter import TOKEN
from tests.support.lab import ARGUMENTS, labextension
from tests.support.long_chats import is_summary
from tests.support.model_script import Say

WARM_UP = 3
RUNS = 20
CHANGE = Say("```python cell=c3\nx3 = 33\n```", chunk=100)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        environment = labextension(Path(folder))
        with running(lab=True, arguments=ARGUMENTS, environment=environment) as (server, model):
            path = write_notebook(server, 10)
            model.reset()
            model.set_default(CHANGE)
            script = Path(__file__).with_name("inline_latency.mjs")
            address = f"{server.url}lab/tree/{path}?token={TOKEN}&reset"
            command = ["node", str(script), address, str(WARM_UP + RUNS), find_chromium()]
            printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            page = [each / 1000 for each in json.loads(printed)[WARM_UP:]]
            asked = [each.body for each in model.requests if not is_summary(each)][-RUNS:]
            alone = [each.first for each in replay(model, asked, [CHANGE] * RUNS, plain=True)]
    over = statistics.median(a - b for a, b in zip(page, alone, strict=True))
    times = [ms(statistics.median(page)), ms(statistics.median(alone)), ms(over)]
    show(
        f"From Enter to the first changed line (median of {RUNS})",
        ["", "time", "litellm alone", "over it"],
        [["inline chat in a notebook of 10 cells", *times]],
    )


if __name__ == "__main__":
    main()
