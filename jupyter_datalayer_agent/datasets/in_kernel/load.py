"""Loads a Parquet file into a variable of this kernel, and reads it back."""

from __future__ import annotations

import importlib
import types
from typing import Any

LAZY = ["polars", "duckdb", "dask"]
SHARE = 4


def load(
    names: dict[str, Any],
    path: str,
    name: str,
    estimate: int,
    engine: str | None,
    limit: int | None,
) -> dict[str, Any]:
    """``estimate``: bytes as a pandas frame; ``limit``: bytes that this kernel may use, or None.

    The result has ``missing`` (a package) or ``kept`` (the type of the variable's value) if nothing
    was loaded.
    """
    there = names.get(name)
    if isinstance(there, (types.ModuleType, types.FunctionType, type)):
        return {"kept": type(there).__name__}
    memory = available(limit)
    fits = memory is None or estimate <= memory // SHARE
    facts: dict[str, Any] = {"memory": memory, "estimate": estimate, "fits": fits}
    chosen = engine or ("pandas" if fits else first_installed(LAZY))
    if chosen is None:
        return {**facts, "missing": "polars"}
    missing = first_missing(["dask.dataframe", "pyarrow"] if chosen == "dask" else [chosen])
    if missing is not None:
        return {**facts, "engine": chosen, "missing": missing}
    table = READERS[chosen](path, fits)
    if table is None:
        return {**facts, "engine": chosen, "missing": "pyarrow"}
    rows, dtypes = described(chosen, table)
    if name in names:
        facts["replaced"] = type(there).__name__
    names[name] = table
    bound = names[name]
    kind = type(bound).__module__.partition(".")[0] + "." + type(bound).__name__
    return {**facts, "engine": chosen, "type": kind, "shape": [rows, len(dtypes)], "dtypes": dtypes}


def with_pandas(path: str, fits: bool) -> Any:
    import pandas

    try:
        return pandas.read_parquet(path)
    except ImportError:
        if first_missing(["duckdb"]) is not None:
            return None
        import duckdb

        return duckdb.connect().read_parquet(path).df()


def with_polars(path: str, fits: bool) -> Any:
    import polars

    return polars.read_parquet(path) if fits else polars.scan_parquet(path)


def with_duckdb(path: str, fits: bool) -> Any:
    import duckdb

    return duckdb.read_parquet(path)


def with_dask(path: str, fits: bool) -> Any:
    import dask.dataframe

    return dask.dataframe.read_parquet(path)


READERS = {
    "pandas": with_pandas,
    "polars": with_polars,
    "duckdb": with_duckdb,
    "dask": with_dask,
}


def described(engine: str, table: Any) -> tuple[int, dict[str, str]]:
    """Rows and types of the variable, not of the file."""
    if engine == "duckdb":
        # The kernel's Python may be older than ``strict``.
        types_of = {each: str(kind) for each, kind in zip(table.columns, table.types)}  # noqa: B905
        return table.aggregate("count(*)").fetchall()[0][0], types_of
    if engine == "polars":
        schema = table.collect_schema()
        types_of = {column: str(kind) for column, kind in schema.items()}
        if hasattr(table, "collect"):
            import polars

            return table.select(polars.len()).collect().item(), types_of
        return table.height, types_of
    return len(table), {str(column): str(kind) for column, kind in table.dtypes.items()}


def first_installed(packages: list[str]) -> str | None:
    return next((each for each in packages if first_missing([each]) is None), None)


def first_missing(modules: list[str]) -> str | None:
    """The distribution of the first package that cannot be imported."""
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError:
            return '"dask[dataframe]"' if module.startswith("dask") else module
    return None


def available(limit: int | None) -> int | None:
    """Bytes that are free to this kernel, if known."""
    found = [limit] if limit else []
    try:
        import psutil

        found.append(psutil.virtual_memory().available)
        if limit:
            found[0] = max(0, limit - psutil.Process().memory_info().rss)
    except ImportError:
        with_name = read("/proc/meminfo").partition("MemAvailable:")[2].split()
        if with_name:
            found.append(int(with_name[0]) * 1024)
    most, used = read("/sys/fs/cgroup/memory.max"), read("/sys/fs/cgroup/memory.current")
    if most.strip().isdigit() and used.strip().isdigit():
        found.append(max(0, int(most) - int(used)))
    return min(found) if found else None


def read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
