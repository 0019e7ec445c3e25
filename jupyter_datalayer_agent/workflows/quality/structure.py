"""Rules about how a notebook is laid out, in any language."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .notebook import AnalysedNotebook
from .types import Finding, QualityRule

MARKDOWN_SHARE = 0.2
LONG_CELL = 500
_TITLE = re.compile(r"^ {0,3}#[ \t]+\S|^[^\n]+\n={3,}[ \t]*$|<h1\b", re.MULTILINE | re.IGNORECASE)


def _empty(notebook: AnalysedNotebook) -> Iterator[Finding]:
    if not any(cell.source.strip() for cell in notebook.cells):
        yield Finding("The notebook is empty.")


def _few_words(notebook: AnalysedNotebook) -> Iterator[Finding]:
    markdown = sum(cell.type == "markdown" for cell in notebook.cells)
    if notebook.cells and markdown / len(notebook.cells) < MARKDOWN_SHARE:
        share = 100 * markdown // len(notebook.cells)
        yield Finding(f"{markdown} of {len(notebook.cells)} cells are Markdown ({share}%).")


def _long_cells(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.code:
        if len(cell.source) > LONG_CELL:
            yield Finding(f"The cell has {len(cell.source)} characters.", cell)


def _no_title(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.cells:
        if cell.type == "markdown" and _TITLE.search(cell.source):
            return
        if cell.type == "code" and cell.source.strip():
            break
    if notebook.cells:
        yield Finding("No title before the first code cell.")


RULES = [
    QualityRule("empty", "error", 50, None, "the notebook is empty",
         "Write the first cells, or let a workflow make them.", _empty),
    QualityRule("little-markdown", "warning", 15, None, "fewer than 20% of the cells are Markdown",
         "Explain the steps in Markdown cells between the code.", _few_words),
    QualityRule("long-cell", "warning", 5, None, "a code cell of more than 500 characters",
         "Split long cells: one step a cell.", _long_cells),
    QualityRule("no-title", "warning", 5, None,
         "no level-one heading before the first code cell",
         "Start with a title and a sentence on the notebook's purpose.", _no_title),
]  # fmt: skip
