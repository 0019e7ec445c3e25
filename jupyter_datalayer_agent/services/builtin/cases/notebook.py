"""Benchmark cases of ``/notebook``."""

from __future__ import annotations

from ...benchmarks import CasesOf

_OF = CasesOf(
    "notebook", ("cars.ipynb", "intro.ipynb", "reports/may.ipynb", "train.py", "cars.csv")
)

CASES = [
    _OF.case("export-html", "routing", "Export this notebook as HTML", "export", format="html"),
    _OF.case("export-web-page", "routing", "Could you export my notebook to a web page?", "export"),
    _OF.case(
        "export-named",
        "parameters",
        "Export cars.ipynb to HTML as reports/cars.html",
        "export",
        notebook="cars.ipynb",
        format="html",
        target="reports/cars.html",
    ),
    _OF.case(
        "export-open",
        "open",
        "/notebook export it",
        "export",
        missing=("format", "target"),
        notebook="cars.ipynb",
    ),
    _OF.case(
        "export-other",
        "parameters",
        "/notebook export reports/may.ipynb as Markdown",
        "export",
        notebook="reports/may.ipynb",
        format="markdown",
    ),
    _OF.case(
        "export-not-html",
        "open",
        "/notebook export this, but not as HTML",
        "export",
        missing=("format",),
    ),
    _OF.case(
        "export-refined",
        "history",
        "no, as Markdown",
        "export",
        (),
        ("Export this notebook as HTML",),
        format="markdown",
    ),
    _OF.case("clear-outputs", "parameters", "Clear all outputs", "clean", what=["outputs"]),
    _OF.case("clean", "open", "Clean up this notebook", "clean", missing=("what",)),
    _OF.case(
        "clean-some",
        "parameters",
        "/notebook remove the empty cells and the execution counts",
        "clean",
        what=["empty-cells", "execution-counts"],
    ),
    _OF.case(
        "split-level", "parameters", "Split this notebook at headings of level 2", "split", level=2
    ),
    _OF.case("split-cell", "parameters", "/notebook split at cell 7", "split", cell=7),
    _OF.case("split-open", "open", "Split this notebook", "split", missing=("level", "cell")),
    _OF.case(
        "merge",
        "parameters",
        "Merge intro.ipynb and cars.ipynb into all.ipynb",
        "merge",
        notebooks=["intro.ipynb", "cars.ipynb"],
        target="all.ipynb",
    ),
    _OF.case(
        "merge-open", "open", "Combine the notebooks", "merge", missing=("notebooks", "target")
    ),
    _OF.case("to-script", "routing", "Convert this notebook to a percent script", "to-script"),
    _OF.case(
        "from-script",
        "parameters",
        "/notebook make a notebook of train.py",
        "from-script",
        script="train.py",
        missing=("target",),
    ),
    _OF.case("quality", "routing", "Check the quality of this notebook", "quality"),
    _OF.case("learn", "routing", "/notebook how do I make slides?", "learn"),
    _OF.case("brainstorm", "routing", "/notebook ideas for sharing my results?", "brainstorm"),
    _OF.case("misspelt", "misspelt", "/notebook exprot as html", "export", format="html"),
    _OF.case(
        "misspelt-no-command", "misspelt", "export this notbook as HTML", "export", format="html"
    ),
    _OF.case("german", "language", "Exportiere dieses Notebook als HTML", "export", format="html"),
    _OF.case("french", "language", "Exporte ce notebook en HTML", "export", format="html"),
    _OF.case(
        "spanish", "language", "/notebook exporta este cuaderno a HTML", "export", format="html"
    ),
    _OF.case(
        "two", "two", "Export this notebook as HTML and install pandas", "export", format="html"
    ),
    _OF.ordinary("clean-data", "Clean the data in this notebook"),
    _OF.ordinary("merge-frames", "Merge the two data frames by id"),
    _OF.ordinary("split-train", "Split it into training and test sets"),
    _OF.ordinary("delete-cell", "Delete the empty cell at the end"),
    _OF.ordinary("write-csv", "Export the table to CSV"),
    _OF.ordinary("quality-data", "Check the quality of the measurements"),
]
