"""Benchmark cases of ``/jupyterlab``."""

from __future__ import annotations

from ...benchmarks import Case, Expect

_FILES = ("cars.ipynb", "README.md", "cars.csv")


def _case(
    case_id: str,
    kind: str,
    message: str,
    subcommand: str,
    /,
    missing: tuple[str, ...] = (),
    history: tuple[str, ...] = (),
    **parameters: object,
) -> Case:
    expect = Expect("jupyterlab", subcommand, parameters, missing)
    return Case(case_id, message, expect, kind=kind, files=_FILES, history=history)


def _ordinary(case_id: str, message: str) -> Case:
    return Case(case_id, message, Expect(), kind="refused", files=_FILES)


CASES = [
    _case(
        "dark",
        "parameters",
        "Switch JupyterLab to the dark theme",
        "theme",
        theme="JupyterLab Dark",
    ),
    _case("theme-open", "open", "/jupyterlab change the theme", "theme", missing=("theme",)),
    _case("left", "parameters", "Hide the left sidebar", "layout", what="left"),
    _case("single", "parameters", "/jupyterlab single-document mode", "layout", what="single"),
    _case("layout-open", "open", "/jupyterlab change the layout", "layout", missing=("what",)),
    _case("open", "parameters", "/jupyterlab open README.md", "open", path="README.md"),
    _case("open-open", "open", "/jupyterlab open the file", "open", missing=("path",)),
    _case("find", "parameters", '/jupyterlab find "mpg"', "find", text="mpg"),
    _case("settings", "open", "Open the settings", "settings", missing=("query",)),
    _case("zoom", "parameters", "/jupyterlab larger code", "zoom", what="code", direction="larger"),
    _case("zoom-open", "open", "/jupyterlab change the font size", "zoom", missing=("direction",)),
    _case("restart", "routing", "/jupyterlab restart and run everything", "restart-run-all"),
    _case("learn", "routing", "/jupyterlab how do I change a keyboard shortcut?", "learn"),
    _case("misspelt", "misspelt", "/jupyterlab dark teme", "theme", theme="JupyterLab Dark"),
    _case("german", "language", "/jupyterlab Theme dark, bitte", "theme", theme="JupyterLab Dark"),
    _case("two", "two", "Hide the left sidebar and export the notebook as HTML", "layout"),
    _case(
        "refined",
        "history",
        "no, the light one",
        "theme",
        (),
        ("Switch JupyterLab to the dark theme",),
        theme="JupyterLab Light",
    ),
    _ordinary("plot-theme", "Use a dark theme for the plot"),
    _ordinary("font", "Make the labels of the axes larger"),
    _ordinary("find-rows", "Find the rows with missing values"),
    _ordinary("close", "Delete the file cars.csv"),
]
