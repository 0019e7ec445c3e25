"""A model of one column from the others: baseline, comparison, tuning, one look at the test set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from ....datasets.dialect import SOURCES
from ...template import StepFailed, Template, TemplateRun, TemplateStep
from .in_kernel import call as kernel_call
from .parts import modelling, sections
from .parts.data import Data, bullets, code, codes, count, listed, number, paragraph, percent
from .parts.loading import imports_cell, load_frame, loading_text, need_modules, probe
from .parts.modelling import MAX_MISSING, MAX_ROWS, Study
from .parts.sections import DataParameters

STUDY = """
def answer(path, how, date_column, columns, target, task):
    try:
        frame, _ = load(path, how)
        profile(frame, date_column, how)
        return study(frame, columns, target, task)
    except Unsuitable as error:
        return {"unsuitable": str(error)}
"""
EVALUATED = """
def answer():
    scores = comparison_facts(test) if {regression} else None
    confused = None if {regression} else confusion_facts(y_test, predictions)
    hits = None if {regression} else float((predictions == y_test).mean())
    recalls = None if {regression} else float(
        (predictions == y_test).groupby(y_test, observed=True).mean().mean()
    )
    return {{"scores": scores, "confused": confused, "accuracy": hits,
             "balanced accuracy": recalls, "rows": len(y_test)}}
"""


class PipelineParameters(DataParameters):
    target: str | None = Field(
        default=None, description="The column to predict. Left out, a likely one is chosen."
    )
    task: Literal["classification", "regression"] | None = Field(
        default=None, description="Default: chosen from the target's values."
    )


def steps(parameters: PipelineParameters) -> Sequence[TemplateStep]:
    return [
        TemplateStep(
            "Look at the file, choose target and task; write title and imports",
            _head,
            ("executeCode", "addNotebookCell"),
        ),
        TemplateStep("Load and explore the data", _explore),
        TemplateStep("Choose features and split off a test set", _split),
        TemplateStep("Prepare the features", _preprocess),
        TemplateStep(
            "Compare a baseline with two models", _compare, ("addNotebookCell", "executeCode")
        ),
        TemplateStep("Tune the best model", _tune, ("addNotebookCell", "executeCode")),
        TemplateStep("Evaluate on the test set", _evaluate, ("addNotebookCell", "executeCode")),
        TemplateStep("Draw the results and sum up", _results, ("addNotebookCell", "executeCode")),
    ]


async def _head(run: TemplateRun) -> None:
    await need_modules(run, "pandas", "matplotlib", "seaborn", "sklearn")
    data = await probe(run)
    study = await _study(run, data)
    name = run.parameters.data.rsplit("/", 1)[-1]
    kind = "classification" if study.classification else "regression"
    chosen = (
        "No target was named; this one was chosen as a likely one."
        if study.facts["inferred"]
        else ""
    )
    await run.markdown(
        f"# Predicting {code(study.target.name)}: {name}\n\n{sections.introduction(data, name)}\n\n"
        + paragraph(
            f"A model learns {code(study.target.name)} from the other columns ({kind}).",
            chosen,
            "It is compared with a baseline, tuned by cross-validation on the training data, and "
            "measured once on a test set that it has not seen.",
        )
    )
    await run.code(imports_cell(data, *modelling.imports(study)))


async def _study(run: TemplateRun, data: Data) -> Study:
    facts = data.facts
    others = ("columns", "rows", "duplicates", "style")
    how = {name: value for name, value in facts.items() if name not in others}
    answer: dict[str, Any] = await run.compute(
        kernel_call(
            *SOURCES,
            "profile",
            "study",
            answer=STUDY,
            path=facts["path"],
            how=how,
            date_column=facts["dateColumn"],
            columns=facts["columns"],
            target=facts["target"],
            task=run.parameters.task,
        )
    )
    if "unsuitable" in answer:
        raise StepFailed(f"{run.parameters.data} cannot be modelled: {answer['unsuitable']}.")
    run.facts["study"] = answer
    study = Study(run.facts)
    if not study.features:
        raise StepFailed(
            f"{run.parameters.data} cannot be modelled: no column but "
            f"{code(study.target.name)} is of use as a feature."
        )
    return study


async def _explore(run: TemplateRun) -> None:
    study = Study(run.facts)
    data = study.data
    await run.markdown(f"## Loading the data\n\n{loading_text(data, run.parameters.data)}")
    await load_frame(run, data)
    await sections.shape(run)
    await run.code("df.head()")
    await sections.missing(run)
    await run.markdown(f"## The target\n\n{_target_text(study)}")
    await run.code(modelling.target_plot(study))


def _target_text(study: Study) -> str:
    name = code(study.target.name)
    if not study.classification:
        about = study.target.about
        return (
            f"{name} runs from {number(about['min'])} to {number(about['max'])}, with a median of "
            f"{number(about['median'])}."
        )
    classes = study.facts["classes"]
    balance = (
        "Accuracy would flatter a model that always says so; balanced accuracy is used."
        if not study.balanced
        else ""
    )
    return paragraph(
        f"{name} has {count(len(classes), 'class', 'classes')}; the largest, "
        f"{code(classes[0][0])}, holds {percent(study.facts['majority'])} of the rows.",
        balance,
    )


async def _split(run: TemplateRun) -> None:
    study = Study(run.facts)
    await run.markdown(
        "## Features and test set\n\n"
        + paragraph(*_row_notes(study), *_column_notes(study))
        + "\n\n"
        + (
            f"Rows are split by {code(study.chronological.name)}: the model is tested on the last "
            "fifth, as if it had to foretell it."
            if study.chronological
            else "A fifth of the rows is kept as a test set"
            + (", with the same shares of the classes." if study.classification else ".")
        )
    )
    await run.code(modelling.features_cell(study))
    await run.code(modelling.split_cell(study))


def _row_notes(study: Study) -> list[str]:
    notes = []
    if study.facts["without"]:
        notes.append(f"{count(study.facts['without'], 'row')} without a target cannot be used.")
    rare = study.facts.get("rare")
    if rare:
        notes.append(f"Classes with fewer than 10 rows are left out: {codes(rare)}.")
    if study.sampled:
        notes.append(f"The model is made from {MAX_ROWS:,} rows drawn at random, to be quick.")
    return notes


def _column_notes(study: Study) -> list[str]:
    """Which columns are left out, and why."""
    leaks = study.facts["leaks"]
    dates = {column.name for column in study.dates if study.date_parts(column)}
    reasons: dict[str, list[str]] = {}
    for column in study.left_out:
        if column.name in dates:
            continue
        if column.name in leaks:
            reason = "the target in other words"
        elif column.kind in ("id", "label", "text"):
            reason = "no measurement" if column.kind == "id" else "too many different values"
        elif column.missing > MAX_MISSING * study.data.rows:
            reason = "mostly empty"
        else:
            reason = "of no use to a model"
        reasons.setdefault(reason, []).append(column.name)
    notes = [f"Left out: {codes(names)} ({reason})." for reason, names in reasons.items()]
    if dates:
        notes.append(f"Of {codes(dates)} the parts that come again are used.")
    return notes


async def _preprocess(run: TemplateRun) -> None:
    study = Study(run.facts)
    sentences = []
    if study.numeric or study.new_features:
        filled = any(column.missing for column in study.numeric)
        sentences.append(
            "Numbers are scaled" + (", missing ones filled in with the median." if filled else ".")
        )
    if study.categorical:
        sentences.append("Each value of a categorical column becomes a column of its own.")
    if study.texts:
        sentences.append(
            f"The words of {codes(c.name for c in study.texts)} are weighted (TF-IDF)."
        )
    await run.markdown(
        "## Preparing the features\n\n"
        + paragraph(
            *sentences, "All of it is learned inside the pipeline, from training data alone."
        )
    )
    await run.code(modelling.preprocessing_cell(study))


async def _compare(run: TemplateRun) -> None:
    study = Study(run.facts)
    names = listed([study.estimators[0].name.lower(), study.estimators[1].name.lower()])
    await run.markdown(
        f"## Baseline and models\n\nWhat a model without any feature reaches is the mark to beat. "
        f"{names[0].upper()}{names[1:]} stand for linear models and for trees, each measured by "
        "five-fold cross-validation on the training data."
    )
    await run.code(modelling.comparison_cell(study))
    answer = "def answer():\n    return comparison_facts(comparison)\n"
    rows = await run.compute(kernel_call("study", answer=answer, names=["comparison"]))
    run.facts["comparison"] = rows
    await run.markdown(_comparison_text(study, rows))


def _comparison_text(study: Study, rows: list[dict[str, Any]]) -> str:
    baseline, best = rows[0], _best(study, rows)
    measure = study.measure
    better = _better(study, best, baseline)
    text = (
        f"{best['model']} does best: {measure} {number(best[measure])} against "
        f"{number(baseline[measure])} of the baseline."
    )
    if not better:
        text = (
            f"No model beats the baseline ({measure} {number(baseline[measure])}; the best, "
            f"{best['model'].lower()}, {number(best[measure])}). The features say little of "
            f"{code(study.target.name)}; do not expect more of tuning."
        )
    return text


def _best(study: Study, rows: list[dict[str, Any]]) -> dict[str, Any]:
    sign = 1 if study.scoring.startswith("neg_") else -1
    return min(rows[1:], key=lambda row: sign * row[study.measure])


def _better(study: Study, row: dict[str, Any], other: dict[str, Any]) -> bool:
    lower = study.scoring.startswith("neg_")
    return bool((row[study.measure] < other[study.measure]) is lower) and (
        row[study.measure] != other[study.measure]
    )


async def _tune(run: TemplateRun) -> None:
    study = Study(run.facts)
    best = study.estimator(_best(study, run.facts["comparison"])["model"])
    await run.markdown(
        f"## Tuning\n\nA small grid of settings for {best.name.lower()}, with the same "
        "cross-validation."
    )
    await run.code(modelling.tuning_cell(study, best))
    answer = "def answer():\n    return [search.best_params_, search.best_score_]\n"
    settings, score = await run.compute(kernel_call(answer=answer, names=["search"]))
    chosen = [f"`{name.split('__')[-1]} = {value}`" for name, value in settings.items()]
    run.facts["tuned"] = {"model": best.name, "score": abs(score)}
    await run.markdown(
        f"The best setting is {listed(chosen)}, which reaches {study.measure} "
        f"{number(abs(score))} in cross-validation."
    )


async def _evaluate(run: TemplateRun) -> None:
    study = Study(run.facts)
    await run.markdown(
        "## The test set\n\nThe tuned model, fitted on all training data, meets the test set for "
        "the first and only time."
    )
    await run.code(modelling.evaluation_cell(study))
    names = ["y_test", "predictions"] if study.classification else ["y_test", "test"]
    answer = EVALUATED.format(regression=not study.classification)
    run.facts["test"] = await run.compute(kernel_call("study", answer=answer, names=names))
    await run.markdown(_test_text(study, run.facts))


def _test_text(study: Study, facts: dict[str, Any]) -> str:
    test, tuned = facts["test"], facts["tuned"]
    if study.classification:
        confused = test["confused"]
        return paragraph(
            f"On {count(test['rows'], 'unseen row')} the model is right in "
            f"{percent(test['accuracy'])} (balanced accuracy {number(test['balanced accuracy'])}); "
            f"in cross-validation its {study.measure} was {number(tuned['score'])}.",
            f"Most often it takes {code(confused[0])} for {code(confused[1])} "
            f"({count(confused[2], 'row')})."
            if confused
            else "It makes no mistake.",
        )
    model, baseline = test["scores"]
    return (
        f"On {count(test['rows'], 'unseen row')} the predictions are off by "
        f"{number(model['MAE'])} on average, against {number(baseline['MAE'])} of the "
        f"baseline and {number(tuned['score'])} in cross-validation; they explain "
        f"{percent(max(0.0, model['R²']))} of the variance (R²)."
    )


async def _results(run: TemplateRun) -> None:
    study = Study(run.facts)
    await run.markdown("## Results in pictures")
    if study.classification:
        await run.code(modelling.confusion_cell(study))
        if len(study.facts["classes"]) == 2:
            await run.code(modelling.roc_cell(run.facts["tuned"]["model"]))
    else:
        await run.code(modelling.residuals_cell(study))
    await run.code(modelling.importance_cell(study))
    answer = "def answer():\n    return importance_facts(importances)\n"
    found = await run.compute(kernel_call("study", answer=answer, names=["importances"]))
    useful = [name for name, mean, std in found if mean > 2 * std and mean > 0][:3]
    rows = run.facts["comparison"]
    beaten = _better(study, _best(study, rows), rows[0])
    await run.markdown(
        "## Conclusions\n\n"
        + bullets(
            [
                _comparison_text(study, rows),
                _test_text(study, run.facts),
                f"The model leans most on {codes(useful)}."
                if useful
                else "No single feature carries the model.",
                "Next: look at the rows that it gets wrong, and ask what they have in common."
                if beaten
                else "Next: look for features that have to do with the target.",
            ]
        )
    )


machine_learning_pipeline = Template(
    id="machine-learning-pipeline",
    name="Machine learning pipeline",
    description="Predict a column of a CSV or Parquet file: explore, split, prepare, compare with "
    "a baseline, tune, evaluate once on a test set, and draw the results.",
    parameters=PipelineParameters,
    steps=steps,
    keywords=(
        "machine learning",
        "ml",
        "train",
        "model",
        "predict",
        "prediction",
        "classify",
        "classification",
        "classifier",
        "regression",
        "forecast",
        "scikit-learn",
        "sklearn",
        "random forest",
        "fit",
        "train a model",
        "maschinelles lernen",
        "trainiere",
        "vorhersage",
        "apprentissage automatique",
        "entraine",
        "predire",
        "aprendizaje automatico",
        "entrena",
        "predecir",
        "modell",
        "modele",
        "modelo",
    ),
    notebook="machine_learning_pipeline.ipynb",
)
