"""Rules about runs: order, errors, and outputs that are older than their source."""

from __future__ import annotations

from collections.abc import Iterator

from .notebook import AnalysedCell, AnalysedNotebook
from .types import Finding, QualityRule


def _errors(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.code:
        error = next((out for out in cell.outputs if out.get("output_type") == "error"), None)
        if error is not None:
            yield Finding(f"The cell ended with {error.get('ename') or 'an error'}.", cell)


def _out_of_order(notebook: AnalysedNotebook) -> Iterator[Finding]:
    highest = 0
    for cell in notebook.ran:
        count = cell.execution_count or 0
        if count < highest:
            yield Finding(
                f"The cell was run as number {count}, before a cell above it (number {highest}). "
                "The results may not be reproducible from top to bottom.",
                cell,
            )
            return
        highest = count


def _never_ran(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for cell in notebook.code:
        if cell.execution_count is None and not cell.outputs:
            yield Finding("The cell has not been run.", cell)


def _older_outputs(notebook: AnalysedNotebook) -> Iterator[Finding]:
    for place, cell in enumerate(notebook.code):
        if (why := _why_older(notebook, place, cell)) is not None:
            yield Finding(why, cell)


def _why_older(notebook: AnalysedNotebook, place: int, cell: AnalysedCell) -> str | None:
    if cell.id is not None and cell.id in notebook.stale:
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
    if not notebook.is_python:
        return None
    later = [
        above
        for above in (notebook.code[each] for each in notebook.graph.needs[place])
        if (above.execution_count or 0) > cell.execution_count
    ]
    if later:
        return f"Outdated: cell {later[0].index + 1} was re-run later."
    return None


RULES = [
    QualityRule("error-output", "error", 10, 30, "a cell whose output is an error",
         "Fix the cells that ended with an error, and rerun them.", _errors),
    QualityRule("out-of-order", "warning", 10, None, "cells were not run from top to bottom",
         "Restart the kernel and run all cells from top to bottom.", _out_of_order),
    QualityRule("older-output", "warning", 5, 20,
         "an output that is older than its source, or than what it follows from",
         "Rerun the cells whose outputs are outdated.", _older_outputs),
    QualityRule("never-ran", "info", 3, 15, "a code cell that never ran",
         "Run every cell, or delete those that are not needed.", _never_ran),
]  # fmt: skip
