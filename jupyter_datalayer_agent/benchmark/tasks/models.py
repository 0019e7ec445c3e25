"""Tasks about correlations and models, whose splits are fixed."""

from __future__ import annotations

from .checks import says, says_words, value_is
from .data import read
from .task import Done, Task


def _strongest(done: Done) -> str | None:
    r = read("diabetes.csv").corr()["target"].drop("target")
    best = r.abs().idxmax()
    return (
        value_is(done, "str(best)", best)
        or value_is(done, "float(r)", r[best])
        or says_words(done, best)
    )


def _anscombe(done: Done) -> str | None:
    groups = read("anscombe.csv").groupby("Series")
    r = {name: each["X"].corr(each["Y"]) for name, each in groups}
    return value_is(done, "dict(r)", r) or says(done, r["I"], 2)


def _wine(done: Done) -> str | None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    wine = read("wine.csv")
    train, test, to_train, to_test = train_test_split(
        wine.drop(columns="target"), wine["target"],
        test_size=0.3, random_state=7, stratify=wine["target"],
    )  # fmt: skip
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    accuracy = float(model.fit(train, to_train).score(test, to_test))
    return value_is(done, "float(accuracy)", accuracy) or value_is(
        done, "len(y_test)", len(to_test)
    )


def _diabetes(done: Done) -> str | None:
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import train_test_split

    rows = read("diabetes.csv")
    train, test, to_train, to_test = train_test_split(
        rows.drop(columns="target"), rows["target"], test_size=0.25, random_state=42
    )
    r2 = float(LinearRegression().fit(train, to_train).score(test, to_test))
    return value_is(done, "float(r2)", r2) or says(done, r2, 3)


def _neighbours(done: Done) -> str | None:
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    iris = read("iris.csv")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(
        KNeighborsClassifier(5), iris.drop(columns="species"), iris["species"], cv=folds
    )
    return value_is(done, "float(cv)", float(scores.mean())) or says(done, scores.mean(), 3)


TASKS = [
    Task(
        "correlation-strongest",
        "correlation",
        "Which column of diabetes.csv has the strongest linear correlation with target, by its "
        "absolute value? Keep its name as best and the coefficient as r.",
        _strongest,
        ["diabetes.csv"],
    ),
    Task(
        "correlation-groups",
        "correlation",
        "Compute the Pearson correlation of X and Y in anscombe.csv for each Series, as a dict r. "
        "What is it in Series I, with two decimals?",
        _anscombe,
        ["anscombe.csv"],
    ),
    Task(
        "model-classes",
        "model",
        "Classify target in wine.csv with a logistic regression (max_iter=1000) after a "
        "StandardScaler, both in one pipeline. Use train_test_split with test_size=0.3, "
        "random_state=7 and stratify by the target; call the test part of the target y_test. Keep "
        "the accuracy on the test part as accuracy.",
        _wine,
        ["wine.csv"],
    ),
    Task(
        "model-regression",
        "model",
        "Fit a LinearRegression of target on all other columns of diabetes.csv, with "
        "train_test_split(test_size=0.25, random_state=42). Keep R² on the test part as r2, and "
        "tell me it with three decimals.",
        _diabetes,
        ["diabetes.csv"],
    ),
    Task(
        "model-folds",
        "model",
        "How accurate is a KNeighborsClassifier with 5 neighbours for species in iris.csv? Use "
        "StratifiedKFold(5, shuffle=True, random_state=0); keep the mean accuracy as cv, and tell "
        "me it with three decimals.",
        _neighbours,
        ["iris.csv"],
    ),
]
