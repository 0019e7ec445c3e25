"""Joins two tables, once their keys are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from ..convert.duck import free_name, literal, name, numbered_rows
from ..convert.outcome import ConversionError, names

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
