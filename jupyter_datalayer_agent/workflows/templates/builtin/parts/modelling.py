"""The decisions of a model: its features, their preparation, the split, the measures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .data import WIDTH, Column, Data, call, literal, names_list, source
from .plots import bars, distributions

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


# The code cells that build a model, from the split to the tuning.


TOP = 12


def imports(study: Study) -> list[str]:
    """What the notebook imports besides pandas and the plotting libraries."""
    parts: dict[str, list[str]] = {
        "model_selection": [
            study.splitter.split("(")[0],
            "GridSearchCV",
            "cross_validate",
            "train_test_split",
        ],
        "pipeline": ["Pipeline"],
        "preprocessing": ["StandardScaler"] if _numeric(study) else [],
        "inspection": ["permutation_importance"],
    }
    for estimator in (study.dummy, *study.estimators):
        parts.setdefault(estimator.module, []).append(estimator.source.split("(")[0])
    if study.classification:
        parts["metrics"] = ["ConfusionMatrixDisplay", "classification_report"]
        if len(study.facts["classes"]) == 2:
            parts["metrics"].append("RocCurveDisplay")
    else:
        parts["metrics"] = ["mean_absolute_error", "r2_score", "root_mean_squared_error"]
    if _columnwise(study):
        parts["compose"] = ["ColumnTransformer"]
    if study.categorical:
        parts["preprocessing"].append("OneHotEncoder")
    if study.texts:
        parts["feature_extraction.text"] = ["TfidfVectorizer"]
    if _imputed(study):
        parts["impute"] = ["SimpleImputer"]
    lines = []
    for module, names in parts.items():
        # isort's order: constants, classes, functions.
        ordered = sorted(set(names), key=lambda name: (name[0].islower(), name))
        if ordered:
            lines.append(_import(module, ordered))
    return lines


def _import(module: str, names: list[str]) -> str:
    """One line, or one name a line with a trailing comma, as isort formats it."""
    line = f"from sklearn.{module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    return f"from sklearn.{module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"


def _numeric(study: Study) -> bool:
    return bool(study.numeric or study.new_features)


def _imputed(study: Study) -> bool:
    return any(c.missing for c in study.numeric) or any(
        c.missing for c in study.dates if study.date_parts(c)
    )


def _columnwise(study: Study) -> bool:
    return bool(study.categorical or study.texts)


def target_plot(study: Study) -> str:
    """The rows of each class, or the distribution of the number."""
    return bars([study.target]) if study.classification else distributions([study.target])


def features_cell(study: Study) -> str:
    """Rows and columns that are used: ``X`` and ``y``."""
    target = literal(study.target.name)
    lines = []
    if study.facts["without"]:
        lines.append(f"df = df.dropna(subset=[{target}])")
    if study.facts.get("rare"):
        lines.append(
            source(
                """
                sizes = df[<<target>>].map(df[<<target>>].value_counts()).astype(int)
                df = df[sizes >= 10]
                """,
                target=target,
            )
        )
    if study.sampled:
        lines.append(f"df = df.sample({MAX_ROWS:_}, random_state={SEED})")
    if study.chronological:
        lines.append(f"df = df.sort_values({literal(study.chronological.name)})")
    if lines:
        lines.append("")
    lines.append(f"y = df[{target}]")
    dropped = [study.target.name, *(column.name for column in study.left_out)]
    lines += _columns_used(study, dropped)
    for column in study.dates:
        for name, accessor in study.date_parts(column):
            lines.append(f"X[{literal(name)}] = df[{literal(column.name)}].dt.{accessor}")
    lines += [
        f'X[{literal(c.name)}] = X[{literal(c.name)}].fillna("")' for c in study.texts if c.missing
    ]
    lines.append("X.shape")
    return "\n".join(lines)


def _columns_used(study: Study, dropped: list[str]) -> list[str]:
    """``X`` by the columns to drop, or by those to keep if they are fewer."""
    if len(dropped) >= 9 and len(dropped) >= study.features:
        return [
            names_list("features = ", [c.name for c in _kept(study)]),
            "X = df[features].copy()",
        ]
    line = names_list("X = df.drop(columns=", dropped, ")")
    if "\n" not in line:
        return [line]
    return [names_list("unused = ", dropped), "X = df.drop(columns=unused)"]


def _kept(study: Study) -> list[Column]:
    used = {c.name for c in (*study.numeric, *study.categorical, *study.texts)}
    return [column for column in study.data.columns if column.name in used]


def split_cell(study: Study) -> str:
    options = ["X", "y", "test_size=0.2"]
    if study.chronological:
        options.append("shuffle=False")
    else:
        options += ["stratify=y"] if study.classification else []
        options.append(f"random_state={SEED}")
    split = call("X_train, X_test, y_train, y_test = train_test_split(", options)
    return f"{split}\nlen(X_train), len(X_test)"


def preprocessing_cell(study: Study) -> str:
    """Scaling, encoding and imputation: fitted on training data only."""
    steps = [("fill", 'SimpleImputer(strategy="median")')] if _imputed(study) else []
    steps.append(("scale", "StandardScaler()"))
    scaling = (
        "Pipeline([" + ", ".join(f'("{name}", {what})' for name, what in steps) + "])"
        if len(steps) > 1
        else steps[0][1]
    )
    if not _columnwise(study):
        return f"preprocessing = {scaling}"
    lines, parts = [], []
    if _numeric(study):
        names = [*(c.name for c in study.numeric), *study.new_features]
        short = len(names) <= TOP
        lines.append(
            names_list("numeric = ", names)
            if short
            else 'numeric = list(X_train.select_dtypes(["number", "bool"]).columns)'
        )
        if len(steps) > 1:
            lines.append(
                call(
                    "scaling = Pipeline(", [f'[("fill", {steps[0][1]}), ("scale", {steps[1][1]})]']
                )
            )
        parts.append(f'("numeric", {"scaling" if len(steps) > 1 else scaling}, numeric)')
    if study.categorical:
        lines.append(names_list("categorical = ", [c.name for c in study.categorical]))
        many = any(column.unique > MANY_LEVELS for column in study.categorical)
        encoder = (
            'OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=20)'
            if many
            else 'OneHotEncoder(handle_unknown="ignore")'
        )
        lines.append(f"encoding = {encoder}")
        parts.append('("categorical", encoding, categorical)')
    for column in study.texts:
        vectors = 'TfidfVectorizer(max_features=100, min_df=5, stop_words="english")'
        parts.append(
            f"(\n    {literal(column.name)},\n    {vectors},\n    {literal(column.name)},\n)"
        )
    inner = ",\n".join(parts)
    dense = study.boosted
    block = source(
        """
        preprocessing = ColumnTransformer(
            [
                <<inner>>,
            ]
        )
        """
        if not dense
        else """
        preprocessing = ColumnTransformer(
            [
                <<inner>>,
            ],
            sparse_threshold=0,  # gradient boosting takes dense data only
        )
        """,
        inner=inner,
    )
    return "\n".join([*lines, "", block])


def comparison_cell(study: Study) -> str:
    """Baseline and models by cross-validation on the training data."""
    models = [study.dummy, *study.estimators]
    measures = [
        f'{literal(name)}: {"-" if score.startswith("neg_") else ""}results["test_{score}"].mean()'
        for name, score in study.measures.items()
    ]
    return source(
        """
        cv = <<splitter>>
        models = {
            <<models>>
        }
        rows = {}
        for name, model in models.items():
            pipeline = Pipeline([("preprocess", preprocessing), ("model", model)])
            results = cross_validate(
                pipeline, X_train, y_train, cv=cv, scoring=[<<scoring>>]
            )
            rows[name] = {
                <<measures>>
                "spread": results["test_<<main>>"].std(),
            }
        comparison = pd.DataFrame.from_dict(rows, orient="index")
        comparison.round(3)
        """,
        splitter=study.splitter,
        models="\n".join(f"{literal(model.name)}: {model.source}," for model in models),
        scoring=", ".join(literal(score) for score in study.measures.values()),
        measures="\n".join(f"{each}," for each in measures),
        main=study.scoring,
    )


def tuning_cell(study: Study, best: Estimator) -> str:
    grid = [f'"model__{name}": {values},' for name, values in best.grid]
    sign = "-" if study.scoring.startswith("neg_") else ""
    names = [f'"param_model__{name}"' for name, _ in best.grid]
    return source(
        """
        search = GridSearchCV(
            <<pipeline>>,
            {
                <<grid>>
            },
            cv=cv,
            scoring=<<scoring>>,
        )
        search.fit(X_train, y_train)

        results = pd.DataFrame(search.cv_results_)
        results.columns = results.columns.str.replace("param_model__", "")
        results[<<measure>>] = <<sign>>results["mean_test_score"]
        results["spread"] = results["std_test_score"]
        results = results.sort_values("rank_test_score")
        results[[<<names>>, <<measure>>, "spread"]].round(3)
        """,
        pipeline=_in_brackets(
            "Pipeline", ['("preprocess", preprocessing)', f'("model", {best.source})'], 4
        ),
        grid="\n".join(grid),
        scoring=literal(study.scoring),
        measure=literal(study.measure),
        sign=sign,
        names=", ".join(name.replace("param_model__", "") for name in names),
    )


def _in_brackets(name: str, items: list[str], indent: int) -> str:
    """``name([items])`` as ruff lays it out, beginning at this indentation, a comma after it."""
    line = f"{name}([{', '.join(items)}])"
    if len(line) + indent + 1 <= WIDTH:
        return line
    inner = f"[{', '.join(items)}]"
    if len(inner) + indent + 4 <= WIDTH:
        return f"{name}(\n    {inner}\n)"
    return f"{name}(\n    [\n" + "".join(f"        {each},\n" for each in items) + "    ]\n)"


# The code cells that evaluate a model on the test set, in numbers and in pictures.


def evaluation_cell(study: Study) -> str:
    """The test set, touched for the first and only time."""
    if study.classification:
        return source(
            """
            predictions = search.predict(X_test)
            print(classification_report(y_test, predictions, zero_division=0))
            """
        )
    return source(
        """
        predictions = search.predict(X_test)
        baseline = DummyRegressor(strategy="median").fit(X_train, y_train).predict(X_test)
        test = pd.DataFrame(
            {
                name: {
                    "MAE": mean_absolute_error(y_test, values),
                    "RMSE": root_mean_squared_error(y_test, values),
                    "R²": r2_score(y_test, values),
                }
                for name, values in {"Model": predictions, "Baseline": baseline}.items()
            }
        ).T
        test.round(3)
        """
    )


def confusion_cell(study: Study) -> str:
    classes = study.facts["classes"]
    size = min(10.0, max(4.5, 0.6 * len(classes) + 2.5))
    options = ["y_test", "predictions", 'cmap="Blues"', "ax=axis"]
    if len(classes) > 2 and max(len(name) for name, _ in classes) > 8:
        options.append('xticks_rotation="vertical"')
    return source(
        """
        fig, axis = plt.subplots(figsize=(<<width>>, <<size>>), layout="constrained")
        <<draw>>
        axis.grid(visible=False)
        axis.set(
            title="Confusion matrix (test set)",
            xlabel="Predicted",
            ylabel="True",
        )
        plt.show()
        """,
        width=f"{size + 1:g}",
        size=f"{size:g}",
        draw=call("ConfusionMatrixDisplay.from_predictions(", options),
    )


def roc_cell(model: str) -> str:
    options = ["search", "X_test", "y_test", f"name={literal(model)}", "plot_chance_level=True"]
    return source(
        """
        fig, axis = plt.subplots(figsize=(6, 5.5), layout="constrained")
        <<draw>>
        axis.set(
            title="ROC curve (test set)",
            xlabel="False positive rate",
            ylabel="True positive rate",
        )
        plt.show()
        """,
        draw=call("RocCurveDisplay.from_estimator(", [*options, "ax=axis"]),
    )


def residuals_cell(study: Study) -> str:
    label = study.target.label
    return source(
        """
        fig, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
        left.scatter(y_test, predictions, s=15, alpha=0.5)
        left.axline((y_test.mean(), y_test.mean()), slope=1, color="black", linewidth=1)
        left.set(
            title="Predicted against true values",
            xlabel=<<true>>,
            ylabel=<<predicted>>,
        )
        right.scatter(predictions, y_test - predictions, s=15, alpha=0.5)
        right.axhline(0, color="black", linewidth=1)
        right.set(
            title="Residuals (true − predicted)",
            xlabel=<<predicted>>,
            ylabel="Residual",
        )
        plt.show()
        """,
        true=literal(f"{label}, true"),
        predicted=literal(f"{label}, predicted"),
    )


def importance_cell(study: Study) -> str:
    """Permutation importance on the test set."""
    amount = min(TOP, study.features)
    head = f".head({TOP})" if study.features > TOP else ""
    loss = {
        "accuracy": "Loss of accuracy",
        "balanced accuracy": "Loss of balanced accuracy",
        "MAE": "Rise of the mean absolute error",
    }[study.measure]
    return source(
        """
        importance = permutation_importance(
            search,
            X_test,
            y_test,
            scoring=<<scoring>>,
            n_repeats=5,
            random_state=42,
        )
        importances = pd.DataFrame(
            {"mean": importance.importances_mean, "std": importance.importances_std},
            index=X_test.columns,
        )
        importances = importances.sort_values("mean", ascending=False)<<head>>

        fig, axis = plt.subplots(figsize=(12, <<height>>), layout="constrained")
        axis.barh(importances.index, importances["mean"], xerr=importances["std"])
        axis.invert_yaxis()
        axis.set(
            title="Permutation importance (test set)",
            xlabel=<<loss>>,
            ylabel="Feature",
        )
        plt.show()
        """,
        scoring=literal(study.scoring),
        head=head,
        height=f"{max(2.6, 0.4 * amount + 1.2):g}",
        loss=literal(f"{loss} when the feature is shuffled"),
    )
