"""The code cells that build a model, from the split to the tuning."""

from __future__ import annotations

from .data import Column
from .formatting import WIDTH, call, literal, names_list, source
from .modelling import MANY_LEVELS, MAX_ROWS, SEED, Estimator, Study
from .plots import bars, distributions

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
