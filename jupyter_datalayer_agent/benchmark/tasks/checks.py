"""Parts of checks: each says what is wrong, or None, so that ``or`` joins them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import nbformat

from .task import Done
from .values import NoValue, plain, same

_NUMBER = re.compile(r"[-−]?\d(?:[\d.,\u00a0\u202f']*\d)?")


def value_is(done: Done, expression: str, right: Any) -> str | None:
    """The kernel's value of the expression."""
    try:
        found = done.value(expression)
    except NoValue as reason:
        return f"{expression} has no value: {reason}"
    wanted = plain(right)
    return None if same(found, wanted) else f"{expression} is {_short(found)}, not {_short(wanted)}"


def says(done: Done, right: float, digits: int = 0) -> str | None:
    """The answer has the number, rounded to ``digits`` decimals or more exactly, as any language
    writes it."""
    near = 0.5 * 10**-digits + 1e-9
    written = [each for text in _NUMBER.findall(done.answer) for each in _readings(text)]
    if any(abs(each - float(right)) <= near for each in written):
        return None
    return f"the answer does not say {right:.{digits}f}: {_short(done.answer)}"


def says_words(done: Done, *words: str) -> str | None:
    """The answer has all of these words."""
    missing = [each for each in words if each.lower() not in done.answer.lower()]
    return f"the answer does not say {', '.join(missing)}" if missing else None


def _readings(text: str) -> Iterator[float]:
    """1.234,5 and 1,234.5 are the same number; 1.234 is two."""
    text = re.sub("[\u00a0\u202f']", "", text.replace("−", "-"))
    for thousands, point in ((",", "."), (".", ",")):
        try:
            yield float(text.replace(thousands, "").replace(point, "."))
        except ValueError:
            continue


def unchanged(done: Done, *cell_ids: str) -> str | None:
    """These cells are there, with the same source."""
    after = {cell.id: cell.source for cell in done.notebook.cells}
    for cell in done.before.cells:
        if cell.id in cell_ids and after.get(cell.id) != cell.source:
            return f"{cell.id} was {'changed' if cell.id in after else 'deleted'}"
    return None


def nothing_changed(done: Done) -> str | None:
    """The notebook is as it was, with its outputs."""
    same_cells = [*map(_of_cell, done.before.cells)] == [*map(_of_cell, done.notebook.cells)]
    return None if same_cells else "the notebook was changed"


def _of_cell(cell: nbformat.NotebookNode) -> tuple[Any, ...]:
    outputs = [{**each, "execution_count": None} for each in cell.get("outputs", [])]
    return cell.id, cell.cell_type, cell.source, outputs


def no_errors(done: Done) -> str | None:
    """No cell shows an error."""
    for cell in done.notebook.cells:
        if any(each.output_type == "error" for each in cell.get("outputs", [])):
            return f"{cell.id} shows an error"
    return None


def same_cells(done: Done) -> str | None:
    """No cell was added or deleted."""
    before, after = ([cell.id for cell in each.cells] for each in (done.before, done.notebook))
    return None if before == after else f"the cells are {after}, not {before}"


def shows_image(done: Done) -> str | None:
    """A cell's output is an image."""
    for cell in done.notebook.cells:
        for output in cell.get("outputs", []):
            if {"image/png", "image/svg+xml"} & output.get("data", {}).keys():
                return None
    return "no cell shows an image"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
