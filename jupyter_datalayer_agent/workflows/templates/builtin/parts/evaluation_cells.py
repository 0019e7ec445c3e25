"""The code cells that evaluate a model on the test set, in numbers and in pictures."""

from __future__ import annotations

from .formatting import call, literal, source
from .model_cells import TOP
from .modelling import Study


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
