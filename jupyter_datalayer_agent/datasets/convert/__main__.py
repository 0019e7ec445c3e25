"""``python -m jupyter_datalayer_agent.datasets.convert``: one file, named on stdin, made Parquet.

stdin: a line of JSON ``{source, target, work, name}``; the process ends when stdin is closed, so
that it does not outlive the server. stdout: a line of JSON for each step, ``{stage, fraction}``,
and last ``{result}`` or ``{error}``. The source may be changed or moved.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

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


def convert(job: dict[str, str], reporter: ProgressReporter) -> dict[str, Any]:
    """Write the Parquet file and read its report back. Raises ``ConversionError``."""
    from . import excel, json_lines, parquet, tables
    from .duck import connect
    from .kinds import kind_of
    from .outcome import ConversionError, Report
    from .text import as_utf8

    source, target, work = Path(job["source"]), Path(job["target"]), Path(job["work"])
    shown = job["name"]
    kind, note = kind_of(source, shown)
    report = Report(kind)
    if note:
        report.notes.append(note)
    report_progress = reporter.progress
    rows: int | None = None
    report_progress("checking", 0.0)
    with connect(work) as database:
        if kind == "parquet":
            parquet.convert(database, source, target, report_progress, shown)
        elif kind in ("json", "jsonl"):
            text = as_utf8(source, work, shown, report, report_progress)
            json_lines.convert(
                database,
                text,
                work,
                target,
                report,
                report_progress,
                array=kind == "json",
                shown=shown,
            )
        else:
            if kind == "excel":
                text = excel.to_csv(source, work, report, report_progress, shown)
            else:
                text = as_utf8(source, work, shown, report, report_progress)
            rows = tables.convert(
                database, text, target, report, report_progress, tsv=kind == "tsv", shown=shown
            )
            if kind == "excel":
                report.delimiter = None
        facts = parquet.facts(database, target)
        if rows is not None and facts["rows"] != rows:
            raise ConversionError(
                f"{shown} has {rows:,} rows, but {facts['rows']:,} were written. Nothing was kept."
            )
        return {**facts, "report": report.to_json()}


def main() -> None:
    """Read the job, do it, write the result."""
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(5)
    reporter = ProgressReporter()
    from .outcome import ConversionError

    try:
        import duckdb
    except ImportError as error:
        reporter.write({"error": f"DuckDB cannot be imported ({error}): pip install duckdb"})
        return
    try:
        result = convert(job, reporter)
    except ConversionError as error:
        reporter.write({"error": str(error)})
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


if __name__ == "__main__":
    main()
