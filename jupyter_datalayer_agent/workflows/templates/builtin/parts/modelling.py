"""The decisions of a model: its features, their preparation, the split, the measures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .data import Column, Data

MAX_ROWS = 10_000
FOREST_ROWS = {True: 5_000, False: 500}
MAX_MISSING = 0.6
MANY_LEVELS = 12
SEED = 42


@dataclass(frozen=True)
class Estimator:
    """A model as the notebook writes it, and the small grid in which it is tuned."""

    name: str
    source: str
    module: str
    grid: tuple[tuple[str, str], ...]


class Study:
    """What is predicted from what; made of ``facts["data"]`` and ``facts["study"]``."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.data = Data(facts)
        self.facts: dict[str, Any] = facts["study"]
        self.target: Column = self.data[self.facts["target"]]
        self.classification: bool = self.facts["task"] == "classification"

    def _usable(self, column: Column) -> bool:
        full = column.missing <= MAX_MISSING * self.data.rows
        return full and column is not self.target and column.name not in self.facts["leaks"]

    @cached_property
    def numeric(self) -> list[Column]:
        """Numbers, years and flags."""
        flags = {column.name for column in self.data.flags}
        return [
            column
            for column in self.data.columns
            if self._usable(column) and (column.kind == "number" or column.name in flags)
        ]

    @cached_property
    def categorical(self) -> list[Column]:
        flags = {column.name for column in self.data.flags}
        return [
            column
            for column in self.data.categories
            if self._usable(column) and column.name not in flags
        ]

    @cached_property
    def texts(self) -> list[Column]:
        """Free texts, vectorised by TF-IDF."""
        return [column for column in self.data.of("text") if self._usable(column)][:2]

    @cached_property
    def dates(self) -> list[Column]:
        """Dates, whose recurring parts become features."""
        return [column for column in self.data.of("date") if self._usable(column)]

    def date_parts(self, column: Column) -> list[tuple[str, str]]:
        """``(name of the feature, accessor)``: year, month, weekday, hour, as far as they vary."""
        start, end = column.about["min"], column.about["max"]
        parts = []
        years = any(column.is_year for column in self.numeric)
        if start[:4] != end[:4] and not self.chronological and not years:
            parts.append(("year", "year"))
        if start[:7] != end[:7]:
            parts.append(("month", "month"))
        if start[:10] != end[:10] and not all(
            each.endswith("-01") for each in (start[:10], end[:10])
        ):
            parts.append(("weekday", "day_of_week"))
        if column.about["time"]:
            parts.append(("hour", "hour"))
        return [(f"{column.name}_{name}", accessor) for name, accessor in parts]

    @cached_property
    def new_features(self) -> list[str]:
        return [name for column in self.dates for name, _ in self.date_parts(column)]

    @cached_property
    def left_out(self) -> list[Column]:
        """Columns other than the target that are no features."""
        used = {c.name for c in (*self.numeric, *self.categorical, *self.texts)}
        return [c for c in self.data.columns if c.name not in used and c is not self.target]

    @property
    def features(self) -> int:
        known = len(self.numeric) + len(self.categorical) + len(self.texts)
        return known + len(self.new_features)

    @property
    def rows(self) -> int:
        return int(self.facts["rows"])

    @property
    def sampled(self) -> bool:
        return self.rows > MAX_ROWS

    @property
    def boosted(self) -> bool:
        """Gradient boosting instead of a forest: faster with many rows."""
        return self.rows > FOREST_ROWS[self.classification]

    @cached_property
    def chronological(self) -> Column | None:
        """The date by which rows are split: one row per time, and a numeric target."""
        date = self.data.date
        if self.classification or date is None or date.kind != "date" or date.missing:
            return None
        return date if date.unique == self.data.rows else None

    @property
    def balanced(self) -> bool:
        return bool(self.facts.get("majority", 0) <= 0.6)

    @property
    def scoring(self) -> str:
        """The measure by which models are selected."""
        if not self.classification:
            return "neg_mean_absolute_error"
        return "accuracy" if self.balanced else "balanced_accuracy"

    @property
    def measures(self) -> dict[str, str]:
        """Columns of the comparison, by the names of scikit-learn's scores."""
        if self.classification:
            return {"accuracy": "accuracy", "balanced accuracy": "balanced_accuracy"}
        return {"MAE": "neg_mean_absolute_error", "R²": "r2"}

    @property
    def measure(self) -> str:
        return next(name for name, score in self.measures.items() if score == self.scoring)

    @property
    def dummy(self) -> Estimator:
        if self.classification:
            return Estimator("Baseline (most frequent class)", "DummyClassifier()", "dummy", ())
        # The median is the constant with the least absolute error.
        return Estimator("Baseline (median)", 'DummyRegressor(strategy="median")', "dummy", ())

    @property
    def estimators(self) -> list[Estimator]:
        """A linear model and trees."""
        seed = f"random_state={SEED}"
        kind = "Classifier" if self.classification else "Regressor"
        weights = (("class_weight", '[None, "balanced"]'),) if not self.balanced else ()
        if self.classification:
            linear = Estimator(
                "Logistic regression",
                "LogisticRegression(max_iter=2000)",
                "linear_model",
                (("C", "[0.1, 1, 10]"), *weights),
            )
        else:
            linear = Estimator(
                "Ridge regression", "Ridge()", "linear_model", (("alpha", "[0.1, 1, 10, 100]"),)
            )
        if self.boosted:
            trees = Estimator(
                "Gradient boosting",
                f"HistGradientBoosting{kind}({seed})",
                "ensemble",
                (("learning_rate", "[0.05, 0.1]"), ("max_leaf_nodes", "[7, 31]")),
            )
        else:
            trees = Estimator(
                "Random forest",
                f"RandomForest{kind}({seed})",
                "ensemble",
                (("max_features", '["sqrt", 0.5]'), ("min_samples_leaf", "[1, 5]")),
            )
        return [linear, trees]

    def estimator(self, name: str) -> Estimator:
        return next(each for each in self.estimators if each.name == name)

    @property
    def splitter(self) -> str:
        if self.chronological:
            return "TimeSeriesSplit(n_splits=5)"
        kind = "StratifiedKFold" if self.classification else "KFold"
        return f"{kind}(n_splits=5, shuffle=True, random_state={SEED})"
