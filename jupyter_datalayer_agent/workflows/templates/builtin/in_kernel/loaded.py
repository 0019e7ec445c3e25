"""Runs in the notebook's kernel: compares the loaded table with its file. Needs pandas.

Its source is sent to the kernel after those of ``datasets/dialect`` and ``profile``.
"""

from __future__ import annotations

import io
from typing import Any

import pandas as pd

from .....datasets.dialect.file import opened
from .....datasets.dialect.layout import reader
from .....datasets.dialect.numbers import MARKERS, NumberFormat
from .profile import as_numbers

COMPARED_ROWS = 1000


def difference(frame: pd.DataFrame, path: str, how: dict[str, Any]) -> str | None:
    """What the table has otherwise than the file, after "it"; None if they agree.

    Values are compared in the first rows, all but dates.
    """
    names = [each["name"] for each in how["columns"]]
    if list(frame.columns) != names:
        return f"has the columns {', '.join(map(str, frame.columns))}; the file has others"
    if len(frame) != how["rows"] and not how["cut"]:
        return f"has {len(frame):,} rows; the file has {how['rows']:,}"
    if how["format"] != "csv":
        return None
    rows = _rows(path, how)
    index = how["read"].get("index_col")  # False: no column is one
    first = 1 if index == 0 and index is not False else 0
    usual = ("", *MARKERS) if how["read"].get("keep_default_na", True) else ()
    more = how["read"].get("na_values", {})
    for place, about in enumerate(how["columns"]):
        texts = pd.Series([row[place + first] for row in rows], dtype=object).map(_plain)
        values = frame[about["name"]].head(len(rows)).reset_index(drop=True)
        other = _other(values, texts, about["convert"] or {}, how["numbers"].get(about["name"]))
        missing = [*usual, *more.get(about["name"], [])]
        other |= values.isna() & ~texts.isin(missing) & ~_dates(about["convert"])
        if other.any():
            row = int(other.idxmax())
            return (
                f"has “{values[row]}” in row {row + 1:,} of the column {about['name']}, where the "
                f"file has “{texts[row]}”"
            )
    return None


def _other(
    values: pd.Series, texts: pd.Series, convert: dict[str, Any], written: dict[str, Any] | None
) -> pd.Series:
    """Which values are not what the texts say, where they are numbers or text."""
    other = pd.Series(False, index=values.index)
    present = values.notna()
    if convert.get("to") == "spelling":
        same = {_plain(value): chosen for value, chosen in convert["same"].items()}
        texts = texts.map(lambda text: same.get(text, text))
    elif pd.api.types.is_bool_dtype(values) or convert.get("to") not in (None, "number", "float"):
        return other
    if pd.api.types.is_numeric_dtype(values):
        form = convert if convert.get("to") == "number" else written or vars(NumberFormat())
        numbers = as_numbers(texts[present], **form).astype(float)
        off = (numbers - values[present].astype(float)).abs() > numbers.abs() * 1e-9
        other[present] = off.to_numpy()
    else:
        said = values.map(lambda value: _plain(value) if isinstance(value, str) else None)
        other = said.notna() & (said != texts)
    return other


def _dates(convert: dict[str, Any] | None) -> bool:
    return convert is not None and convert["to"] in ("date", "iso", "datetime", "epoch", "finite")


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _rows(path: str, how: dict[str, Any]) -> list[list[str]]:
    """The first rows of the file, read by another program than pandas."""
    delimiter, read = how["delimiter"], how["read"]
    skipped = read.get("skiprows", 0)
    left_out = set(skipped) if isinstance(skipped, list) else set()
    rows = []
    with io.TextIOWrapper(opened(path), encoding=how["encoding"], newline="") as stream:
        for place, row in enumerate(reader(stream, delimiter, read.get("escapechar", '"'))):
            blank = not row or (len(row) == 1 and not row[0].strip(" "))
            if place < how["start"] or place in left_out or blank:
                continue
            rows.append([each.strip('"') for each in row] if delimiter == " " else row)
            if len(rows) == COMPARED_ROWS:
                break
    return rows
