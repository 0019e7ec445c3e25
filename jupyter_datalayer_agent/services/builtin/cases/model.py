"""Benchmark cases of ``/model``."""

from __future__ import annotations

from ...benchmarks import CasesOf
from .workflow import of_workflow

_OF = CasesOf("model", ("cars.ipynb", "cars.csv", "houses.csv"))

CASES = [
    *of_workflow(
        "model",
        "train",
        "train a model on",
        misspelt="trian a modle on",
        german="trainiere ein Modell mit",
        french="entraine un modele avec",
        learn=["when does accuracy mislead?", "what is a leak?"],
        ideas="which measure is best for rare classes?",
        ordinary=[
            "Train a random forest on df",
            "Plot the confusion matrix",
            "What does the model do?",
        ],
    ),
    _OF.case(
        "model-target",
        "parameters",
        "/model predict mpg from weight in cars.csv",
        "train",
        data="cars.csv",
        target="mpg",
    ),
    _OF.case(
        "model-task",
        "parameters",
        "/model regression for mpg in cars.csv",
        "train",
        task="regression",
        target="mpg",
    ),
]
