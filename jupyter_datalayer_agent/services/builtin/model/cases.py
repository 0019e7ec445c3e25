"""Benchmark cases of ``/model``."""

from __future__ import annotations

from ...benchmarks import Case, Expect

_TWO = ("cars.ipynb", "cars.csv", "houses.csv")

CASES = [
    Case(
        "model-named",
        "/model train a model on cars.csv",
        Expect("model", "train", {"data": "cars.csv"}, missing=[]),
        kind="parameters",
        files=_TWO,
    ),
    Case(
        "model-only-file",
        "/model train a model on the data",
        Expect("model", "train", {"data": "cars.csv"}, missing=["target"]),
        kind="parameters",
    ),
    Case(
        "model-open",
        "/model train a model on the data",
        Expect("model", "train", {}, missing=["data"]),
        kind="open",
        files=_TWO,
    ),
    Case(
        "model-gone",
        "/model train a model on trains.csv",
        Expect("model", "train", {}, missing=["data"]),
        kind="open",
    ),
    Case(
        "model-notebook",
        "/model train a model on cars.csv into may.ipynb",
        Expect("model", "train", {"data": "cars.csv", "notebook": "may.ipynb"}, missing=[]),
        kind="parameters",
        files=_TWO,
    ),
    Case(
        "model-misspelt",
        "/model trian a modle on cars.csv",
        Expect("model", "train", {"data": "cars.csv"}, missing=[]),
        kind="misspelt",
        files=_TWO,
    ),
    Case(
        "model-german",
        "/model trainiere ein Modell mit cars.csv",
        Expect("model", "train", {"data": "cars.csv"}, missing=[]),
        kind="language",
        files=_TWO,
    ),
    Case(
        "model-french",
        "/model entraine un modele avec cars.csv",
        Expect("model", "train", {"data": "cars.csv"}, missing=[]),
        kind="language",
        files=_TWO,
    ),
    Case(
        "model-two",
        "/model train a model on houses.csv and export the notebook as HTML",
        Expect("model", "train", {"data": "houses.csv"}, missing=[]),
        kind="two",
        files=_TWO,
    ),
    Case(
        "model-target",
        "/model predict mpg from weight in cars.csv",
        Expect("model", "train", {"data": "cars.csv", "target": "mpg"}, missing=[]),
        kind="parameters",
        files=_TWO,
    ),
    Case(
        "model-task",
        "/model regression for mpg in cars.csv",
        Expect("model", "train", {"task": "regression", "target": "mpg"}, missing=[]),
        kind="parameters",
        files=_TWO,
    ),
    Case("model-learn-1", "/model when does accuracy mislead?", Expect("model", "learn")),
    Case("model-learn-2", "/model what is a leak?", Expect("model", "learn")),
    Case(
        "model-ideas-1",
        "/model which measure is best for rare classes?",
        Expect("model", "brainstorm"),
    ),
    Case("model-not-1", "Train a random forest on df", Expect(), kind="refused"),
    Case("model-not-2", "Plot the confusion matrix", Expect(), kind="refused"),
    Case("model-not-3", "What does the model do?", Expect(), kind="refused"),
    Case(
        "model-history",
        "houses.csv, please",
        Expect("model", "train", {"data": "houses.csv"}),
        kind="history",
        files=_TWO,
        history=("/model cars.csv",),
    ),
]
