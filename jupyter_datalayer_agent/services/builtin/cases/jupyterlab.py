"""Benchmark cases of ``/jupyterlab``."""

from __future__ import annotations

from ...benchmarks import CasesOf

_OF = CasesOf("jupyterlab", ("cars.ipynb", "README.md", "cars.csv"))

CASES = [
    _OF.case(
        "dark",
        "parameters",
        "Switch JupyterLab to the dark theme",
        "theme",
        theme="JupyterLab Dark",
    ),
    _OF.case("theme-open", "open", "/jupyterlab change the theme", "theme", missing=("theme",)),
    _OF.case("left", "parameters", "Hide the left sidebar", "layout", what="left"),
    _OF.case("single", "parameters", "/jupyterlab single-document mode", "layout", what="single"),
    _OF.case("layout-open", "open", "/jupyterlab change the layout", "layout", missing=("what",)),
    _OF.case("open", "parameters", "/jupyterlab open README.md", "open", path="README.md"),
    _OF.case("open-open", "open", "/jupyterlab open the file", "open", missing=("path",)),
    _OF.case("find", "parameters", '/jupyterlab find "mpg"', "find", text="mpg"),
    _OF.case("settings", "open", "Open the settings", "settings", missing=("query",)),
    _OF.case(
        "zoom", "parameters", "/jupyterlab larger code", "zoom", what="code", direction="larger"
    ),
    _OF.case(
        "zoom-open", "open", "/jupyterlab change the font size", "zoom", missing=("direction",)
    ),
    _OF.case("restart", "routing", "/jupyterlab restart and run everything", "restart-run-all"),
    _OF.case("learn", "routing", "/jupyterlab how do I change a keyboard shortcut?", "learn"),
    _OF.case("misspelt", "misspelt", "/jupyterlab dark teme", "theme", theme="JupyterLab Dark"),
    _OF.case(
        "german", "language", "/jupyterlab Theme dark, bitte", "theme", theme="JupyterLab Dark"
    ),
    _OF.case("two", "two", "Hide the left sidebar and export the notebook as HTML", "layout"),
    _OF.case(
        "refined",
        "history",
        "no, the light one",
        "theme",
        (),
        ("Switch JupyterLab to the dark theme",),
        theme="JupyterLab Light",
    ),
    _OF.case("run-all", "routing", "/jupyterlab run all", "run-all"),
    _OF.case("run-selected", "routing", "/jupyterlab run the selected cells", "run-selected"),
    _OF.case("interrupt", "routing", "/jupyterlab interrupt the kernel", "interrupt"),
    _OF.case("interrupt-german", "language", "/jupyterlab Kernel unterbrechen", "interrupt"),
    _OF.ordinary("run-cells", "Run all cells"),
    _OF.ordinary("run-it", "Run everything again"),
    _OF.ordinary("rerun", "Restart the kernel and run all"),
    _OF.ordinary("selected", "Run the selected cells"),
    _OF.ordinary("plot-theme", "Use a dark theme for the plot"),
    _OF.ordinary("font", "Make the labels of the axes larger"),
    _OF.ordinary("find-rows", "Find the rows with missing values"),
    _OF.ordinary("close", "Delete the file cars.csv"),
]
