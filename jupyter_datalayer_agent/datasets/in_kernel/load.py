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
    code, table = read_by(sources(chosen, path, name, fits), name)
    if code is None:
        return {**facts, "engine": chosen, "missing": "pyarrow"}
    rows, dtypes = described(chosen, table)
    if name in names:
        facts["replaced"] = type(there).__name__
    names[name] = table
    bound = names[name]
    kind = type(bound).__module__.partition(".")[0] + "." + type(bound).__name__
    shape = [rows, len(dtypes)]
    loaded = {"engine": chosen, "type": kind, "shape": shape, "dtypes": dtypes, "code": code}
    return {**facts, **loaded}


def read_by(codes: list[str], name: str) -> tuple[str | None, Any]:
    """The first of these codes whose packages are there, and the table that it makes."""
    for code in codes:
        space: dict[str, Any] = {}
        try:
            exec(code, space)
        except ImportError:
            continue
        return code, space[name]
    return None, None


def sources(engine: str, path: str, name: str, fits: bool) -> list[str]:
    """Code that loads the file into the variable, the usual one first. A user can run it without
    the agent."""
    if engine == "pandas":
        return [
            f"import pandas as pd\n\n{name} = pd.read_parquet({path!r})",
            # Without pyarrow.
            f"import duckdb\n\n{name} = duckdb.connect().read_parquet({path!r}).df()",
        ]
    if engine == "polars":
        reads = "read_parquet" if fits else "scan_parquet"
        return [f"import polars as pl\n\n{name} = pl.{reads}({path!r})"]
    if engine == "duckdb":
        return [f"import duckdb\n\n{name} = duckdb.read_parquet({path!r})"]
    return [f"import dask.dataframe as dd\n\n{name} = dd.read_parquet({path!r})"]


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
