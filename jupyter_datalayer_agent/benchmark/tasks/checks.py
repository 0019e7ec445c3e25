"""Parts of checks: each says what is wrong, or None, so that ``or`` joins them."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from .task import Done

# Values of a kernel: what an expression gives there, as JSON, and whether it is what is right.


RELATIVE = 1e-6
"""How far a number may be off: the order of a sum is free."""


class NoValue(Exception):
    """The expression has no value there; the message says why."""


def plain(value: Any) -> Any:
    """The value as JSON has it: series as objects by index, arrays as lists, times as text.

    Runs in the task's kernel too, so it uses nothing but builtins.
    """
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, int | float):
        return int(value) if isinstance(value, int) else float(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, dict):
        return {str(plain(key)): plain(each) for key, each in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(plain(each) for each in value)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return str(value)


def code_of(expression: str, file: Path) -> str:
    """Code that writes the expression's value, or why it has none, to the file. It leaves no name
    behind in the kernel."""
    writing = (
        f"{inspect.getsource(plain)}\n"
        "import json\n"
        "try:\n"
        "    found = {'value': plain(value())}\n"
        "except Exception as error:\n"
        "    found = {'problem': f'{type(error).__name__}: {error}'}\n"
        "with open(path, 'w', encoding='utf-8') as opened:\n"
        "    json.dump(found, opened)\n"
    )
    # The future import of this module: annotations are not looked up.
    given = f"{{'Any': object, 'path': {str(file)!r}, 'value': lambda: ({expression})}}"
    return f"exec({writing!r}, {given})"


def same(found: Any, right: Any) -> bool:
    """Whether two plain values are equal: numbers nearly, objects without regard to order."""
    if isinstance(found, bool) or isinstance(right, bool):
        return found is right
    if isinstance(found, int | float) and isinstance(right, int | float):
        both_nan = math.isnan(found) and math.isnan(right)
        return both_nan or math.isclose(found, right, rel_tol=RELATIVE, abs_tol=1e-9)
    if isinstance(found, dict) and isinstance(right, dict):
        return found.keys() == right.keys() and all(same(found[key], right[key]) for key in right)
    if isinstance(found, list) and isinstance(right, list):
        return len(found) == len(right) and all(map(same, found, right))
    return type(found) is type(right) and bool(found == right)


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
