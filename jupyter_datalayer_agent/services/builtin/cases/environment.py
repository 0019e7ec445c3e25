"""Benchmark cases of ``/environment``."""

from __future__ import annotations

from ...benchmarks import CasesOf

_OF = CasesOf("environment", ("cars.ipynb", "requirements.txt", "notes.txt", "cars.csv"))

CASES = [
    _OF.case("install", "parameters", "Install seaborn", "install", packages=["seaborn"]),
    _OF.case(
        "install-two",
        "parameters",
        "Please install polars and scikit-learn",
        "install",
        packages=["polars", "scikit-learn"],
    ),
    _OF.case("pip", "parameters", "pip install statsmodels", "install", packages=["statsmodels"]),
    _OF.case(
        "install-version",
        "parameters",
        "/environment install pandas>=2,<3 and numpy==1.26",
        "install",
        packages=["pandas>=2,<3", "numpy==1.26"],
    ),
    _OF.case("install-open", "open", "/environment install something", "install"),
    _OF.case("install-what", "open", "/environment install", "install", missing=("packages",)),
    _OF.case("uninstall", "parameters", "Uninstall tensorflow", "remove", packages=["tensorflow"]),
    _OF.case(
        "remove-package",
        "parameters",
        "Remove the package seaborn from the environment",
        "remove",
        packages=["seaborn"],
    ),
    _OF.case(
        "outdated", "parameters", "/environment list what is out of date", "list", show="outdated"
    ),
    _OF.case("outdated-show", "routing", "Show the outdated packages", "list"),
    _OF.case("list", "open", "List the installed packages", "list", missing=("show",)),
    _OF.case(
        "conflicts", "parameters", "/environment check for conflicts", "list", show="conflicts"
    ),
    _OF.case("freeze", "routing", "Write a requirements file", "write-requirements"),
    _OF.case(
        "freeze-named",
        "parameters",
        "Freeze the environment to requirements-may.txt",
        "write-requirements",
        target="requirements-may.txt",
    ),
    _OF.case(
        "check",
        "parameters",
        "Check requirements.txt against the environment",
        "check-requirements",
        file="requirements.txt",
    ),
    _OF.case(
        "new-kernel",
        "parameters",
        'Make a new kernel called "forecasts"',
        "new-kernel",
        name="forecasts",
        missing=("packages",),
    ),
    _OF.case(
        "new-kernel-with",
        "parameters",
        "/environment new kernel called forecasts with prophet",
        "new-kernel",
        name="forecasts",
        packages=["prophet"],
    ),
    _OF.case(
        "change", "parameters", "/environment switch to the R kernel", "change-kernel", kernel="ir"
    ),
    _OF.case(
        "change-open", "open", "Change the kernel of it", "change-kernel", missing=("kernel",)
    ),
    _OF.case("learn", "routing", "/environment what is a requirements file for?", "learn"),
    _OF.case(
        "brainstorm",
        "routing",
        "/environment should I make a kernel for each project?",
        "brainstorm",
    ),
    _OF.case("misspelt", "misspelt", "/environment instal seaborn", "install"),
    _OF.case("misspelt-package", "misspelt", "install the pakage polars", "install"),
    _OF.case("german", "language", "Installiere seaborn", "install", packages=["seaborn"]),
    _OF.case(
        "french", "language", "/environment installer seaborn", "install", packages=["seaborn"]
    ),
    _OF.case("spanish", "language", "Instala el paquete polars", "install", packages=["polars"]),
    _OF.case("two", "two", "Install jupytext and export the notebook as HTML", "install"),
    _OF.case(
        "refined",
        "history",
        "no, install polars",
        "install",
        (),
        ("Install seaborn",),
        packages=["polars"],
    ),
    _OF.ordinary("remove-rows", "Remove the rows without a price"),
    _OF.ordinary("add-column", "Add a column with the price per unit"),
    _OF.ordinary("restart", "Restart the kernel and run all cells"),
    _OF.ordinary("import", "Import pandas as pd"),
    _OF.ordinary("module-error", "ModuleNotFoundError: No module named 'seaborn'"),
    _OF.ordinary("update-plot", "Update the plot with the new prices"),
]
