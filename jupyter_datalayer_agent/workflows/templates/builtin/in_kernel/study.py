"""Runs in the notebook's kernel: what to predict from what, and the scores of models.

Its source is sent to the kernel; the data frame comes from the notebook.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

TARGET_NAMES = (
    "target", "label", "class", "y", "outcome", "response", "survived", "diagnosis", "species",
    "churn", "default", "price", "quality", "result", "status",
)  # fmt: skip
FEW = 10
MAX_CLASSES = 30
MIN_ROWS = 40


class Unsuitable(Exception):
    """Nothing can be learned from these data; the text says why, for a user."""


def study(
    df: pd.DataFrame, columns: list[dict[str, Any]], target: str | None, task: str | None
) -> dict[str, Any]:
    """Target, task, rows to leave out, and columns that give the target away.

    ``columns`` are those of the profile. Raises ``Unsuitable``.
    """
    kinds = {column["name"]: column["kind"] for column in columns}
    inferred = target is None
    if target is None:
        target = _likely_target(columns, task)
    series = df[target].dropna()
    if len(series) and series.nunique() < 2:
        raise Unsuitable(f"{target!r} has one value only, so there is nothing to predict")
    if len(series) < MIN_ROWS:
        raise Unsuitable(
            f"{len(series)} rows have a value of {target!r}; a model needs {MIN_ROWS} at least"
        )
    numeric = pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series)
    task = task or _likely_task(series, numeric)
    about: dict[str, Any] = {"target": target, "task": task, "inferred": inferred}
    if task == "classification":
        about |= _classes(series, target)
    elif not numeric:
        raise Unsuitable(f"{target!r} holds no numbers, so it takes classification, not regression")
    rows = df[df[target].notna()]
    others = [name for name in df.columns if name != target]
    about["leaks"] = [name for name in others if _leaks(rows, name, target, kinds[name], numeric)]
    return {**about, "rows": len(series), "without": int(df[target].isna().sum())}


def _likely_target(columns: list[dict[str, Any]], task: str | None) -> str:
    kinds = ("number", "boolean", "category")
    usable = [
        column["name"]
        for column in columns
        if column["kind"] in kinds
        and not (column["kind"] == "category" and column["unique"] > MAX_CLASSES)
        and not (task == "regression" and column["kind"] != "number")
    ]
    if not usable:
        raise Unsuitable("no column can be predicted; name one as target")
    for known in TARGET_NAMES:
        for name in usable:
            if name.lower() == known:
                return str(name)
    return str(usable[-1])


def _likely_task(series: pd.Series, numeric: bool) -> str:
    whole = numeric and bool((series.astype(float) % 1 == 0).all())
    return "regression" if numeric and (not whole or series.nunique() > 10) else "classification"


def _classes(series: pd.Series, target: str) -> dict[str, Any]:
    counts = series.value_counts()
    counts = counts[counts > 0]
    kept = counts[counts >= FEW]
    if len(kept) < 2:
        raise Unsuitable(f"{target!r} has fewer than two values with {FEW} rows each to learn from")
    if len(kept) > MAX_CLASSES:
        raise Unsuitable(
            f"{target!r} has {len(counts)} different values, too many to be classes; "
            "choose another target, or regression"
        )
    return {
        "classes": [[str(value), int(count)] for value, count in kept.items()],
        "rare": [str(value) for value in counts[counts < FEW].index],
        "majority": float(kept.iloc[0] / kept.sum()),
    }


def _leaks(df: pd.DataFrame, name: str, target: str, kind: str, numeric: bool) -> bool:
    """Whether the column determines the target."""
    if kind == "number" and numeric:
        return bool(abs(df[name].astype(float).corr(df[target].astype(float))) > 0.99999)
    if kind in ("category", "boolean"):
        pairs = df[[name, target]].dropna()
        unique = pairs[target].nunique()
        if pairs[name].nunique() == unique > 1:
            return bool(len(pairs.drop_duplicates()) == unique)
    return False


def comparison_facts(comparison: pd.DataFrame) -> list[dict[str, Any]]:
    """The table that compares models, best first."""
    ordered = comparison.reset_index(names="model").to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in ordered]


def importance_facts(importances: pd.DataFrame) -> list[list[Any]]:
    """The features by their permutation importance."""
    return [
        [str(name), float(row["mean"]), float(row["std"])] for name, row in importances.iterrows()
    ]


def confusion_facts(y_test: Any, predictions: Any) -> list[Any] | None:
    """The most frequent confusion: ``[true, predicted, rows]``."""
    pairs = pd.DataFrame({"true": list(map(str, y_test)), "predicted": list(map(str, predictions))})
    wrong = pairs[pairs["true"] != pairs["predicted"]]
    if wrong.empty:
        return None
    counts = wrong.value_counts()
    return [*counts.index[0], int(counts.iloc[0])]
