"""Rules about what was run: order, errors, and outputs that are older than their source."""

from __future__ import annotations

from collections.abc import Iterator

from .book import Book, BookCell
from .rule import Found, Rule


def _errors(book: Book) -> Iterator[Found]:
    for cell in book.code:
        error = next((out for out in cell.outputs if out.get("output_type") == "error"), None)
        if error is not None:
            yield Found(f"The cell ended with {error.get('ename') or 'an error'}.", cell)


def _out_of_order(book: Book) -> Iterator[Found]:
    highest = 0
    for cell in book.ran:
        count = cell.execution_count or 0
        if count < highest:
            yield Found(
                f"The cell was run as number {count}, before a cell above it (number {highest}). "
                "The results may not come again from top to bottom.",
                cell,
            )
            return
        highest = count


def _never_ran(book: Book) -> Iterator[Found]:
    for cell in book.code:
        if cell.execution_count is None and not cell.outputs:
            yield Found("The cell has not been run.", cell)


def _older_outputs(book: Book) -> Iterator[Found]:
    for place, cell in enumerate(book.code):
        if (why := _why_older(book, place, cell)) is not None:
            yield Found(why, cell)


def _why_older(book: Book, place: int, cell: BookCell) -> str | None:
    if cell.id is not None and cell.id in book.stale:
        return "The cell, or one that it follows from, was changed since it ran."
    if not cell.outputs:
        return None
    if cell.execution_count is None:
        return "The output is of an earlier run: the cell itself has not been run."
    counts = {
        out.get("execution_count")
        for out in cell.outputs
        if out.get("output_type") == "execute_result"
    } - {None}
    if counts and cell.execution_count not in counts:
        return "The output is of another run than the cell's number."
    if not book.is_python:
        return None
    later = [
        above
        for above in (book.code[each] for each in book.graph.needs[place])
        if (above.execution_count or 0) > cell.execution_count
    ]
    if later:
        return f"Cell {later[0].index + 1}, which it follows from, was run again after it."
    return None


RULES = [
    Rule("error-output", "error", 10, 30, "a cell whose output is an error",
         "Repair the cells that ended with an error, and run them again.", _errors),
    Rule("out-of-order", "warning", 10, None, "cells were not run from top to bottom",
         "Restart the kernel and run all cells from top to bottom.", _out_of_order),
    Rule("older-output", "warning", 5, 20,
         "an output that is older than its source, or than what it follows from",
         "Run again the cells whose outputs are older than their source.", _older_outputs),
    Rule("never-ran", "info", 3, 15, "a code cell that never ran",
         "Run every cell, or take out those that are not needed.", _never_ran),
]  # fmt: skip
