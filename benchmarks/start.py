"""Server start with and without the extension: time until it answers, processor time, memory.

The two kinds of start alternate, and each pair in the other order than the one before, so that a
change of the machine's speed meets both. Processor time separates small differences from noise.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.table import show
from tests.support.jupyter import RunningServer

RUNS = 15


@dataclass(frozen=True)
class Start:
    """Until the server answers: seconds on the clock and of the processor; then resident MB."""

    ready: float
    processor: float
    memory: float


def start_once(enabled: bool) -> Start:
    """Start JupyterLab, with the extension or without."""
    with tempfile.TemporaryDirectory() as folder:
        server = RunningServer(Path(folder), lab=True, extension=enabled)
        began = time.perf_counter()
        with server:
            took = time.perf_counter() - began
            assert server.process is not None
            process = Path(f"/proc/{server.process.pid}")
            ticks = (process / "stat").read_text().rpartition(")")[2].split()[11:13]
            status = (process / "status").read_text()
            loaded = "jupyter_datalayer_agent | extension was successfully loaded"
            assert (loaded in server.log.read_text()) == enabled
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    processor = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return Start(took, processor, int(resident.split()[1]) / 1024)


def pair(number: int) -> tuple[Start, Start]:
    """A start without the extension and one with it, every second time the other way round."""
    if number % 2:
        with_it = start_once(True)
        return start_once(False), with_it
    return start_once(False), start_once(True)


def main() -> None:
    """Print the table."""
    pair(0)
    runs = [pair(number) for number in range(RUNS)]

    def row(name: str, side: int) -> list[str]:
        starts = [each[side] for each in runs]
        ready = statistics.median(each.ready for each in starts)
        processor = statistics.median(each.processor for each in starts)
        memory = statistics.median(each.memory for each in starts)
        return [name, f"{ready:.2f} s", f"{processor:.2f} s", f"{memory:.1f} MB"]

    ready = statistics.median(b.ready / a.ready for a, b in runs)
    processor = statistics.median(b.processor / a.processor for a, b in runs)
    memory = statistics.median(b.memory - a.memory for a, b in runs)
    added = [f"{(each - 1) * 100:+.1f}%" for each in (ready, processor)]
    show(
        f"Server start, JupyterLab alone and with the extension (median of {RUNS} pairs)",
        ["", "ready", "processor time", "memory"],
        [
            row("JupyterLab alone", 0),
            row("with the extension", 1),
            ["added", *added, f"{memory:+.1f} MB"],
        ],
    )


if __name__ == "__main__":
    main()
