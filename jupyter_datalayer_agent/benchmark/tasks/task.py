"""What a task is, and what there is to check when the agent has ended."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

# The data of the tasks: real sets that packages carry. Nothing is downloaded.
#
# vega_datasets (its local sets) and scikit-learn, both of the extra ``benchmark``.


def _vega(name: str) -> bytes:
    from vega_datasets import local_data

    raw = Path(getattr(local_data, name).filepath).read_bytes()
    if not raw.lstrip().startswith(b"["):
        return raw
    import json

    import pandas as pd

    frame = pd.DataFrame(json.loads(raw))
    return bytes(frame.to_csv(index=False), "utf-8")


def _sklearn(name: str) -> bytes:
    from sklearn import datasets

    return bytes(getattr(datasets, name)(as_frame=True).frame.to_csv(index=False), "utf-8")


FILES: dict[str, Callable[[], bytes]] = {
    "airports.csv": lambda: _vega("airports"),
    "anscombe.csv": lambda: _vega("anscombe"),
    "barley.csv": lambda: _vega("barley"),
    "cars.csv": lambda: _vega("cars"),
    "electricity.csv": lambda: _vega("iowa_electricity"),
    "employment.csv": lambda: _vega("us_employment"),
    "iris.csv": lambda: _vega("iris"),
    "seattle.csv": lambda: _vega("seattle_temps"),
    "san-francisco.csv": lambda: _vega("sf_temps"),
    "stocks.csv": lambda: _vega("stocks"),
    "weather.csv": lambda: _vega("seattle_weather"),
    "diabetes.csv": lambda: _sklearn("load_diabetes"),
    "wine.csv": lambda: _sklearn("load_wine"),
    "heavy.csv": lambda: b"Name,Weight_in_lbs\nkept by the user,1\n",
}
"""What a task's folder can have, by name."""


@cache
def content(name: str) -> bytes:
    """The file's bytes. Raises ``ImportError`` where its package is not installed."""
    return FILES[name]()


def read(name: str) -> Any:
    """The file as pandas reads it: a new data frame each time."""
    import pandas as pd

    return pd.read_csv(io.BytesIO(content(name)))


NOTEBOOK = "analysis.ipynb"


@dataclass(frozen=True)
class Done:
    """What the agent left: the notebook as it was ``before`` the message and as it is, the last
    ``answer``, the ``folder`` and, by ``value``, the notebook's kernel.

    ``value`` gives a Python expression's value as JSON has it (see ``values.plain``); it raises
    ``NoValue``."""

    before: nbformat.NotebookNode
    notebook: nbformat.NotebookNode
    answer: str
    folder: Path
    value: Callable[[str], Any]


Check = Callable[[Done], str | None]
"""What is wrong with it, or None."""


@dataclass(frozen=True)
class Task:
    """A message to the agent about a notebook, and how its outcome is checked.

    ``files`` are names of ``data.FILES``. ``cells`` are the notebook's, as sources; a single line
    with ``#`` is a heading. Their ids are ``cell-1``, ``cell-2`` and so on. ``ran``: they have been
    run, so that there are outputs and variables; ``edited`` are sources that the user changed
    since, by id. ``kind`` says what the task is about. ``check`` computes what is right from the
    data; it has no figures of its own.
    """

    id: str
    kind: str
    message: str
    check: Check
    files: Sequence[str] = ()
    cells: Sequence[str] = ()
    ran: bool = False
    edited: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write the files and the notebook, not run yet, to an empty folder."""
        for name in self.files:
            (folder / name).write_bytes(content(name))
        made = nbformat.v4.new_notebook(  # type: ignore[no-untyped-call]
            cells=[_cell(f"cell-{n}", source) for n, source in enumerate(self.cells, start=1)],
            metadata={
                "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
                "language_info": {"name": "python"},
            },
        )
        nbformat.write(made, folder / NOTEBOOK)  # type: ignore[no-untyped-call]

    def problem(self, done: Done) -> str | None:
        """What is wrong; None where all is right. The data must be as it was in any case."""
        for name in self.files:
            file = done.folder / name
            if not file.is_file() or file.read_bytes() != content(name):
                return f"{name} was changed"
        return self.check(done)


def _cell(cell_id: str, source: str) -> Any:
    heading = source.startswith("# ") and "\n" not in source
    make = nbformat.v4.new_markdown_cell if heading else nbformat.v4.new_code_cell
    return make(source, id=cell_id)  # type: ignore[no-untyped-call]
