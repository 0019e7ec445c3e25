"""``/notebook``: what can be done with a notebook as a file."""

from __future__ import annotations

from ...service import Link, Service, ServiceConfig
from .clean import Clean
from .export import Export
from .merge import Merge
from .quality import Quality
from .script import FromScript, ToScript
from .split import Split

_CONTEXT = """
# Export
A notebook can be exported to the formats that nbconvert has on this server: HTML, Markdown, slides
and a script in the notebook's language, and, where Pandoc is installed, LaTeX, reStructuredText and
AsciiDoc. Nothing of the notebook is run for it.

The export is of the notebook as it is in its file: outputs that are not saved are not in it. An
exported file is written beside the notebook, or where you say, and never in place of another file.
In Markdown, pictures are files of their own in a folder beside it.

# PDF
A PDF is made by LaTeX (`xelatex`, with Pandoc) or by Playwright's Chromium browser. Where neither
is installed, export to HTML and print that from the browser.

# Slides
For slides, each cell's slide type (slide, sub-slide, fragment, skip, notes) is set in the property
inspector. Without any, the whole notebook is one slide.

# Clean
Cleaning clears the outputs, removes empty cells and resets execution counts, or only some of these.
It works in the open notebook, and can be undone from the panel. Clear the outputs before you commit
a notebook to git: differences stay readable, and no data gets into the repository by its outputs.

# Split and merge
A notebook is split at its headings or at a cell; the parts are new notebooks beside it with numbers
in their names, and the notebook itself stays as it is. A merged notebook has the cells of all, with
their outputs, and the kernel of the first. Run its code anew.

# Scripts
A percent script is a Python file in which a line `# %%` begins each cell. It can be edited as text,
reviewed and kept in git, and made a notebook again: text, cell ids and metadata are kept, outputs
are not. The export to "script" is for running the code elsewhere: there is no way back from it.

# Quality
The quality report looks at the notebook without running it: order of execution, errors in outputs,
unused imports, undefined names, secrets, headings and long cells. It gives a score from 0 to 100.
"""

SERVICE = Service(
    id="notebook",
    name="Notebook",
    description="Export, clean, split and merge notebooks, and convert them to scripts and back.",
    config=ServiceConfig(
        context=_CONTEXT,
        links=[Link("nbconvert", "https://nbconvert.readthedocs.io/")],
        topics=[
            *("export", "convert", "HTML", "PDF", "slides", "script", "Markdown", "nbconvert"),
            *(
                "clean",
                "clear",
                "strip",
                "outputs",
                "empty",
                "split",
                "merge",
                "combine",
                "percent",
            ),
            *("LaTeX", "exportieren", "aufräumen", "bereinigen"),
        ],
        triggers=["export", "exportiere", "exporte", "exporta"],
        not_topics=[
            # The agent itself reviews a notebook, with the report before it.
            *("quality", "review", "check", "better"),
            *(
                "data",
                "dataset",
                "dataframe",
                "df",
                "table",
                "row",
                "rows",
                "column",
                "value",
                "outlier",
            ),
            *("result", "plot", "chart", "figure", "text", "string", "array", "list", "model"),
            *("train", "test", "duplicate", "missing", "NaN", "package", "environment", "Parquet"),
        ],
        questions=[
            "Who reads it: somebody with Jupyter, or with a browser only?",
            "Is the notebook kept in git?",
        ],
    ),
    examples=[
        "Export this notebook as HTML",
        "Clear all outputs of the notebook",
        "Merge these notebooks into one",
        "Which formats can a notebook be exported to?",
    ],
    actions=[
        Export,
        Clean,
        Split,
        Merge,
        ToScript,
        FromScript,
        Quality,
    ],
)
