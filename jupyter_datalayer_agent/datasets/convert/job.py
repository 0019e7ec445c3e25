"""A job of a process of its own: named on stdin, reported on stdout.

stdin: a line of JSON with at least ``name``, that of the file for the user; the process ends when
stdin is closed, so that it does not outlive the server. stdout: a line of JSON for each step,
``{stage, fraction}``, and last ``{result}`` or ``{error}``.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from .outcome import ConversionError, Progress

REPORT_SECONDS = 0.1


class ProgressReporter:
    """Writes lines of JSON; progress at a bounded rate."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reported = 0.0
        self._stage = ""

    def progress(self, stage: str, fraction: float | None) -> None:
        """Report the progress."""
        now = time.monotonic()
        if stage == self._stage and now - self._reported < REPORT_SECONDS:
            return
        self._reported, self._stage = now, stage
        self.write({"stage": stage, "fraction": fraction})

    def write(self, what: dict[str, Any]) -> None:
        """Write one line."""
        with self._lock:
            sys.stdout.write(json.dumps(what) + "\n")
            sys.stdout.flush()


def run_job(work: Callable[[dict[str, Any], Progress], dict[str, Any]]) -> None:
    """Read the job, do it, write the result."""
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(5)
    reporter = ProgressReporter()
    try:
        import duckdb
    except ImportError as error:
        reporter.write({"error": f"DuckDB cannot be imported ({error}): pip install duckdb"})
        return
    try:
        result = work(job, reporter.progress)
    except ConversionError as error:
        reporter.write({"error": str(error), "detail": error.detail})
    except (MemoryError, duckdb.OutOfMemoryException):
        reporter.write({"error": f"{job['name']} needs more memory than a conversion may use."})
    except (duckdb.Error, OSError) as error:
        line = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
        reporter.write({"error": f"{job['name']} could not be converted: {line}"})
    else:
        reporter.write({"result": result})


def _end_with_the_server() -> None:
    while sys.stdin.read(4096):
        pass
    os._exit(1)
