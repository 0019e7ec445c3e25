"""The checks of the scikit-learn lessons. They run in the learner's kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..in_kernel.formatting import kind_of, listed
from ..in_kernel.looking import CheckFailed, Inspection, close
from ..in_kernel.tables import check_rows, frame, read_data

FEATURES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def looking_at_the_data(look: Inspection) -> str:
    """Lesson 1."""
    data = read_data("penguins.csv")
    whole = data.dropna(subset=FEATURES)
    features = frame(look, "X")
    columns = list(features.columns)
    if "species" in columns:
        raise CheckFailed(
            "`X` holds the column `species`: the answer must not be among the features."
        )
    if extra := [each for each in columns if each not in FEATURES]:
        raise CheckFailed(f"`X` holds {listed(extra)}, which is not among the four features.")
    if lacking := [each for each in FEATURES if each not in columns]:
        raise CheckFailed(f"`X` lacks the feature {listed(lacking)}.")
    if features.isna().any().any():
        raise CheckFailed(
            f"Values are missing in {int(features.isna().any(axis=1).sum())} rows of `X`. Drop "
            "them "
            "first: `penguins.dropna(subset=features)` gives a new table, which you have to keep."
        )
    if len(features) == len(data.dropna()) != len(whole):
        raise CheckFailed(
            f"`X` has {len(features)} rows: penguins were dropped whose sex only is not known. "
            "Drop "
            "those without measurements: `dropna(subset=features)`."
        )
    check_rows("X", features, whole[FEATURES])
    _answers(look, features, whole)
    return f"Right. {len(features)} penguins, four features, three species."


def _answers(look: Inspection, features: Any, whole: Any) -> None:
    answers = look.value("y")
    if type(answers).__name__ == "DataFrame":
        raise CheckFailed(
            '`y` is a table. One pair of brackets gives a column: `penguins["species"]`.'
        )
    if not hasattr(answers, "__len__") or isinstance(answers, str):
        raise CheckFailed(f"`y` should be the column of answers; it is {kind_of(answers)}.")
    if len(answers) != len(features):
        raise CheckFailed(
            f"`X` has {len(features)} rows and `y` {len(answers)}: take both from the same table, "
            "after the rows were dropped."
        )
    if not set(answers) <= set(whole["species"]):
        raise CheckFailed(
            f"`y` holds {listed(list(dict.fromkeys(answers))[:3])}, which are no species."
        )
    index = getattr(features, "index", None)
    expected = whole["species"]
    if index is not None and set(index) <= set(expected.index):
        expected = expected.loc[list(index)]
    if list(answers) != list(expected):
        raise CheckFailed("`y` is in another order than the rows of `X`.")


def splitting(look: Inspection) -> str:
    """Lesson 2."""
    features, answers = look.earlier("X", 1), look.earlier("y", 1)
    names = ("X_train", "X_test", "y_train", "y_test")
    X_train, X_test, y_train, y_test = (look.value(name) for name in names)
    if getattr(X_test, "ndim", 2) == 1 and getattr(y_train, "ndim", 1) == 2:
        raise CheckFailed(
            "The four parts come in another order: first both parts of X, then both of y. "
            "`X_train, X_test, y_train, y_test`."
        )
    total = len(features)
    for kind, train, test in (("X", X_train, X_test), ("y", y_train, y_test)):
        if len(train) + len(test) != total:
            raise CheckFailed(
                f"{kind}_train and {kind}_test have {len(train) + len(test)} rows together; `X` "
                "has "
                f"{total}. Each penguin belongs to one of them."
            )
    if len(X_test) > len(X_train):
        raise CheckFailed(
            f"The test part has {len(X_test)} of {total} rows: train and test are exchanged, or "
            "test_size is too large."
        )
    _sizes(len(X_test), total)
    if list(getattr(X_train, "index", [])) != list(getattr(y_train, "index", [])):
        raise CheckFailed(
            "The rows of `X_train` and `y_train` do not belong together. Split both at once."
        )
    if not look.calls("train_test_split") and _in_order(X_train, features):
        raise CheckFailed("The rows were split in their order. They have to be drawn at random.")
    _stratified(answers, y_test)
    call = look.calls("train_test_split", "StratifiedShuffleSplit")
    if call and not any(each.arg == "random_state" for each in call[0].keywords):
        raise CheckFailed(
            "The split is right, but another one each time the cell runs. Fix it: `random_state=0`."
        )
    return f"Right. {len(X_train)} penguins to learn from, {len(X_test)} to be judged by."


def _sizes(size: int, total: int) -> None:
    share = size / total
    if abs(share - 0.25) < 0.005:
        raise CheckFailed(
            f"The test part has {size} rows, 25%: that is what you get without saying. The task "
            "asks for `test_size=0.2`."
        )
    if size == 20:
        raise CheckFailed("test_size=20 are 20 rows. A share is between 0 and 1: `test_size=0.2`.")
    if abs(share - 0.2) > 0.005:
        raise CheckFailed(
            f"The test part has {size} of {total} rows, {share:.0%}; 20% were asked for."
        )


def _in_order(train: Any, features: Any) -> bool:
    index = list(getattr(train, "index", []))
    return bool(index) and index == list(features.index)[: len(index)]


def _stratified(answers: Any, y_test: Any) -> None:
    for name in sorted(set(answers)):
        wanted = len(y_test) * list(answers).count(name) / len(answers)
        found = list(y_test).count(name)
        if abs(found - wanted) > 1:
            raise CheckFailed(
                f"The test part has {found} {name} penguins; by their share it should be "
                f"{wanted:.0f}. `stratify=y` keeps the shares."
            )


def fitting(look: Inspection) -> str:
    """Lesson 3."""
    X_train, X_test = look.earlier("X_train", 2), look.earlier("X_test", 2)
    y_train, y_test = look.earlier("y_train", 2), look.earlier("y_test", 2)
    for name in ("baseline", "model"):
        _fitted(look, name, X_train)
    _fitted_on(look)
    answers = _answered(look, "baseline", X_train)
    often = max(sorted(set(y_train)), key=list(y_train).count)
    if len(set(answers)) > 1:
        strategy = getattr(look.value("baseline"), "strategy", None)
        if strategy is None:
            raise CheckFailed("`baseline` looks at the features. A DummyClassifier does not.")
        raise CheckFailed(
            f'`baseline` gives different answers (strategy="{strategy}"). The one that always '
            'gives the most frequent is strategy="most_frequent".'
        )
    if set(answers) != {often}:
        raise CheckFailed(
            f"`baseline` always answers {answers[0]}; the most frequent species is {often}."
        )
    answers = _answered(look, "model", X_test)
    if len(set(answers)) == 1:
        raise CheckFailed("`model` gives every penguin the same answer, as the baseline does.")
    share = sum(a == b for a, b in zip(answers, y_test)) / len(answers)  # noqa: B905
    if share < list(y_test).count(often) / len(y_test) + 0.1:
        raise CheckFailed(
            f"`model` is right for {share:.0%} of the test part, hardly better than the baseline. "
            "Scale the features first, with StandardScaler."
        )
    return "Right. Both are fitted. The next lesson says how good they are."


def _fitted(look: Inspection, name: str, table: Any) -> None:
    value = look.value(name)
    if isinstance(value, type):
        raise CheckFailed(
            f"`{name}` is the class {value.__name__} itself. With brackets it becomes a model: "
            f"`{value.__name__}()`."
        )
    if not hasattr(value, "predict"):
        raise CheckFailed(
            f"`{name}` should be a fitted classifier; it is {kind_of(value)}. Assign what .fit() "
            "gives, not what .predict() or .score() gives."
        )
    _answered(look, name, table)


def _answered(look: Inspection, name: str, table: Any) -> list[Any]:
    """The model's answers; ``CheckFailed`` where it cannot give them."""
    model = look.earlier(name, 3)
    try:
        return list(model.predict(table))
    except Exception as error:
        if type(error).__name__ == "NotFittedError":
            raise CheckFailed(f"`{name}` is not fitted: call `.fit(X_train, y_train)`.") from error
        raise CheckFailed(
            f"`{name}` cannot answer for the features ({type(error).__name__}). Was it fitted with "
            "`X_train` and `y_train`?"
        ) from error


def _fitted_on(look: Inspection) -> None:
    for call in look.calls("fit"):
        given = [each.id for each in call.args if isinstance(each, ast.Name)]
        if "X" in given or "y" in given:
            raise CheckFailed(
                f"It was fitted with {listed(given)}, so it has seen the test part. Fit with "
                "`X_train` and `y_train`."
            )
        if "X_test" in given or "y_test" in given:
            raise CheckFailed(
                "It was fitted with the test part. That is for judging only: `X_train`."
            )


def evaluating(look: Inspection) -> str:
    """Lesson 4."""
    X_train, X_test = look.earlier("X_train", 2), look.earlier("X_test", 2)
    y_train, y_test = look.earlier("y_train", 2), look.earlier("y_test", 2)
    by_baseline = _answered(look, "baseline", X_test)
    by_model = _answered(look, "model", X_test)
    plain = _accuracy(by_baseline, y_test)
    right = _accuracy(by_model, y_test)

    def trained(name: str) -> Callable[[], float]:
        return lambda: _accuracy(_answered(look, name, X_train), y_train)

    _share(look, "accuracy", right, plain, len(y_test), trained("model"))
    _share(look, "baseline_accuracy", plain, right, len(y_test), trained("baseline"))
    _confusion(look, list(y_test), by_model)
    return (
        f"Right. The model is right for {right:.0%} of unseen penguins, the baseline for "
        f"{plain:.0%}."
    )


def _accuracy(answers: list[Any], truth: Any) -> float:
    return float(sum(a == b for a, b in zip(answers, truth)) / len(answers))  # noqa: B905


def _share(
    look: Inspection,
    name: str,
    wanted: float,
    other: float,
    count: int,
    on_training: Callable[[], float],
) -> None:
    found = look.number(name)
    if close(found, wanted, 0.002) or found in (round(wanted, 2), round(wanted, 1)):
        return
    if close(found, on_training(), 0.002):
        raise CheckFailed(
            f"`{name}` is that of the training part, which it has seen: use `X_test` and `y_test`."
        )
    if close(found, other, 0.002):
        raise CheckFailed(f"`{name}` is {found:.3f}: baseline and model are exchanged.")
    if close(found, wanted * 100, 0.002) or close(found, wanted * count, 0.002):
        raise CheckFailed(f"`{name}` is {found:.6g}. Accuracy is a share, between 0 and 1.")
    if close(found, 1 - wanted, 0.002):
        raise CheckFailed(f"`{name}` is {found:.3f}: this is the share of wrong answers.")
    raise CheckFailed(f"`{name}` is {found:.3f}; use .score(X_test, y_test).")


def _confusion(look: Inspection, truth: list[Any], answers: list[Any]) -> None:
    found = look.value("confusion")
    labels = sorted(set(truth) | set(answers))
    right = [
        [sum(1 for t, a in zip(truth, answers) if (t, a) == (row, column)) for column in labels]  # noqa: B905
        for row in labels
    ]
    if not hasattr(found, "shape"):
        raise CheckFailed(
            f"`confusion` should be the matrix; it is {kind_of(found)}. Use "
            "`confusion_matrix(y_test, ...)`."
        )
    numbers = [[float(each) for each in row] for row in getattr(found, "values", found)]
    if numbers == right:
        return
    if numbers == [list(column) for column in zip(*right)]:  # noqa: B905
        raise CheckFailed(
            "`confusion` has rows and columns exchanged: the truth comes first, "
            "`confusion_matrix(y_test, predicted)`."
        )
    total = sum(sum(row) for row in numbers)
    if total > len(truth):
        raise CheckFailed(
            f"`confusion` counts {total:.6g} penguins; the test part has {len(truth)}."
        )
    if any(sum(column) == total for column in zip(*numbers)):  # noqa: B905
        raise CheckFailed("`confusion` is that of the baseline: all answers are the same species.")
    raise CheckFailed("`confusion` does not count the model's answers for the test part.")


def predicting(look: Inspection) -> str:
    """Lesson 5."""
    penguin = look.value("new_penguin")
    answer = str(_answered(look, "model", penguin)[0])
    by_baseline = str(_answered(look, "baseline", penguin)[0])
    found = look.value("predicted")
    if getattr(found, "ndim", 0) == 2:
        raise CheckFailed("`predicted` holds probabilities. The species comes from .predict.")
    several = hasattr(found, "__len__") and not isinstance(found, str)
    predicted = next(iter(found)) if several else found
    if str(predicted) != answer and str(predicted) == by_baseline:
        raise CheckFailed(
            f"`predicted` is {predicted}: that is what the baseline says. Ask `model`."
        )
    if str(predicted) != answer:
        raise CheckFailed(
            f"`predicted` is {predicted}; the model says another species. Ask model.predict."
        )
    chances = [float(each) for each in look.earlier("model", 3).predict_proba(penguin)[0]]
    given = look.value("probability")
    if getattr(given, "size", 1) > 1 or isinstance(given, (list, tuple)):
        raise CheckFailed(
            "`probability` holds those of all species. Take the one of the answer, the largest: "
            ".max()."
        )
    chance = look.number("probability")
    if close(chance, max(chances), 0.006):
        return f"Right. The model is {max(chances):.0%} sure that it is a {answer}."
    if close(chance, 100 * max(chances), 0.006):
        raise CheckFailed("`probability` is in percent. Leave it between 0 and 1.")
    if any(close(chance, each, 0.002) for each in chances):
        raise CheckFailed(
            f"`probability` is that of another species. Those of {listed(['model.classes_'])} "
            "are in this order; the answer's is the largest."
        )
    raise CheckFailed(
        f"`probability` is {chance:.3g}; take it from model.predict_proba(new_penguin)."
    )
