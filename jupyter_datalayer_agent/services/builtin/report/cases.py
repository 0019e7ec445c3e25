"""Benchmark cases of ``/report``."""

from __future__ import annotations

from ...benchmarks import Case, Expect

_TWO = ("cars.ipynb", "cars.csv", "houses.csv")

CASES = [
    Case(
        "report-named",
        "/report write a report of cars.csv",
        Expect("report", "write", {"data": "cars.csv"}, missing=[]),
        kind="parameters",
        files=_TWO,
    ),
    Case(
        "report-only-file",
        "/report write a report of the data",
        Expect("report", "write", {"data": "cars.csv"}, missing=["target"]),
        kind="parameters",
    ),
    Case(
        "report-open",
        "/report write a report of the data",
        Expect("report", "write", {}, missing=["data"]),
        kind="open",
        files=_TWO,
    ),
    Case(
        "report-gone",
        "/report write a report of trains.csv",
        Expect("report", "write", {}, missing=["data"]),
        kind="open",
    ),
    Case(
        "report-notebook",
        "/report write a report of cars.csv into may.ipynb",
        Expect("report", "write", {"data": "cars.csv", "notebook": "may.ipynb"}, missing=[]),
        kind="parameters",
        files=_TWO,
    ),
    Case(
        "report-misspelt",
        "/report wriet a reprot of cars.csv",
        Expect("report", "write", {"data": "cars.csv"}, missing=[]),
        kind="misspelt",
        files=_TWO,
    ),
    Case(
        "report-german",
        "/report schreibe einen Bericht zu cars.csv",
        Expect("report", "write", {"data": "cars.csv"}, missing=[]),
        kind="language",
        files=_TWO,
    ),
    Case(
        "report-french",
        "/report ecris un rapport de cars.csv",
        Expect("report", "write", {"data": "cars.csv"}, missing=[]),
        kind="language",
        files=_TWO,
    ),
    Case(
        "report-two",
        "/report write a report of houses.csv and export the notebook as HTML",
        Expect("report", "write", {"data": "houses.csv"}, missing=[]),
        kind="two",
        files=_TWO,
    ),
    Case("report-learn-1", "/report what belongs into a report?", Expect("report", "learn")),
    Case("report-learn-2", "/report how can a report be run again?", Expect("report", "learn")),
    Case("report-ideas-1", "/report ideas for a better report", Expect("report", "brainstorm")),
    Case("report-not-1", "Summarise this notebook", Expect(), kind="refused"),
    Case("report-not-2", "Write a conclusion below the plot", Expect(), kind="refused"),
    Case("report-not-3", "What does this report say?", Expect(), kind="refused"),
    Case(
        "report-history",
        "houses.csv, please",
        Expect("report", "write", {"data": "houses.csv"}),
        kind="history",
        files=_TWO,
        history=("/report cars.csv",),
    ),
]
