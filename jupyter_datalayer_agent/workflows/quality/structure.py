"""Rules about how a notebook is laid out, in any language."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .book import Book
from .rule import Found, Rule

MARKDOWN_SHARE = 0.2
LONG_CELL = 500
_TITLE = re.compile(r"^\s{0,3}#\s+\S|^[^\n]+\n={3,}\s*$|<h1\b", re.MULTILINE | re.IGNORECASE)


def _empty(book: Book) -> Iterator[Found]:
    if not any(cell.source.strip() for cell in book.cells):
        yield Found("The notebook is empty.")


def _few_words(book: Book) -> Iterator[Found]:
    markdown = sum(cell.type == "markdown" for cell in book.cells)
    if book.cells and markdown / len(book.cells) < MARKDOWN_SHARE:
        share = 100 * markdown // len(book.cells)
        yield Found(f"{markdown} of {len(book.cells)} cells are Markdown ({share} %).")


def _long_cells(book: Book) -> Iterator[Found]:
    for cell in book.code:
        if len(cell.source) > LONG_CELL:
            yield Found(f"The cell has {len(cell.source)} characters.", cell)


def _no_title(book: Book) -> Iterator[Found]:
    for cell in book.cells:
        if cell.type == "markdown" and _TITLE.search(cell.source):
            return
        if cell.type == "code" and cell.source.strip():
            break
    if book.cells:
        yield Found("No title stands before the first code cell.")


RULES = [
    Rule("empty", "error", 50, None, "nothing stands in the notebook",
         "Write the first cells, or let a workflow make them.", _empty),
    Rule("little-markdown", "warning", 15, None, "fewer than 20 % of the cells are Markdown",
         "Explain the steps in Markdown cells between the code.", _few_words),
    Rule("long-cell", "warning", 5, None, "a code cell of more than 500 characters",
         "Split long cells: one step a cell.", _long_cells),
    Rule("no-title", "warning", 5, None,
         "no level-one heading before the first code cell",
         "Begin with a title and a sentence on what the notebook is for.", _no_title),
]  # fmt: skip
