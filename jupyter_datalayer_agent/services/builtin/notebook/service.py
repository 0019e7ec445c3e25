"""``/notebook``: export, and what else can be done with a notebook as a file."""

from __future__ import annotations

from ...service import Link, Service, ServiceConfig
from .export import Export

_CONTEXT = """
# Export
A notebook can be exported to the formats that nbconvert has on this server: HTML, Markdown, LaTeX,
reStructuredText, AsciiDoc, slides and a script in the notebook's language.

The export is of the notebook as it is in its file: outputs that are not saved are not in it. An
exported file is written beside the notebook.

# PDF
A PDF is made by LaTeX (`xelatex`) or, as "webpdf", by a Chromium browser. Where neither is
installed, export to HTML and print that from the browser.

# Slides
For slides, each cell's slide type (slide, sub-slide, fragment, skip, notes) is set in the property
inspector. Without any, the whole notebook is one slide.
"""

SERVICE = Service(
    id="notebook",
    name="Notebook",
    description="Export notebooks to other formats.",
    config=ServiceConfig(
        context=_CONTEXT,
        links=[Link("nbconvert", "https://nbconvert.readthedocs.io/")],
        topics=["export", "convert", "HTML", "PDF", "slides", "script", "Markdown", "nbconvert"],
        questions=["Who reads it: somebody with Jupyter, or with a browser only?"],
    ),
    examples=["Export this notebook as HTML", "Which formats can a notebook be exported to?"],
    actions=[Export],
)
