"""Benchmark cases of ``/visualize``."""

from __future__ import annotations

from ...benchmarks import Case, Expect

_TWO = ("cars.ipynb", "cars.csv", "houses.csv")

CASES = [
    Case(
        "visualize-named",
        "/visualize draw charts of cars.csv",
        Expect("visualize", "charts", {"data": "cars.csv"}, missing=[]),
        kind="parameters",
        files=_TWO,
    ),
    Case(
        "visualize-only-file",
        "/visualize draw charts of the data",
        Expect("visualize", "charts", {"data": "cars.csv"}, missing=["target"]),
        kind="parameters",
    ),
    Case(
        "visualize-open",
        "/visualize draw charts of the data",
        Expect("visualize", "charts", {}, missing=["data"]),
        kind="open",
        files=_TWO,
    ),
    Case(
        "visualize-gone",
        "/visualize draw charts of trains.csv",
        Expect("visualize", "charts", {}, missing=["data"]),
        kind="open",
    ),
    Case(
        "visualize-notebook",
        "/visualize draw charts of cars.csv into may.ipynb",
        Expect("visualize", "charts", {"data": "cars.csv", "notebook": "may.ipynb"}, missing=[]),
        kind="parameters",
        files=_TWO,
    ),
    Case(
        "visualize-misspelt",
        "/visualize darw chrats of cars.csv",
        Expect("visualize", "charts", {"data": "cars.csv"}, missing=[]),
        kind="misspelt",
        files=_TWO,
    ),
    Case(
        "visualize-german",
        "/visualize zeichne Diagramme von cars.csv",
        Expect("visualize", "charts", {"data": "cars.csv"}, missing=[]),
        kind="language",
        files=_TWO,
    ),
    Case(
        "visualize-french",
        "/visualize dessine des graphiques de cars.csv",
        Expect("visualize", "charts", {"data": "cars.csv"}, missing=[]),
        kind="language",
        files=_TWO,
    ),
    Case(
        "visualize-two",
        "/visualize draw charts of houses.csv and export the notebook as HTML",
        Expect("visualize", "charts", {"data": "houses.csv"}, missing=[]),
        kind="two",
        files=_TWO,
    ),
    Case("visualize-learn-1", "/visualize how are groups compared?", Expect("visualize", "learn")),
    Case("visualize-learn-2", "/visualize what is drawn?", Expect("visualize", "learn")),
    Case(
        "visualize-ideas-1",
        "/visualize which chart should I use for two numbers?",
        Expect("visualize", "brainstorm"),
    ),
    Case("visualize-not-1", "Plot mpg against weight", Expect(), kind="refused"),
    Case("visualize-not-2", "Draw a histogram of mpg", Expect(), kind="refused"),
    Case("visualize-not-3", "Make the legend bigger", Expect(), kind="refused"),
    Case(
        "visualize-history",
        "houses.csv, please",
        Expect("visualize", "charts", {"data": "houses.csv"}),
        kind="history",
        files=_TWO,
        history=("/visualize cars.csv",),
    ),
]
