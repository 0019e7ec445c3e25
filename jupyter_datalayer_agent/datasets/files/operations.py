"""What the process does: reads any data files, makes one of them, and reads that one back."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from ..convert.conversion import convert
from ..convert.duck import connect, free_name, literal, name, numbered_rows, run
from ..convert.outcome import ConversionError, Progress
from .join import join_query
from .write import write

_READ_PART, _WRITE_PART = 0.5, 0.75


def operate(job: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Do the job: ``sources`` (each ``{source, name}``, and how it is written) become the
    file ``output`` of the format ``format``. Raises ``ConversionError``.

    The result has ``rows`` and ``columns`` of the new file, ``read`` (the facts of each source) and
    ``notes``.
    """
    work = Path(job["work"])
    tables, read = [], []
    for number, each in enumerate(job["sources"]):
        share = (number / len(job["sources"]), (number + 1) / len(job["sources"]))
        table = work / f"table{number}.parquet"
        part = _part(progress, "reading", share[0] * _READ_PART, share[1] * _READ_PART)
        read.append(_as_parquet(each, table, work / f"read{number}", part))
        tables.append(table)
    extra: dict[str, Any] = {}
    with connect(work) as database:
        if job["operation"] == "join":
            query, extra = join_query(database, tables, read, job)
        elif job["operation"] == "sample":
            query = _sample_query(tables[0], read[0], job)
        else:
            query = f"SELECT * FROM read_parquet({literal(str(tables[0]))})"
        table = work / "made.parquet"
        if job["operation"] == "convert":
            table = tables[0]
        else:
            copy = f"COPY ({query}) TO {literal(str(table))} (FORMAT parquet, COMPRESSION zstd)"
            run(database, copy, [], progress, "writing", (_READ_PART, _WRITE_PART))
        # Counting the rows is a part of it: all is read by now.
        progress("writing", _WRITE_PART)
        rows, columns = _shape(database, table)
        empty = _empty_rows(database, table, columns) if job["format"] == "excel" else 0
        output = Path(job["output"])
        part = _part(progress, "writing", _WRITE_PART, 0.85)
        notes = write(database, table, output, job["format"], part)
    back = _read_back(output, work / "back", job, _part(progress, "comparing", 0.85, 1.0))
    if empty:
        notes.append(
            f"{empty:,} rows have no value at all: in the sheet they are empty, and most programs "
            "skip them."
        )
    if back["rows"] != rows - empty:
        raise ConversionError(
            f"{rows:,} rows were to be written, but {back['rows']:,} can be read back. "
            "Nothing was kept."
        )
    notes += _changed_types(columns, back["columns"])
    return {"rows": rows, "columns": columns, "read": read, "notes": notes, **extra}


def _as_parquet(
    source: Mapping[str, str], table: Path, work: Path, progress: Progress
) -> dict[str, Any]:
    work.mkdir()
    # Reading may repair the file: that is done to a copy.
    copy = work / "source"
    shutil.copyfile(source["source"], copy)
    job = {**source, "source": str(copy), "target": str(table), "work": str(work)}
    facts = convert(job, progress)
    copy.unlink(missing_ok=True)
    del facts["sample"]
    return {"name": source["name"], **facts}


def _read_back(output: Path, work: Path, job: Mapping[str, Any], progress: Progress) -> Any:
    source = {"source": str(output), "name": f"x{output.suffix}"}
    try:
        return _as_parquet(source, work.with_suffix(".parquet"), work, progress)
    except ConversionError as error:
        raise ConversionError(
            f"What was made of {job['name']} cannot be read back ({error}). Nothing was kept."
        ) from error


def _sample_query(table: Path, facts: Mapping[str, Any], job: Mapping[str, Any]) -> str:
    """Rows chosen by the seed alone, in the order of the file: the same in every version of
    DuckDB, and whatever the number of threads."""
    rows, wanted = facts["rows"], job.get("rows")
    if wanted is None:
        wanted = max(1, round(rows * float(job["share"])))
    elif wanted > rows:
        raise ConversionError(
            f"{job['name']} has {rows:,} rows, which is fewer than {wanted:,}. Ask for fewer."
        )
    place = free_name("row_number", (each["name"] for each in facts["columns"]))
    source = f"({numbered_rows(f'read_parquet({literal(str(table))})', place)})"
    order = f"md5(concat('{int(job['seed'])}:', {name(place)}))"
    return (
        f"SELECT * EXCLUDE ({name(place)}) FROM {source} WHERE {name(place)} IN "
        f"(SELECT {name(place)} FROM {source} ORDER BY {order} LIMIT {int(wanted)}) "
        f"ORDER BY {name(place)}"
    )


def _shape(database: duckdb.DuckDBPyConnection, table: Path) -> tuple[int, list[dict[str, str]]]:
    from ..convert.parquet import facts

    found = facts(database, table)
    return found["rows"], found["columns"]


def _empty_rows(
    database: duckdb.DuckDBPyConnection, table: Path, columns: list[dict[str, str]]
) -> int:
    nothing = " AND ".join(
        f"coalesce(CAST({name(each['name'])} AS VARCHAR), '') = ''" for each in columns
    )
    query = f"SELECT count(*) FROM read_parquet({literal(str(table))}) WHERE {nothing}"
    return int(database.execute(query).fetchall()[0][0])


def _changed_types(made: list[dict[str, str]], back: list[dict[str, str]]) -> list[str]:
    """What the format cannot say of the columns: their types when they are read again."""
    if len(made) != len(back):
        return [f"Read again, the file has {len(back):,} columns instead of {len(made):,}."]
    changed = [
        f"{one['name']} ({one['type']}, read again as {other['type']})"
        for one, other in zip(made, back, strict=True)
        if _family(one["type"]) != _family(other["type"])
    ]
    if not changed:
        return []
    return [f"The format does not keep the type of: {', '.join(changed)}."]


def _family(type: str) -> str:
    if "int" in type:
        return "int"
    return "float" if type.startswith(("float", "decimal")) else type


def _part(progress: Progress, stage: str, start: float, end: float) -> Progress:
    """Reports a part of the whole, whatever stages it has in itself."""
    at = start

    def report(_: str, fraction: float | None) -> None:
        nonlocal at
        at = max(at, start + (end - start) * (fraction or 0.0))
        progress(stage, at)

    return report
