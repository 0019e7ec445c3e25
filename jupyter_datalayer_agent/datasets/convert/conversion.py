"""One file made Parquet, whatever it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import excel, json_lines, parquet, tables
from .duck import connect
from .kinds import kind_of
from .outcome import ConversionError, Progress, Report
from .text import as_utf8


def convert(job: dict[str, Any], report_progress: Progress) -> dict[str, Any]:
    """Write the Parquet file and read its report back. Raises ``ConversionError``."""
    source, target, work = Path(job["source"]), Path(job["target"]), Path(job["work"])
    shown = job["name"]
    kind, note = kind_of(source, shown)
    report = Report(kind)
    if note:
        report.notes.append(note)
    rows: int | None = None
    encoding, delimiter = job.get("encoding"), job.get("delimiter")
    report_progress("checking", 0.0)
    with connect(work) as database:
        if kind == "parquet":
            parquet.convert(database, source, target, report_progress, shown)
        elif kind in ("json", "jsonl"):
            text = as_utf8(source, work, shown, report, report_progress, encoding)
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
                delimiter = ","
            else:
                text = as_utf8(source, work, shown, report, report_progress, encoding)
            layout = tables.layout_of(text, shown, report, delimiter, job.get("decimal"))
            rows = tables.convert(database, text, layout, target, report, report_progress, shown)
            if kind == "excel":
                report.delimiter = None
        facts = parquet.facts(database, target)
        if rows is not None and facts["rows"] != rows:
            raise ConversionError(
                f"{shown} has {rows:,} rows, but {facts['rows']:,} were written. Nothing was kept."
            )
        return {**facts, "report": report.to_json()}
