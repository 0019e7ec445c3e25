"""What the process does: reads any data files, makes one of them, and reads that one back."""

from __future__ import annotations

import datetime
import json
import math
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from ..convert.conversion import convert
from ..convert.duck import connect, free_name, literal, name, numbered_rows, run
from ..convert.outcome import ConversionError, Progress, names
from ..convert.parquet import select_python

# Joins two tables, once their keys are looked at.


HOW = {"inner": "INNER", "left": "LEFT", "outer": "FULL OUTER"}


def join_query(
    database: duckdb.DuckDBPyConnection,
    tables: Sequence[Path],
    read: Sequence[Mapping[str, Any]],
    job: Mapping[str, Any],
) -> tuple[str, dict[str, Any]]:
    """The query, and what is said of the keys (``join``). ``job``: ``keys``, ``other_keys`` (those
    of the second table), ``how`` and ``many_to_many``, whether the user allowed that.

    Raises ``ConversionError`` before anything is written.
    """
    first, second = read
    keys, others = list(job["keys"]), list(job["other_keys"])
    _check_types(first, second, keys, others)
    sources = [f"read_parquet({literal(str(each))})" for each in tables]
    check = _check_keys(database, sources, keys, others)
    join: dict[str, Any] = {"kind": _kind(check), **check}
    if join["kind"] == "many-to-many" and not job["many_to_many"]:
        raise ConversionError(
            f"This would be a many-to-many join: {check['both_repeated']:,} values of "
            f"{', '.join(keys)} occur several times in both files, so that "
            f"{first['rows']:,} and {second['rows']:,} rows would become {check['matches']:,} "
            "matching pairs. Choose further key columns, remove the duplicates, or allow it."
        )
    query, renamed = _query(sources, first, second, keys, others, job["how"])
    join["renamed"] = renamed
    return query, {"join": join}


def _check_types(
    first: Mapping[str, Any], second: Mapping[str, Any], keys: list[str], others: list[str]
) -> None:
    if not keys or len(keys) != len(others):
        raise ConversionError("Name as many key columns of the second file as of the first.")
    for facts, wanted in ((first, keys), (second, others)):
        there = [each["name"] for each in facts["columns"]]
        if missing := [each for each in wanted if each not in there]:
            raise ConversionError(
                f"{facts['name']} has no column {missing[0]}. It has: {names(there, 20)}."
            )
    for one, other in zip(keys, others, strict=True):
        types = [_type(first, one), _type(second, other)]
        if _group(types[0]) != _group(types[1]):
            raise ConversionError(
                f"{one} is {types[0]} in {first['name']}, but {other} is {types[1]} in "
                f"{second['name']}: nothing would match. Make them the same type first."
            )


def _check_keys(
    database: duckdb.DuckDBPyConnection, sources: list[str], keys: list[str], others: list[str]
) -> dict[str, int]:
    """Counts of the keys on both sides. A key that has a missing value matches nothing."""
    for number, (source, columns) in enumerate(zip(sources, (keys, others), strict=True)):
        by = ", ".join(f"{name(each)} AS k{place}" for place, each in enumerate(columns))
        present = " AND ".join(f"{name(each)} IS NOT NULL" for each in columns)
        database.execute(
            f"CREATE OR REPLACE TEMP TABLE keys{number} AS SELECT {by}, count(*) AS n "
            f"FROM {source} WHERE {present} GROUP BY ALL"
        )
    places = range(len(keys))
    same = " AND ".join(f"keys0.k{place} = keys1.k{place}" for place in places)
    row = database.execute(
        "SELECT count(*) FILTER (keys0.n > 1 AND keys1.n > 1), "
        "count(*) FILTER (keys0.n > 1), count(*) FILTER (keys1.n > 1), "
        "coalesce(sum(keys0.n * keys1.n), 0), coalesce(sum(keys0.n), 0), "
        f"coalesce(sum(keys1.n), 0) FROM keys0 JOIN keys1 ON {same}"
    ).fetchall()[0]
    found = dict(
        zip(
            ("both_repeated", "first_matched", "second_matched", "matches", "rows0", "rows1"),
            map(int, row),
            strict=True,
        )
    )
    for number, (source, side) in enumerate(zip(sources, ("first", "second"), strict=True)):
        repeated = database.execute(f"SELECT count(*) FROM keys{number} WHERE n > 1").fetchall()
        rows = database.execute(f"SELECT count(*) FROM {source}").fetchall()
        with_key = database.execute(f"SELECT coalesce(sum(n), 0) FROM keys{number}").fetchall()
        found[f"{side}_repeated"] = int(repeated[0][0])
        found[f"{side}_unmatched"] = int(rows[0][0]) - found.pop(f"rows{number}")
        found[f"{side}_without_key"] = int(rows[0][0]) - int(with_key[0][0])
    return found


def _kind(check: dict[str, int]) -> str:
    first, second = check.pop("first_matched") > 0, check.pop("second_matched") > 0
    if check["both_repeated"]:
        return "many-to-many"
    if first and second:
        return "one-to-many and many-to-one"
    if first:
        return "many-to-one"
    return "one-to-many" if second else "one-to-one"


def _query(
    sources: list[str],
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    keys: list[str],
    others: list[str],
    how: str,
) -> tuple[str, list[str]]:
    columns = []
    for each in first["columns"]:
        column = each["name"]
        if column in keys:
            # Of a row that only the second table has, the key is there.
            other = others[keys.index(column)]
            columns.append(f"coalesce(a.{name(column)}, b.{name(other)}) AS {name(column)}")
        else:
            columns.append(f"a.{name(column)}")
    taken = {each["name"].lower() for each in first["columns"]}
    renamed = []
    for each in second["columns"]:
        column = each["name"]
        if column in others:
            continue
        new, count = column, 2
        while new.lower() in taken:
            new, count = f"{column}_{count}", count + 1
        taken.add(new.lower())
        if new != column:
            renamed.append(f"{column} of {second['name']} is called {new}")
        columns.append(f"b.{name(column)} AS {name(new)}")
    on = " AND ".join(
        f"a.{name(one)} = b.{name(other)}" for one, other in zip(keys, others, strict=True)
    )
    place = free_name("row_number", (e["name"] for e in (*first["columns"], *second["columns"])))
    one, other = (f"({numbered_rows(source, place)})" for source in sources)
    query = (
        f"SELECT {', '.join(columns)} FROM {one} a {HOW[how]} JOIN {other} b "
        f"ON {on} ORDER BY a.{name(place)} NULLS LAST, b.{name(place)}"
    )
    return query, renamed


def _type(facts: Mapping[str, Any], column: str) -> str:
    return next(str(each["type"]) for each in facts["columns"] if each["name"] == column)


def _group(type: str) -> str:
    if type.startswith(("int", "uint", "float", "decimal", "hugeint")):
        return "number"
    return "time" if type in ("date", "timestamp") else type


# Writes a table, which is a Parquet file, in another format.


EXCEL_ROWS, EXCEL_COLUMNS, EXCEL_TEXT = 1_048_576, 16_384, 32_767
EXCEL_EXACT = 2**53
"""Excel keeps numbers as floats: greater ones would lose digits."""
_BLOCK = 2_000
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def write(
    database: duckdb.DuckDBPyConnection,
    table: Path,
    output: Path,
    format: str,
    progress: Progress,
) -> list[str]:
    """Write the file; notes of what the format could not keep. Raises ``ConversionError``."""
    if format == "parquet":
        shutil.copyfile(table, output)
        return []
    if format == "excel":
        return _to_excel(database, table, output, progress)
    how = {
        "csv": "FORMAT csv, HEADER, DELIMITER ','",
        "tsv": "FORMAT csv, HEADER, DELIMITER '\t'",
        "jsonl": "FORMAT json",
    }[format]
    query = f"COPY (FROM read_parquet({literal(str(table))})) TO {literal(str(output))} ({how})"
    run(database, query, [], progress, "writing")
    return []


def _to_excel(
    database: duckdb.DuckDBPyConnection, table: Path, output: Path, progress: Progress
) -> list[str]:
    from openpyxl import Workbook

    source = f"read_parquet({literal(str(table))})"
    rows = database.execute(f"SELECT count(*) FROM {source}").fetchall()[0][0]
    reading = database.execute(select_python(database, source))
    columns = [str(each[0]) for each in reading.description or ()]
    if rows + 1 > EXCEL_ROWS or len(columns) > EXCEL_COLUMNS:
        raise ConversionError(
            f"An Excel sheet has at most {EXCEL_ROWS - 1:,} rows and {EXCEL_COLUMNS:,} columns; "
            f"this table has {rows:,} and {len(columns):,}. Choose Parquet or CSV, or a sample."
        )
    book = Workbook(write_only=True)
    sheet = book.create_sheet("data")
    cells = _Cells(sheet, columns)
    sheet.append([cells.text(each) for each in columns])
    done = 0
    while block := reading.fetchmany(_BLOCK):
        for row in block:
            sheet.append([cells.cell(place, value) for place, value in enumerate(row)])
        done += len(block)
        progress("writing", done / max(rows, 1))
    with output.open("wb") as file:
        book.save(file)
        file.flush()
        os.fsync(file.fileno())
    return cells.notes()


class _Cells:
    """Values as cells, and a record of those that a sheet cannot have as they are."""

    def __init__(self, sheet: Any, columns: list[str]) -> None:
        self._sheet = sheet
        self._columns = columns
        self._as_text: dict[str, None] = {}
        self._control: dict[str, None] = {}

    def text(self, text: str) -> Any:
        """A text is a text, also one that begins as a formula does."""
        from openpyxl.cell import WriteOnlyCell

        cell = WriteOnlyCell(self._sheet, value="")
        cell.value = text
        cell.data_type = "s"
        return cell

    def cell(self, place: int, value: Any) -> Any:
        column = self._columns[place]
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._of_text(column, value)
        if isinstance(value, float):
            if math.isfinite(value):
                return value
            return None if math.isnan(value) else self._written_as_text(column, str(value))
        if isinstance(value, int) and abs(value) <= EXCEL_EXACT:
            return value
        if isinstance(value, Decimal) and value == Decimal(float(value)):
            return float(value)
        if isinstance(value, datetime.datetime) and value.tzinfo is None and value.year >= 1900:
            return value
        if isinstance(value, datetime.date | datetime.time) and not _odd(value):
            return value
        if isinstance(value, dict | list):
            return self._written_as_text(column, json.dumps(value, default=str, ensure_ascii=False))
        if isinstance(value, bytes):
            return self._written_as_text(column, value.hex())
        return self._written_as_text(column, str(value))

    def notes(self) -> list[str]:
        """What was not written as it is."""
        found = []
        if self._as_text:
            columns = names([*self._as_text])
            found.append(f"Written as text, since Excel has no such values: {columns}.")
        if self._control:
            found.append(f"Control characters were left out in: {names([*self._control])}.")
        return found

    def _written_as_text(self, column: str, text: str) -> Any:
        self._as_text[column] = None
        return self._of_text(column, text)

    def _of_text(self, column: str, text: str) -> Any:
        if _CONTROL.search(text):
            self._control[column] = None
            text = _CONTROL.sub("", text)
        if len(text) > EXCEL_TEXT:
            raise ConversionError(
                f"A value of {column} has {len(text):,} characters; a cell of Excel has at most "
                f"{EXCEL_TEXT:,}. Choose Parquet or CSV."
            )
        return self.text(text)


def _odd(value: datetime.date | datetime.time) -> bool:
    if isinstance(value, datetime.time):
        return value.tzinfo is not None
    return isinstance(value, datetime.datetime) or value.year < 1900


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
