"""Runs in the notebook's kernel: profiles the columns of a data file. Needs pandas.

Its source is sent to the kernel after those of ``datasets/dialect``.
"""

from __future__ import annotations

import decimal
import re
import warnings
from dataclasses import asdict
from typing import Any

import pandas as pd

from .....datasets.dialect.layout import Unreadable
from .....datasets.dialect.numbers import MARKERS, PLACEHOLDERS, is_number, number_format

PROBE_ROWS = 1_000_000
MOST_CATEGORIES = 1000
SHORTEST_WORD = 3
ID_NAME = r"(?<![^\W_])(id|ids|uuid|guid|index|idx|rownum|row number)$|[a-z](ID|Id)$"
CODE_NAME = r"(?<![^\W_])(zip|zipcode|zip code|postal|postal ?code|postcode|phone|fips|ssn|isbn)$"
YEAR_NAME = r"(?<![^\W_])(year|yr|jahr)([_\W]|$)|[a-z]Year$"
DAYS = (
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y", "%d-%m-%Y", "%m/%d/%y",
    "%d/%m/%y", "%d.%m.%y", "%b %d %Y", "%b %d, %Y", "%B %d %Y", "%B %d, %Y", "%d %b %Y",
    "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%Y.%m.%d", "%a %b %d %Y",
)  # fmt: skip
TIMES = (
    "",
    " %H:%M",
    " %H:%M:%S",
    " %H:%M:%S.%f",
    "T%H:%M",
    "T%H:%M:%S",
    " %I:%M %p",
    " %I:%M:%S %p",
)
MONTHS = ("%Y-%m", "%b %Y", "%B %Y", "%b-%Y", "%b-%y", "%m/%Y", "%Y/%m")


def load(path: str, how: dict[str, Any]) -> tuple[pd.DataFrame, bool]:
    """The data as the notebook will have it (``how`` is completed), and whether it was cut.

    Raises ``Unreadable``, also where pandas reads other rows or columns than the file has.
    """
    if how["format"] == "parquet":
        try:
            frame = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise Unreadable(f"is no Parquet file that pandas can read: {error}") from error
        return _plain_columns(frame, how), False
    frame = _read_csv(path, how["read"])
    if _find_missing(path, frame, how):
        frame = _read_csv(path, how["read"])
    _compare(frame, how)
    _find_nearly_numbers(frame, how)
    return frame, len(frame) == PROBE_ROWS


def _compare(frame: pd.DataFrame, how: dict[str, Any]) -> None:
    """Compare the frame with the lines of the file, which another program has counted."""
    records, columns = how["records"], how["width"]
    if records is not None and len(frame) != min(records, PROBE_ROWS):
        raise Unreadable(
            f"has {records:,} lines that are rows, but pandas reads {len(frame):,} of them; give "
            "its delimiter, or look for quotes that are not closed"
        )
    if len(frame.columns) != columns:
        raise Unreadable(
            f"has {columns:,} columns, but pandas reads {len(frame.columns):,}; give its delimiter"
        )


def _find_nearly_numbers(frame: pd.DataFrame, how: dict[str, Any]) -> None:
    """Add the columns of text that are numbers but for a few values, each with one of those."""
    how["nearly"] = {}
    below_names = 0
    for name in frame.columns:
        if not _is_text(frame[name]):
            continue
        values = frame[name].dropna().astype(str)
        if not len(values):
            continue
        if values.head(200).map(lambda value: is_number(value.strip())).mean() < 0.8:
            continue
        numbers = values.map(lambda value: is_number(value.strip()))
        if 0.9 <= numbers.mean() < 1:
            how["nearly"][name] = [int((~numbers).sum()), values[~numbers].iloc[0]]
            below_names += (~numbers).sum() == 1 and not numbers.iloc[0]
    if below_names > 1 and below_names == len(how["nearly"]):
        words = ", ".join(example for _, example in how["nearly"].values())
        raise Unreadable(
            f"has a row below the names that is no data ({words}), so that no column is one of "
            "numbers; delete that row"
        )


def _read_csv(path: str, read: dict[str, Any]) -> pd.DataFrame:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            frame = pd.read_csv(path, nrows=PROBE_ROWS, **read)
        except (ValueError, OSError) as error:  # ParserError is a ValueError
            raise Unreadable(f"is no CSV file that pandas can read: {error}") from error
    if any(issubclass(each.category, pd.errors.DtypeWarning) for each in caught):
        read["low_memory"] = False
        return _read_csv(path, read)
    return frame


def _plain_columns(frame: pd.DataFrame, how: dict[str, Any]) -> pd.DataFrame:
    if not isinstance(frame.index, pd.RangeIndex):
        how["reset_index"] = True
        frame = frame.reset_index()
    if not all(isinstance(name, str) for name in frame.columns):
        how["text_columns"] = True
        frame.columns = frame.columns.map(str)
    if frame.columns.has_duplicates:
        twice = sorted(set(frame.columns[frame.columns.duplicated()]))
        raise Unreadable(f"column names occur more than once: {', '.join(twice)}")
    return frame


def _find_missing(path: str, frame: pd.DataFrame, how: dict[str, Any]) -> bool:
    """Complete ``how`` with the texts that mean a missing value (``missing``, by column), and those
    that pandas would take for one (``kept``). Whether the file has to be read again."""
    more = {name: found for name in frame.columns if (found := _placeholders(frame[name]))}
    hollow = [name for name in frame.columns if frame[name].isna().any()]
    texts = [name for name in hollow if _is_text(frame[name]) or frame[name].isna().all()]
    markers = _markers(path, frame, texts, how)
    how["kept"], how["missing"] = {}, dict(more)
    for name, found in markers.items():
        values = how["values"].get(name, [])
        if kept := [each for each in found if each in values]:
            how["kept"][name] = kept
        if missing := [each for each in found if each and each not in values]:
            how["missing"][name] = [*how["missing"].get(name, []), *missing]
    if how["kept"]:
        markers |= _markers(path, frame, [name for name in hollow if name not in texts], how)
        how["read"]["keep_default_na"] = False
        for name, found in markers.items():
            here = [each for each in found if each not in how["kept"].get(name, [])]
            more[name] = [*here, *more.get(name, [])]
        more = {name: more[name] for name in frame.columns if more.get(name)}
    if more:
        how["read"]["na_values"] = more
    return bool(more or how["kept"])


def _markers(
    path: str, frame: pd.DataFrame, names: list[str], how: dict[str, Any]
) -> dict[str, list[str]]:
    """Which texts of these columns pandas takes for a missing value, the empty one too."""
    if not names:
        return {}
    first = how["read"].get("index_col", False) is not False
    places = [frame.columns.get_loc(name) + first for name in names]
    read = {name: value for name, value in how["read"].items() if name != "index_col"}
    raw = _read_csv(path, {**read, "dtype": "str", "keep_default_na": False, "usecols": places})
    raw.columns = names
    return {name: [each for each in raw[name].unique() if each in ("", *MARKERS)] for name in names}


def _placeholders(series: pd.Series) -> list[str]:
    """Texts such as "?" that mean missing values in a column that is one of numbers otherwise."""
    if not _is_text(series):
        return []
    values = series.dropna()
    texts = values.astype(str).str.strip()
    odd = {each for each in texts.unique() if each.lower() in PLACEHOLDERS}
    if not odd or number_format(texts.unique()) is None:
        return []
    return sorted(values[texts.isin(odd)].astype(str).unique())


def profile(frame: pd.DataFrame, date_column: str | None, how: dict[str, Any]) -> dict[str, Any]:
    """Every column: its kind, its contents, and how to convert it (``convert``)."""
    columns = []
    european = how.get("delimiter") == ";" or how["read"].get("decimal") == ","
    for name in frame.columns:
        convert = _conversion(frame[name], name == date_column, european)
        if name != date_column and (number := _number_conversion(frame[name], how)):
            convert = number
        if convert:
            frame[name] = _converted(frame[name], convert)
        about = describe(frame[name], len(frame))
        if convert is None and about["kind"] == "category" and (same := _spellings(frame[name])):
            convert = {"to": "spelling", "same": same}
            frame[name] = _converted(frame[name], convert)
            about = describe(frame[name], len(frame))
        columns.append({"convert": convert, **about})
    return {"rows": len(frame), "columns": columns, "duplicates": _duplicates(frame)}


def _spellings(series: pd.Series) -> dict[str, str]:
    """Values of a category that are another one but for white space or capital letters, each with
    the most frequent spelling of it. Short ones, which may be codes, differ by their letters."""
    if not _is_text(series):
        return {}
    counts = series.value_counts(sort=False)
    if len(counts) > MOST_CATEGORIES or not all(isinstance(value, str) for value in counts.index):
        return {}
    spellings: dict[str, dict[str, int]] = {}
    for value, rows in counts.items():
        plain = " ".join(str(value).split())
        key = plain.casefold() if len(plain) >= SHORTEST_WORD else plain
        forms = spellings.setdefault(key, {})
        forms[plain] = forms.get(plain, 0) + int(rows)
    best = {key: max(forms, key=lambda each: forms[each]) for key, forms in spellings.items()}
    same = {}
    for value in counts.index:
        plain = " ".join(value.split())
        chosen = best[plain.casefold() if len(plain) >= SHORTEST_WORD else plain]
        if value != chosen:
            same[value] = chosen
    # White space around every value is how the column is written, and merges nothing.
    return same if len(counts) > len(best) else {}


def _number_conversion(series: pd.Series, how: dict[str, Any]) -> dict[str, Any] | None:
    """How the numbers of a text column are read, if all of its values are such."""
    if how["format"] != "csv" or not _is_text(series) or series.name in how["codes"]:
        return None
    texts = series.dropna().unique()
    if not all(isinstance(text, str) for text in texts[:1000]):
        return None
    assumed = how["numbers"].get(series.name)
    decimals = [assumed["decimal"]] if assumed else []
    form = number_format(map(str, texts), decimals, how["delimiter"])
    return None if form is None else {"to": "number", **asdict(form)}


def _duplicates(frame: pd.DataFrame) -> int | None:
    try:
        return int(frame.duplicated().sum())
    except TypeError:  # lists and dictionaries in cells cannot be compared
        return None


def _is_text(series: pd.Series) -> bool:
    return series.dtype == object or isinstance(series.dtype, pd.StringDtype)


def _conversion(series: pd.Series, is_date: bool, european: bool) -> dict[str, Any] | None:
    values = series.dropna()
    if pd.api.types.is_datetime64_any_dtype(series):
        return {"to": "naive"} if series.dt.tz is not None else None
    if is_date:
        return _date_given(values, european)
    if not len(values):
        return None
    if isinstance(series.dtype, pd.CategoricalDtype):
        return None
    if isinstance(series.dtype, pd.StringDtype) and series.dtype.na_value is pd.NA:
        # sklearn and seaborn do not know pd.NA.
        return _text_conversion(values, european) or {"to": "object"}
    if pd.api.types.is_extension_array_dtype(series.dtype):
        if pd.api.types.is_bool_dtype(series.dtype):
            return {"to": "bool" if len(values) == len(series) else "float"}
        if pd.api.types.is_numeric_dtype(series.dtype):
            return {"to": "float"}
    if _is_text(series):
        return _text_conversion(values, european)
    if (
        pd.api.types.is_float_dtype(series.dtype)
        and values.isin([float("inf"), -float("inf")]).any()
    ):
        return {"to": "finite"}
    return None


def _text_conversion(values: pd.Series, european: bool) -> dict[str, Any] | None:
    if isinstance(values.iloc[0], decimal.Decimal):
        return {"to": "float"}
    if not all(isinstance(value, str) for value in values.head(1000)):
        dates = pd.api.types.infer_dtype(values) in ("date", "datetime")
        return {"to": "datetime"} if dates else None
    return _date_format(values.astype(str), european)


def _date_given(values: pd.Series, european: bool) -> dict[str, Any]:
    found = None
    if _is_text(values):
        found = _date_format(values.astype(str), european)
    elif pd.api.types.is_numeric_dtype(values) and len(values):
        low, high = values.min(), values.max()
        if low >= 1000 and high <= 2500:
            found = {"to": "date", "format": "%Y"}
        elif low >= 10_000_101 and high <= 25_001_231:
            found = {"to": "date", "format": "%Y%m%d"}
        elif high > 1e8:
            found = {"to": "epoch", "unit": "s" if high < 1e11 else "ms"}
    if found is None:
        raise Unreadable(f"column {values.name!r} holds no dates")
    return found


def _date_format(texts: pd.Series, european: bool) -> dict[str, Any] | None:
    """The date format of all values; at most 1% of them may be no dates."""
    unique = pd.Series(texts.unique())
    sample = unique.head(100)
    if not sample.str.contains(r"\d").all() or sample.str.len().max() > 40:
        return None
    formats = [day + time for time in TIMES for day in DAYS] + list(MONTHS)
    if european:
        formats.sort(key=lambda each: each.startswith("%m"))
    for form in formats:
        if pd.to_datetime(sample, format=form, errors="coerce").notna().mean() < 0.97:
            continue
        share = pd.to_datetime(unique, format=form, errors="coerce").notna().mean()
        if share == 1 or (share > 0.99 and len(unique) > 100):
            return {"to": "date", "format": form, **({} if share == 1 else {"coerce": True})}
    if sample.str.match(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d").all():
        parsed = pd.to_datetime(unique, format="ISO8601", errors="coerce", utc=True)
        if parsed.notna().all():
            return {"to": "iso"}
    return None


def _converted(series: pd.Series, convert: dict[str, Any]) -> pd.Series:
    """Convert as the notebook's code does (``parts/loading.py``)."""
    to = convert["to"]
    if to == "date":
        errors = "coerce" if convert.get("coerce") else "raise"
        return pd.to_datetime(series, format=convert["format"], errors=errors)
    if to == "epoch":
        return pd.to_datetime(series, unit=convert["unit"])
    if to == "iso":
        return pd.to_datetime(series, format="ISO8601", utc=True).dt.tz_localize(None)
    if to == "datetime":
        return pd.to_datetime(series)
    if to == "naive":
        return series.dt.tz_convert("UTC").dt.tz_localize(None)
    if to == "number":
        return as_numbers(series, **convert)
    if to == "finite":
        return series.replace([float("inf"), -float("inf")], float("nan"))
    if to == "spelling":
        return series.replace(convert["same"])
    if to == "object":
        return series.astype(object).where(series.notna(), float("nan"))
    return series.astype(to)


def as_numbers(
    series: pd.Series, decimal: str, thousands: str, signs: str, accounting: bool, **_: Any
) -> pd.Series:
    """The numbers of texts that have a ``NumberFormat``."""
    texts = series.str.strip()
    if accounting:
        texts = texts.str.replace(r"^\((.*)\)$", r"-\1", regex=True)
    if signs or thousands:
        texts = texts.str.replace(rf"[{thousands}{signs}\s]", "", regex=True)
    if decimal != ".":
        texts = texts.str.replace(decimal, ".")
    return pd.to_numeric(texts)


def describe(series: pd.Series, rows: int) -> dict[str, Any]:
    """The kind of a column, and the figures that belong to it."""
    values = series.dropna()
    about: dict[str, Any] = {
        "name": series.name,
        "dtype": str(series.dtype),
        "missing": int(series.isna().sum()),
    }
    try:
        about["unique"] = int(values.nunique())
    except TypeError:
        return {**about, "unique": None, "kind": "nested"}
    if not len(values):
        return {**about, "kind": "empty"}
    if pd.api.types.is_datetime64_any_dtype(series):
        low, high = values.min(), values.max()
        about |= {"kind": "date", "min": low.isoformat(), "max": high.isoformat()}
        about["time"] = bool((values.dt.normalize() != values).any())
        about["ordered"] = bool(values.is_monotonic_increasing)
    elif pd.api.types.is_bool_dtype(series) or values.map(type).eq(bool).all():
        about |= {"kind": "boolean", **_levels(values)}
    elif pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_complex_dtype(series):
        about |= _number(values, str(series.name), rows)
        if about["unique"] == 2 and (about["min"], about["max"]) == (0, 1):
            about |= {"kind": "boolean", "flag": True, **_levels(values.astype(int))}
    elif _is_text(series) or isinstance(series.dtype, pd.CategoricalDtype):
        about |= _text(values, str(series.name))
    else:
        about["kind"] = "mixed"
    if about["unique"] == 1 and rows > 1:
        about["kind"] = "constant"
    return about


def _number(values: pd.Series, name: str, rows: int) -> dict[str, Any]:
    floats = values.astype(float)
    whole = bool((floats % 1 == 0).all())
    low, high = float(floats.min()), float(floats.max())
    q1, median, q3 = (float(floats.quantile(share)) for share in (0.25, 0.5, 0.75))
    skew = float(floats.skew()) if len(floats) > 2 else 0.0
    year = whole and re.search(YEAR_NAME, name, re.I) is not None and 1000 <= low <= high <= 2200
    return {
        "kind": "id" if whole and _is_id(values, name, rows) else "number",
        "whole": whole,
        "year": year,
        "min": low,
        "max": high,
        "mean": float(floats.mean()),
        "std": float(floats.std()) if len(floats) > 1 else 0.0,
        "q1": q1,
        "median": median,
        "q3": q3,
        "skew": skew if skew == skew else 0.0,
    }


def _is_id(values: pd.Series, name: str, rows: int) -> bool:
    unique = values.nunique()
    if re.search(CODE_NAME, name, re.I):
        return True
    if unique > 20 and (re.search(ID_NAME, name) or re.search(ID_NAME, name.lower())):
        return True
    steps = values.diff().dropna()
    return (
        rows >= 20 and len(values) == rows and bool((steps == 1).all()) and values.iloc[0] in (0, 1)
    )


def _text(values: pd.Series, name: str) -> dict[str, Any]:
    if not isinstance(values.dtype, pd.CategoricalDtype) and values.map(type).nunique() > 1:
        return {"kind": "mixed"}
    texts = values.astype(str)
    unique = values.nunique()
    per_value = float(texts.str.split().str.len().mean())
    share = unique / len(values)
    many = (unique > 50 and share > 0.3) or (10 < unique <= 50 and share > 0.8) or unique > 1000
    kind = "category"
    if many or (unique > 30 and per_value >= 8):
        kind = "text" if per_value >= 6 else "label"
        if (share == 1 and per_value < 1.5) or re.search(ID_NAME, name.lower()):
            kind = "id"
    return {"kind": kind, "words": per_value, **_levels(values)}


def _levels(values: pd.Series) -> dict[str, Any]:
    """The ten most frequent values as ``[text, rows]``, and the length of the longest of them."""
    counts = values.value_counts()
    counts = counts[counts > 0].head(10)
    top = [[str(value), int(count)] for value, count in counts.items()]
    return {"top": top, "longest": max((len(str(text)) for text, _ in top), default=0)}
