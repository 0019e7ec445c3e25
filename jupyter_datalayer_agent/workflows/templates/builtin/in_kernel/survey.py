"""Runs in the notebook's kernel: computes the figures in a notebook's text.

Its source is sent to the kernel; ``df`` is the data frame of the notebook.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

SAMPLE = 20_000
PERIODS = (
    ("h", "hour"),
    ("D", "day"),
    ("W", "week"),
    ("MS", "month"),
    ("QS", "quarter"),
    ("YS", "year"),
)
MAX_PERIODS = 130


def survey(
    df: pd.DataFrame,
    numbers: list[str],
    categories: list[str],
    flags: list[str],
    date: str | None,
    target: str | None,
) -> dict[str, Any]:
    """Relations, outliers, groups and trends over time; names in order of relevance."""
    sample = df if len(df) <= SAMPLE else df.sample(SAMPLE, random_state=0)
    correlations = _correlations(df, numbers)
    aim = target if target in numbers else None
    return {
        "pairs": _pairs(correlations),
        "heatmap": _most_related(correlations, 14, aim),
        "shown": _informative(sample, correlations, numbers, 12, aim),
        "outliers": _outliers(df, numbers),
        "groups": _groups(df, sample, numbers, categories, flags, target),
        "time": _course(df, date, numbers, aim) if date else None,
    }


def _correlations(df: pd.DataFrame, numbers: list[str]) -> pd.DataFrame:
    return df[numbers].corr() if len(numbers) > 1 and len(df) > 2 else pd.DataFrame()


def _pairs(correlations: pd.DataFrame) -> list[dict[str, Any]]:
    names = list(correlations.columns)
    pairs = [
        {"a": a, "b": b, "r": float(correlations.loc[a, b])}
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        if correlations.loc[a, b] == correlations.loc[a, b]
    ]
    return sorted(pairs, key=lambda pair: -abs(float(pair["r"])))[:200]


def _most_related(correlations: pd.DataFrame, limit: int, target: str | None) -> list[str]:
    """The columns with the strongest relations, in their order in the data."""
    if correlations.empty:
        return []
    strongest = correlations.abs().where(correlations.abs().lt(0.999999)).max()
    strongest = strongest[correlations.notna().sum() > 1].sort_values(ascending=False)
    kept = set(strongest.index[:limit]) | ({target} if target else set())
    return [name for name in correlations.columns if name in kept]


def _informative(
    df: pd.DataFrame, correlations: pd.DataFrame, numbers: list[str], limit: int, target: str | None
) -> list[str]:
    """At most ``limit`` columns: well filled, varied, and not copies of one another."""
    if len(numbers) <= limit:
        return numbers
    filled = df[numbers].notna().mean()
    varied = df[numbers].nunique().clip(upper=20) / 20
    aimed = correlations[target].abs().fillna(0) if target else correlations.abs().mean().fillna(0)
    ranked = (filled * varied + aimed).sort_values(ascending=False, kind="stable").index
    kept: list[str] = [target] if target else []
    for name in ranked:
        copies = name in kept or any(abs(correlations.loc[name, other]) > 0.95 for other in kept)
        if not copies and len(kept) < limit:
            kept.append(name)
    return [name for name in numbers if name in kept]


def _outliers(df: pd.DataFrame, numbers: list[str]) -> list[dict[str, Any]]:
    """Values more than 1.5 interquartile ranges outside the quartiles (Tukey's rule)."""
    found = []
    for name in numbers:
        values = df[name].dropna().astype(float)
        low, high = values.quantile(0.25), values.quantile(0.75)
        reach = 1.5 * (high - low)
        if not reach > 0:
            continue
        outside = (values < low - reach) | (values > high + reach)
        found.append(
            {
                "name": name,
                "count": int(outside.sum()),
                "share": float(outside.mean()),
                "low": float(low - reach),
                "high": float(high + reach),
            }
        )
    return sorted(found, key=lambda each: -each["share"])


def _groups(
    df: pd.DataFrame,
    sample: pd.DataFrame,
    numbers: list[str],
    categories: list[str],
    flags: list[str],
    target: str | None,
) -> list[dict[str, Any]]:
    """The pairs of a number and a category whose groups differ most, by eta squared."""
    informative = [name for name in numbers if df[name].nunique() >= 8]
    pairs = [
        found
        for category in categories
        for number in [*informative, *flags]
        if number != category and (found := _difference(sample, number, category, number in flags))
    ]
    pairs.sort(key=lambda each: (target not in (each["number"], each["category"]), -each["eta"]))
    again = (_difference(df, p["number"], p["category"], p["flag"]) for p in pairs[:12])
    return sorted((each for each in again if each), key=lambda each: -each["eta"])


def _difference(df: pd.DataFrame, number: str, category: str, flag: bool) -> dict[str, Any] | None:
    """How far groups differ: eta squared is the share of variance that they explain.

    The ten largest groups count, if they have five values; None if these are less than half of the
    rows. Flags are compared by share, other numbers by median.
    """
    largest = df[category].value_counts().head(10).index
    rows = df[df[category].isin(largest) & df[number].notna()]
    if len(rows) < max(10, 0.5 * df[number].notna().sum()):
        return None
    values = rows[number].astype(float)
    by = values.groupby(rows[category].astype(str))
    sizes = by.count()
    kept = sizes[sizes >= 5].index
    total = ((values - values.mean()) ** 2).sum()
    if len(kept) < 2 or not total > 0:
        return None
    means = by.mean()[kept]
    eta = float((sizes[kept] * (means - values.mean()) ** 2).sum() / total)
    middles = (means if flag else by.median()[kept]).sort_values()
    return {
        "category": category,
        "number": number,
        "flag": flag,
        "eta": eta,
        "small": len(kept) < len(sizes),
        "ties": int((middles == middles.iloc[0]).sum()),
        "low": [middles.index[0], float(middles.iloc[0])],
        "high": [middles.index[-1], float(middles.iloc[-1])],
    }


def _course(
    df: pd.DataFrame, date: str, numbers: list[str], target: str | None
) -> dict[str, Any] | None:
    """The period by which values are aggregated, and the trend of each number's mean."""
    dates = df[date].dropna()
    is_year = not pd.api.types.is_datetime64_any_dtype(dates)
    unique = dates.nunique()
    if unique < 3:
        return None
    rule, word = None, "year" if is_year else "date"
    if not is_year and (unique > MAX_PERIODS or unique < len(dates)):
        rule, word = _period(dates, unique)
    columns = [name for name in numbers if name != date]
    keys = dates if rule is None else dates.dt.to_period(_period_code(rule))
    means = df.loc[dates.index, columns].astype(float).groupby(keys).mean()
    courses: list[dict[str, Any]] = []
    for name in columns:
        line = means[name].dropna()
        spread = float(df[name].astype(float).std())
        if len(line) < 3 or not spread > 0:
            continue
        courses.append(
            {
                "name": name,
                "moves": float(line.std() / spread),
                "first": float(line.iloc[0]),
                "last": float(line.iloc[-1]),
                "high": [str(line.idxmax()), float(line.max())],
                "low": [str(line.idxmin()), float(line.min())],
            }
        )
    courses.sort(key=lambda each: (each["name"] != target, -each["moves"]))
    counts = keys.value_counts()
    return {
        "date": date,
        "rule": rule,
        "word": word,
        "year": is_year,
        "periods": len(means),
        "from": str(keys.min())[:10],
        "to": str(keys.max())[:10],
        "courses": courses,
        "busiest": [str(counts.idxmax()), int(counts.max())],
        "per_period": float(counts.median()),
    }


def _period(dates: pd.Series, unique: int) -> tuple[str | None, str]:
    """The finest period with few enough intervals; the dates themselves if they are few."""
    for rule, word in PERIODS:
        periods = dates.dt.to_period(_period_code(rule)).nunique()
        if periods <= MAX_PERIODS:
            same = periods == unique and unique <= MAX_PERIODS
            return (None, "date") if same and rule != "D" else (rule, word)
    return "YS", "year"


def _period_code(rule: str) -> str:
    return {"MS": "M", "QS": "Q", "YS": "Y"}.get(rule, rule)
