"""Benchmark cases of ``/environment``."""

from __future__ import annotations

from ...benchmarks import Case, Expect

_FILES = ("cars.ipynb", "requirements.txt", "notes.txt", "cars.csv")


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
    expect = Expect("environment", subcommand, parameters, missing)
    return Case(case_id, message, expect, kind=kind, files=_FILES, history=history)


def _ordinary(case_id: str, message: str) -> Case:
    return Case(case_id, message, Expect(), kind="refused", files=_FILES)


CASES = [
    _case("install", "parameters", "Install seaborn", "install", packages=["seaborn"]),
    _case(
        "install-two",
        "parameters",
        "Please install polars and scikit-learn",
        "install",
        packages=["polars", "scikit-learn"],
    ),
    _case("pip", "parameters", "pip install statsmodels", "install", packages=["statsmodels"]),
    _case(
        "install-version",
        "parameters",
        "/environment install pandas>=2,<3 and numpy==1.26",
        "install",
        packages=["pandas>=2,<3", "numpy==1.26"],
    ),
    _case("install-open", "open", "/environment install something", "install"),
    _case("install-what", "open", "/environment install", "install", missing=("packages",)),
    _case("uninstall", "parameters", "Uninstall tensorflow", "remove", packages=["tensorflow"]),
    _case(
        "remove-package",
        "parameters",
        "Remove the package seaborn from the environment",
        "remove",
        packages=["seaborn"],
    ),
    _case(
        "outdated", "parameters", "/environment list what is out of date", "list", show="outdated"
    ),
    _case("outdated-show", "routing", "Show the outdated packages", "list"),
    _case("list", "open", "List the installed packages", "list", missing=("show",)),
    _case("conflicts", "parameters", "/environment check for conflicts", "list", show="conflicts"),
    _case("freeze", "routing", "Write a requirements file", "write-requirements"),
    _case(
        "freeze-named",
        "parameters",
        "Freeze the environment to requirements-may.txt",
        "write-requirements",
        target="requirements-may.txt",
    ),
    _case(
        "check",
        "parameters",
        "Check requirements.txt against the environment",
        "check-requirements",
        file="requirements.txt",
    ),
    _case(
        "new-kernel",
        "parameters",
        'Make a new kernel called "forecasts"',
        "new-kernel",
        name="forecasts",
        missing=("packages",),
    ),
    _case(
        "new-kernel-with",
        "parameters",
        "/environment new kernel called forecasts with prophet",
        "new-kernel",
        name="forecasts",
        packages=["prophet"],
    ),
    _case(
        "change", "parameters", "/environment switch to the R kernel", "change-kernel", kernel="ir"
    ),
    _case("change-open", "open", "Change the kernel of it", "change-kernel", missing=("kernel",)),
    _case("learn", "routing", "/environment what is a requirements file for?", "learn"),
    _case(
        "brainstorm",
        "routing",
        "/environment should I make a kernel for each project?",
        "brainstorm",
    ),
    _case("misspelt", "misspelt", "/environment instal seaborn", "install"),
    _case("misspelt-package", "misspelt", "install the pakage polars", "install"),
    _case("german", "language", "Installiere seaborn", "install", packages=["seaborn"]),
    _case("french", "language", "/environment installer seaborn", "install", packages=["seaborn"]),
    _case("spanish", "language", "Instala el paquete polars", "install", packages=["polars"]),
    _case("two", "two", "Install jupytext and export the notebook as HTML", "install"),
    _case(
        "refined",
        "history",
        "no, install polars",
        "install",
        (),
        ("Install seaborn",),
        packages=["polars"],
    ),
    _ordinary("remove-rows", "Remove the rows without a price"),
    _ordinary("add-column", "Add a column with the price per unit"),
    _ordinary("restart", "Restart the kernel and run all cells"),
    _ordinary("import", "Import pandas as pd"),
    _ordinary("module-error", "ModuleNotFoundError: No module named 'seaborn'"),
    _ordinary("update-plot", "Update the plot with the new prices"),
]
