"""Whether JupyterLab is seen later because the model library is loaded: Chromium at a new server.

The panel is open. With and without the message that it is shown alternate, each pair in the other
order than the one before.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.chats import running, write_notebook
from benchmarks.chromium import find_chromium
from benchmarks.table import show
from tests.support.jupyter import TOKEN
from tests.support.lab import ARGUMENTS, labextension

ROUNDS = 7
MOMENTS = {
    "paint": "first paint",
    "restored": "layout restored",
    "cell": "the notebook's first cell",
    "kernel": "its kernel idle",
}


def open_once(kind: str) -> dict[str, Any]:
    """Milliseconds from the navigation to each moment."""
    with tempfile.TemporaryDirectory() as folder:
        environment = labextension(Path(folder))
        with running(lab=True, arguments=ARGUMENTS, environment=environment) as (server, _):
            address = f"{server.url}lab/tree/{write_notebook(server, 10)}?token={TOKEN}"
            script = Path(__file__).with_name("first_paint.mjs")
            command = ["node", str(script), address, kind, find_chromium()]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["shown"], "the panel was not shown"
    return found


def main() -> None:
    """Print the table."""
    open_once("with")
    found: dict[str, list[dict[str, Any]]] = {"with": [], "without": []}
    for number in range(ROUNDS):
        for kind in list(found)[:: -1 if number % 2 else 1]:
            found[kind].append(open_once(kind))

    def median(kind: str, moment: str) -> float:
        return statistics.median(each[moment] for each in found[kind])

    rows = []
    for moment, name in MOMENTS.items():
        times = [median(kind, moment) for kind in ("without", "with")]
        later = statistics.median(
            b[moment] - a[moment] for a, b in zip(found["without"], found["with"], strict=True)
        )
        rows.append([name, *(f"{each / 1000:.2f} s" for each in times), f"{later:+.0f} ms"])
    show(
        f"JupyterLab's first load with the panel open (median of {ROUNDS} pairs)",
        ["", "library not loaded", "library loaded when idle", "later"],
        rows,
    )


if __name__ == "__main__":
    main()
