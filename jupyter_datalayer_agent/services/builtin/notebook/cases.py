"""Benchmark cases of ``/notebook``."""

from __future__ import annotations

from ...benchmarks import Case, Expect

_FILES = ("cars.ipynb", "intro.ipynb", "reports/may.ipynb", "train.py", "cars.csv")


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
    expect = Expect("notebook", subcommand, parameters, missing)
    return Case(case_id, message, expect, kind=kind, files=_FILES, history=history)


def _ordinary(case_id: str, message: str) -> Case:
    return Case(case_id, message, Expect(), kind="refused", files=_FILES)


CASES = [
    _case("export-html", "routing", "Export this notebook as HTML", "export", format="html"),
    _case("export-web-page", "routing", "Could you export my notebook to a web page?", "export"),
    _case(
        "export-named",
        "parameters",
        "Export cars.ipynb to HTML as reports/cars.html",
        "export",
        notebook="cars.ipynb",
        format="html",
        target="reports/cars.html",
    ),
    _case(
        "export-open",
        "open",
        "/notebook export it",
        "export",
        missing=("format", "target"),
        notebook="cars.ipynb",
    ),
    _case(
        "export-other",
        "parameters",
        "/notebook export reports/may.ipynb as Markdown",
        "export",
        notebook="reports/may.ipynb",
        format="markdown",
    ),
    _case(
        "export-not-html",
        "open",
        "/notebook export this, but not as HTML",
        "export",
        missing=("format",),
    ),
    _case(
        "export-refined",
        "history",
        "no, as Markdown",
        "export",
        (),
        ("Export this notebook as HTML",),
        format="markdown",
    ),
    _case("clear-outputs", "parameters", "Clear all outputs", "clean", what=["outputs"]),
    _case("clean", "open", "Clean up this notebook", "clean", missing=("what",)),
    _case(
        "clean-some",
        "parameters",
        "/notebook remove the empty cells and the execution counts",
        "clean",
        what=["empty-cells", "execution-counts"],
    ),
    _case(
        "split-level", "parameters", "Split this notebook at headings of level 2", "split", level=2
    ),
    _case("split-cell", "parameters", "/notebook split at cell 7", "split", cell=7),
    _case("split-open", "open", "Split this notebook", "split", missing=("level", "cell")),
    _case(
        "merge",
        "parameters",
        "Merge intro.ipynb and cars.ipynb into all.ipynb",
        "merge",
        notebooks=["intro.ipynb", "cars.ipynb"],
        target="all.ipynb",
    ),
    _case("merge-open", "open", "Combine the notebooks", "merge", missing=("notebooks", "target")),
    _case("to-script", "routing", "Convert this notebook to a percent script", "to-script"),
    _case(
        "from-script",
        "parameters",
        "/notebook make a notebook of train.py",
        "from-script",
        script="train.py",
        missing=("target",),
    ),
    _case("quality", "routing", "Check the quality of this notebook", "quality"),
    _case("learn", "routing", "/notebook how do I make slides?", "learn"),
    _case("brainstorm", "routing", "/notebook ideas for sharing my results?", "brainstorm"),
    _case("misspelt", "misspelt", "/notebook exprot as html", "export", format="html"),
    _case(
        "misspelt-no-command", "misspelt", "export this notbook as HTML", "export", format="html"
    ),
    _case("german", "language", "Exportiere dieses Notebook als HTML", "export", format="html"),
    _case("french", "language", "Exporte ce notebook en HTML", "export", format="html"),
    _case("spanish", "language", "/notebook exporta este cuaderno a HTML", "export", format="html"),
    _case("two", "two", "Export this notebook as HTML and install pandas", "export", format="html"),
    _ordinary("clean-data", "Clean the data in this notebook"),
    _ordinary("merge-frames", "Merge the two data frames by id"),
    _ordinary("split-train", "Split it into training and test sets"),
    _ordinary("delete-cell", "Delete the empty cell at the end"),
    _ordinary("write-csv", "Export the table to CSV"),
    _ordinary("quality-data", "Check the quality of the measurements"),
]
