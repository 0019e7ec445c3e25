"""Server start with and without the extension: time until it answers, and resident memory.

The two kinds of start alternate, so that a change of the machine's speed meets both.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.table import show
from tests.support.jupyter import RunningServer

RUNS = 7


def start_once(enabled: bool) -> tuple[float, float]:
    """Seconds until the server answers, and its resident memory then in MB."""
    with tempfile.TemporaryDirectory() as folder:
        server = RunningServer(Path(folder), lab=True, extension=enabled)
        began = time.perf_counter()
        with server:
            took = time.perf_counter() - began
            assert server.process is not None
            status = Path(f"/proc/{server.process.pid}/status").read_text()
            loaded = "jupyter_datalayer_agent | extension was successfully loaded"
            assert (loaded in server.log.read_text()) == enabled
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return took, int(resident.split()[1]) / 1024


def main() -> None:
    """Print the table."""
    start_once(True)
    runs = [(start_once(False), start_once(True)) for _ in range(RUNS)]
    without = [each[0] for each in runs]
    with_it = [each[1] for each in runs]
    seconds = [statistics.median(each[0] for each in kind) for kind in (without, with_it)]
    memory = [statistics.median(each[1] for each in kind) for kind in (without, with_it)]
    ratio = statistics.median(b[0] / a[0] for a, b in runs)
    show(
        f"Server start, JupyterLab alone and with the extension (median of {RUNS} pairs)",
        ["", "ready", "memory"],
        [
            ["JupyterLab alone", f"{seconds[0]:.2f} s", f"{memory[0]:.1f} MB"],
            ["with the extension", f"{seconds[1]:.2f} s", f"{memory[1]:.1f} MB"],
            ["added", f"{(ratio - 1) * 100:+.1f} %", f"{memory[1] - memory[0]:+.1f} MB"],
        ],
    )


if __name__ == "__main__":
    main()
