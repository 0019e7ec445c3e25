"""Writes a table of this kernel to a file, from which the server makes the one that is wanted."""

from __future__ import annotations

from typing import Any

SIMPLE = "biufMUS"
"""Kinds of NumPy types that any format has: the rest is written as text."""


def write(names: dict[str, Any], name: str, folder: str) -> dict[str, Any]:
    """Write the table ``name`` into ``folder``, as Parquet where the kernel can, else as CSV.

    The result has ``file``, ``rows``, ``columns`` and ``notes``; or ``refused``, a sentence.
    """
    if name not in names:
        return {"refused": f"There is no {name} in the kernel any more."}
    table = names[name]
    writer = WRITERS.get(type(table).__module__.partition(".")[0])
    if writer is None:
        return {"refused": f"{name} is a {type(table).__name__} now, and no table."}
    titles = [str(each) for each in getattr(table, "column_names", None) or table.columns]
    twice = sorted({each for each in titles if titles.count(each) > 1})
    if twice:
        return {"refused": f"{name} has several columns called {twice[0]}: rename them first."}
    if not titles:
        return {"refused": f"{name} has no columns."}
    notes: list[str] = []
    try:
        file = writer(table, folder, notes)
    except Exception as error:  # noqa: BLE001  of the libraries' own errors there are many
        why = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
        return {"refused": f"{name} could not be written: {why}"}
    return {"file": file, "rows": table.shape[0], "columns": len(titles), "notes": notes}


def from_pandas(table: Any, folder: str, notes: list[str]) -> str:
    frame = with_index(table, notes)
    frame.columns = [
        "_".join(str(part) for part in each if str(part)) if isinstance(each, tuple) else str(each)
        for each in frame.columns
    ]
    try:
        import pyarrow
    except ImportError:
        pyarrow = None
    as_text = [each for each in frame.columns if not has_type(frame[each], pyarrow)]
    for column in as_text:
        kept = frame[column].astype(object)
        frame[column] = kept.where(kept.isna(), kept.map(str))
    if as_text:
        notes.append(f"Written as text, since a file has no type for it: {', '.join(as_text)}.")
    if pyarrow is not None:
        frame.to_parquet(f"{folder}/table.parquet", engine="pyarrow", index=False)
        return "table.parquet"
    frame.to_csv(f"{folder}/table.csv", index=False)
    notes.append("The kernel has no pyarrow: the types are those that the text of the values has.")
    return "table.csv"


def with_index(table: Any, notes: list[str]) -> Any:
    """A copy in which an index that says something is a column."""
    index = table.index
    named = [each for each in index.names if each is not None]
    if not named and getattr(index.dtype, "kind", "O") in "iu":
        return table.copy(deep=False)
    shown = ", ".join(map(str, named)) or "index"
    taken = {str(each) for each in table.columns}
    if any(str(each) in taken for each in named or ["index"]):
        notes.append(f"The index ({shown}) is left out: a column has its name.")
        return table.reset_index(drop=True)
    notes.append(f"The index is the first column ({shown}).")
    return table.reset_index()


def has_type(values: Any, pyarrow: Any) -> bool:
    """Whether a column can be written as it is."""
    kind = values.dtype
    if hasattr(kind, "categories"):
        kind = kind.categories.dtype
    if hasattr(kind, "tz"):
        return True
    letter = getattr(kind, "kind", "O")
    if letter in SIMPLE:
        return True
    if letter != "O" or type(kind).__name__ in ("PeriodDtype", "IntervalDtype"):
        return False
    if pyarrow is None:
        return True
    try:
        pyarrow.array(values, from_pandas=True)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
        return False
    return True


def from_polars(table: Any, folder: str, notes: list[str]) -> str:
    table.write_parquet(f"{folder}/table.parquet")
    return "table.parquet"


def from_arrow(table: Any, folder: str, notes: list[str]) -> str:
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, f"{folder}/table.parquet")
    return "table.parquet"


WRITERS = {"pandas": from_pandas, "polars": from_polars, "pyarrow": from_arrow}
